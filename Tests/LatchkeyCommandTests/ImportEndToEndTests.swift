import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// Import and export by the real programs, with the real daemon and enclave.
@Suite struct ImportEndToEndTests {
    private let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    private func write(_ name: String, _ text: String) throws -> String {
        let path = "\(programs.home)/\(name)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private static func fixture(_ name: String) throws -> String {
        try #require(Bundle.module.resourcePath) + "/Fixtures/" + name
    }

    private func json(_ outcome: BuiltPrograms.Outcome) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
    }

    @Test(.timeLimit(.minutes(20))) func tenThousandRowsAreStoredOnceHoweverOftenTheyCome() throws {
        let rows = (0..<10_000).map { "T\($0),https://h\($0).example/,user\($0),pässword \($0),\n" }
        let path = try write("rows.csv", "name,url,username,password,note\n" + rows.joined())
        let first = try programs.latchkey("import", "--json", path)
        #expect(first.status == 0, "\(first.errors)")
        #expect(try json(first)["added"] as? Int == 10_000)
        #expect(try programs.latchkey("get", "h9999.example", "user9999").text == "pässword 9999")
        let second = try json(try programs.latchkey("import", "--json", path))
        #expect(second["unchanged"] as? Int == 10_000 && second["added"] as? Int == 0)
        let items = try programs.status()["items"] as? [String: Any]
        #expect(items?["internet"] as? Int == 10_000)
    }

    @Test func aDryRunMakesNoKeychain() throws {
        let path = try write("rows.csv", "name,url,username,password,note\nT,https://h.example/,user,pässword,\n")
        let dry = try programs.latchkey("import", "--dry-run", "--json", path)
        #expect(try json(dry)["added"] as? Int == 1, "\(dry.errors)")
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/data/latchkey"))
        // Nor in a folder that is there and empty, where nobody finds one either.
        let empty = programs.home + "/empty"
        try FileManager.default.createDirectory(
            atPath: empty, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        #expect(try programs.latchkey("--data-dir", empty, "import", "--dry-run", path).status == 0)
        let nothing = try programs.latchkey("--data-dir", empty, "get", "T")
        #expect(nothing.status == 1 && nothing.errors.contains("no keychain"), "\(nothing.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: empty).isEmpty)
        let real = try programs.latchkey("import", "--json", path)
        #expect(dry.text.replacing(#""dryRun":true"#, with: #""dryRun":false"#) == real.text)
    }

    /// By the name that the source and all other programs have for it.
    @Test(arguments: ["xn--bcher-kva.ex", "b\u{fc}cher.ex", "a%2fb.ex"])
    func aHostIsFoundAsTheSourceHasIt(_ host: String) throws {
        let path = try write("rows.csv", "name,url,username,password,note\nT,https://\(host)/,user,pw,\n")
        #expect(try programs.latchkey("import", path).status == 0)
        #expect(try programs.latchkey("get", "--internet", "https://\(host)/", "user").text == "pw")
        let asked = Data("protocol=https\nhost=\(host)\nusername=user\n\n".utf8)
        let git = try programs.run("\(BuiltPrograms.folder)/git-credential-latchkey", ["get"], input: asked)
        #expect(git.text.contains("password=pw\n"), "\(git.text)\(git.errors)")
        // The same that a person stores for it, and no other.
        let typed = Data("pw2".utf8)
        #expect(try programs.latchkey("set", "--internet", "https://\(host)/", "user", input: typed).status == 0)
        #expect(try programs.latchkey("import", path).text.contains("kept what was there for 1"))
    }

    /// What the keychain would refuse for its size is foretold, in the same words.
    @Test func aDryRunSaysWhatIsTooLarge() throws {
        let long = String(repeating: "u", count: 70_000)
        let path = try write(
            "rows.csv",
            "name,url,username,password,note\nT,https://h.example/,user,pässword,\nT,https://i.example/,\(long),p,\n")
        let dry = try programs.latchkey("import", "--dry-run", "--json", path)
        #expect(try json(dry)["added"] as? Int == 1 && json(dry)["failed"] as? Int == 1, "\(dry.text)")
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/data/latchkey"))
        let real = try programs.latchkey("import", "--json", path)
        #expect(dry.text.replacing(#""dryRun":true"#, with: #""dryRun":false"#) == real.text)
        #expect(dry.status == real.status && real.status != 0)
    }

    /// Nothing is the matter with what was to be stored: as every command says it, and a second run
    /// stores the rest.
    @Test(.enabled(if: RunningKernel.mayMount, "mounts a small file system"))
    func aFullDiskIsNotAFlawOfTheSource() throws {
        let rows = (0..<40).map { "T\($0),https://h\($0).example/,user\($0),\(String(repeating: "x", count: 4000)),\n" }
        let path = try write("rows.csv", "name,url,username,password,note\n" + rows.joined())
        let script = """
            mkdir -m 700 "$XDG_DATA_HOME/latchkey" &&
            mount -t tmpfs -o size=2m,mode=700 none "$XDG_DATA_HOME/latchkey" && printf 1 | latchkey set a &&
            head -c 4M /dev/zero >"$XDG_DATA_HOME/latchkey/filler" 2>"$HOME/said"
            latchkey import "\(path)" >"$HOME/report"; echo $?; rm "$XDG_DATA_HOME/latchkey/filler"
            latchkey import "\(path)" >"$HOME/report"; echo $?
            latchkey lock --stop >"$HOME/said" 2>&1; umount "$XDG_DATA_HOME/latchkey"
            """
        let outcome = try programs.run("/usr/bin/unshare", ["-m", "sh", "-c", script])
        #expect(outcome.text == "69\n0\n", "\(outcome.text) \(outcome.errors)")
        #expect(outcome.errors.hasSuffix("Free some space and try again.\n"), "\(outcome.errors)")
    }

    @Test func exportGoesRoundThroughAFile() throws {
        try programs.latchkey("set", "mail", "alice", "--label", "Mäil", input: Data("geheim\n".utf8))
        try programs.latchkey("set", "--raw", "key", input: Data([0, 1, 255, 10]))
        try programs.latchkey("set", "--internet", "a.example", "bob", input: Data("pw\n".utf8))
        let file = programs.home + "/out.lkx"
        let exported = try programs.latchkey(
            "export", "--json", "--passphrase-fd", "0", file, input: Data("fixture words\nrest".utf8))
        #expect(exported.status == 0, "\(exported.errors)")
        #expect(try json(exported)["items"] as? Int == 3)
        let before = try programs.latchkey("list", "--json").text
        for name in ["mail", "key", "a.example"] { try programs.latchkey("rm", name) }
        let back = try programs.latchkey(
            "import", "--json", "--passphrase-fd", "0", file, input: Data("fixture words".utf8))
        #expect(try back.status == 0 && json(back)["added"] as? Int == 3, "\(back.errors)")
        #expect(try programs.latchkey("get", "key").output == Data([0, 1, 255, 10]))
        #expect(try programs.latchkey("list", "--json").text == before)
    }

    @Test func exportOfAnEarlierVersionIsRead() throws {
        let outcome = try programs.latchkey(
            "import", "--passphrase-fd", "0", try Self.fixture("export-1.lkx"), input: Data("fixture words".utf8))
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try programs.latchkey("get", "mail").text == "fixture value")
        #expect(try programs.latchkey("list", "mail", "--json").text.contains(#""created":"2020-02-29T12:00:00Z""#))
    }

    @Test func passphraseIsNeverAskedOfNobody() throws {
        let outcome = try programs.latchkey("import", try Self.fixture("export-1.lkx"))
        #expect(outcome.status == 3 && outcome.errors.contains("--passphrase-fd"))
    }

    // MARK: Where secrets must not be

    /// Every program that an import starts, and every byte that it writes, seen by
    /// strace(1); then every file that is left.
    @Test func secretsAreInNoArgumentNoVariableNoFileAndNoReport() throws {
        let canaries = ["CANARY-password", "CANARY-note", "CANARY-seed", "fixture words", "fixture value", "op-älice"]
        let csv = try write(
            "in.csv",
            "Title,URL,Username,Password,Notes,OTPAuth\nT,a.example,u,CANARY-password,CANARY-note,otpauth://totp/x?secret=CANARY-seed\n"
                + "T,a.example,u,CANARY-password-2,,\nbroken CANARY-password\n")
        // The daemon is up before, so that the trace is of the import alone.
        try programs.makeKeychain()
        let runs: [([String], String)] = [
            (["import", csv], ""), (["import", "--json", "--on-conflict", "rename", csv], ""),
            (["import", "--passphrase-fd", "0", try Self.fixture("export-1.lkx")], "fixture words"),
            (["export", "--passphrase-fd", "0", programs.home + "/out.lkx"], "fixture words"),
        ]
        for (arguments, input) in runs {
            let trace = programs.home + "/trace"
            let outcome = try programs.run(
                "/usr/bin/strace",
                ["-f", "-v", "-yy", "-s", "100000", "-e", "trace=execve,write,pwrite64,writev,openat", "-o", trace]
                    + [BuiltPrograms.latchkey] + arguments, input: Data(input.utf8))
            #expect([0, 1].contains(outcome.status), "\(outcome.errors)")
            let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
            #expect(lines.contains { $0.contains("execve(") && $0.contains("/latchkey\"") })
            for canary in canaries {
                #expect(!lines.contains { $0.contains(canary) }, "\(arguments): \(canary) was passed or written")
                #expect(!outcome.text.contains(canary) && !outcome.errors.contains(canary), "\(arguments): \(canary)")
            }
            try FileManager.default.removeItem(atPath: trace)
        }
        try FileManager.default.removeItem(atPath: csv)
        #expect(try programs.latchkey("get", "a.example", "u").text == "CANARY-password")
        let left = try programs.shell("grep -rlaE 'CANARY|fixture value' --exclude='*.out' \"$HOME\" || true").text
        #expect(left.isEmpty, "\(left)")
    }

    @Test func keyFileMayBeAPipe() throws {
        let (database, key) = (programs.home + "/db.kdbx", try write("key", String(repeating: "key ", count: 20_000)))
        let made = try programs.run(
            "/usr/bin/python3",
            [
                "-c",
                "import pykeepass, sys; k = pykeepass.create_database(sys.argv[1], keyfile=sys.argv[2]); "
                    + "k.add_entry(k.root_group, 'T', 'u', 'value'); k.save()", database, key,
            ])
        #expect(made.status == 0, "\(made.errors)")
        let outcome = try programs.shell(
            "cat '\(key)' | '\(BuiltPrograms.latchkey)' import --passphrase-fd 3 --key-file /dev/fd/0 "
                + "'\(database)' 3</dev/null")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try programs.latchkey("get", "T", "u").text == "value")
    }

    /// The same for a format that another program opens.
    @Test func toolGetsItsPasswordThroughAPipe() throws {
        let database = try write("db.kdbx", "")
        let made = try programs.run(
            "/usr/bin/python3",
            [
                "-c",
                "import pykeepass, sys; k = pykeepass.create_database(sys.argv[1], password='CANARY-key'); "
                    + "k.add_entry(k.root_group, 'T', 'u', 'CANARY-value'); k.save()", database,
            ])
        #expect(made.status == 0, "\(made.errors)")
        try programs.makeKeychain()
        let trace = programs.home + "/trace"
        let outcome = try programs.run(
            "/usr/bin/strace",
            [
                "-f", "-v", "-yy", "-s", "100000", "-e", "trace=execve,write,pwrite64,openat", "-o", trace,
                BuiltPrograms.latchkey, "import", "--passphrase-fd", "0", database,
            ], input: Data("CANARY-key".utf8))
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
        #expect(lines.contains { $0.contains("execve(") && $0.contains("python3") })
        for line in lines where line.contains("CANARY") {
            // From us to the tool, and back: pipes alone.
            #expect(line.contains("write(") && line.contains("<pipe:["), "\(line.prefix(200))")
        }
        #expect(try programs.latchkey("get", "T", "u").text == "CANARY-value")
    }
}
