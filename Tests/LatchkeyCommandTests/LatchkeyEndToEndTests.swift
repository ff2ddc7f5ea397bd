import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// The programs as they are installed: `latchkey` starts its daemon, the daemon
/// its enclave.
@Suite struct LatchkeyEndToEndTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    @Test func storesFindsListsAndRemoves() throws {
        #expect(try programs.latchkey("get", "mail").status == 1)
        #expect(try programs.latchkey("set", "mail", "alice", "--label", "Work", input: Data("pw\n".utf8)).status == 0)
        let get = try programs.latchkey("get", "mail")
        #expect(get.status == 0 && get.text == "pw" && get.errors.isEmpty)
        #expect(try programs.latchkey("set", "mail", "bob", input: Data("pw2".utf8)).status == 0)
        let several = try programs.latchkey("get", "mail")
        #expect(several.status == 2 && several.output.isEmpty)
        #expect(several.errors.contains("alice") && several.errors.contains("bob"))
        let list = try programs.latchkey("list").text
        #expect(list.hasPrefix("mail\talice\tgeneric\t20") && list.contains("\tWork\nmail\tbob\t"))
        #expect(try programs.latchkey("rm", "mail").status == 2)
        #expect(try programs.latchkey("rm", "mail", "--all", "--yes").status == 0)
        #expect(try programs.latchkey("list").output.isEmpty)
    }

    @Test func replacesAndKeepsTheRest() throws {
        try programs.latchkey("set", "--internet", "host", "a", "--label", "L", input: Data("1".utf8))
        let again = try programs.latchkey("set", "--internet", "host", "a", "--json", input: Data("2".utf8))
        #expect(again.text == #"{"service":"host","account":"a","kind":"internet","replaced":true}"# + "\n")
        let item = try JSONSerialization.jsonObject(with: try programs.latchkey("get", "host", "--json").output)
        let members = try #require(item as? [String: Any])
        #expect(members["value"] as? String == "2")
        #expect(members["label"] as? String == "L")
        #expect(members["kind"] as? String == "internet")
        #expect((members["created"] as? String)?.hasSuffix("Z") == true)
    }

    @Test func keepsEveryByteOfLargeAndBinaryValues() throws {
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: ($0 &* 7) >> 3) })
        #expect(try programs.latchkey("set", "key", "--raw", input: bytes).status == 0)
        #expect(try programs.latchkey("get", "key").output == bytes)
        #expect(try programs.latchkey("set", "none", "--allow-empty").status == 0)
        #expect(try programs.latchkey("get", "none").output == Data())
        let json = try JSONSerialization.jsonObject(with: try programs.latchkey("get", "key", "--json").output)
        let members = try #require(json as? [String: Any])
        #expect(Data(base64Encoded: members["value"] as? String ?? "") == bytes)
    }

    @Test func aMissingDaemonIsUnavailableAndSaysHowToInstall() throws {
        // A copy elsewhere has no daemon beside it; one that is installed may be found.
        let alone = programs.home + "/alone"
        try FileManager.default.createDirectory(atPath: alone, withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: BuiltPrograms.latchkey, toPath: alone + "/latchkey")
        let outcome = try programs.run(alone + "/latchkey", ["set", "a"], input: Data("pw".utf8))
        guard outcome.status != 0 else { return }
        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("make install"))
    }

    @Test(arguments: ["latchkey set", "latchkey get", "git-credential-latchkey", "docker-credential-latchkey"])
    func anArgumentThatIsNotTextIsRefused(program: String) throws {
        let outcome = try programs.shell("echo pw | \(program) \"$(printf 'a\\377')\"")
        #expect(outcome.status == 2 && outcome.errors.contains("an argument is not UTF-8"), "\(outcome.errors)")
        #expect(outcome.text.isEmpty && !FileManager.default.fileExists(atPath: programs.home + "/data/latchkey"))
    }

    @Test(arguments: [
        ["get", "a"], ["info", "a"], ["edit", "a", "--label", "b"], ["rm", "a"], ["list", "a"], ["status"],
        ["whocan", "a"],
        ["read", "a"], ["exec", "--env", "A=a", "--", "true"], ["credential", "aws", "a/b"], ["log"],
        ["export", "out.lkx"],
    ])
    func whoeverLooksMakesNoKeychain(arguments: [String]) throws {
        let folder = programs.home + "/mistyped"
        let outcome = try programs.run(
            BuiltPrograms.latchkey,
            [arguments[0]] + (arguments[0] == "credential" ? ["aws"] : []) + ["--data-dir", folder]
                + arguments.dropFirst(arguments[0] == "credential" ? 2 : 1))
        #expect(outcome.status == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("there is no keychain at \(folder) yet"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder) && programs.processes("latchkeyd").isEmpty)
    }

    @Test(arguments: [
        ["slot", "list"], ["protector", "list"], ["protector", "test"], ["autolock"], ["unlock"], ["doctor"],
        ["doctor", "--verify"], ["explain"], ["lock"], ["lock", "--json"],
    ])
    func whoeverAsksHowItIsProtectedMakesNoKeychain(arguments: [String]) throws {
        let folder = programs.home + "/mistyped"
        let outcome = try programs.run(BuiltPrograms.latchkey, ["--data-dir", folder] + arguments)
        #expect(outcome.status == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("there is no keychain at \(folder) yet"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder) && programs.processes("latchkeyd").isEmpty)
    }

    /// What runs nowhere needs no end, and what explains a command that makes no keychain makes none.
    @Test(arguments: [["lock", "--stop"], ["explain", "--", "true"]])
    func whoeverHasNothingToDoMakesNoKeychain(arguments: [String]) throws {
        let folder = programs.home + "/mistyped"
        let outcome = try programs.run(BuiltPrograms.latchkey, ["--data-dir", folder] + arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder) && programs.processes("latchkeyd").isEmpty)
    }

    @Test func aListOfNoKeychainIsEmpty() throws {
        for (option, text) in [("--json", "[]\n"), ("--all", "")] {
            let outcome = try programs.latchkey("list", option)
            #expect(outcome.status == 0 && outcome.text == text)
            #expect(outcome.errors.contains("there is no keychain at \(programs.home)/data/latchkey yet"))
        }
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/data/latchkey"))
    }

    @Test func aFolderOpenToOthersIsRefused() throws {
        let folder = programs.home + "/open"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        let stored = try programs.latchkey("--data-dir", folder, "set", "a", input: Data("1".utf8))
        #expect(stored.status == 69 || stored.status == 5)
        #expect(stored.errors.contains("chmod 700"))
        // Whoever only looks hears that there is none, and of one that there is.
        let nothing = try programs.latchkey("--data-dir", folder, "list")
        #expect(nothing.errors.contains("there is no keychain at"), "\(nothing.errors)")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
        #expect(try programs.latchkey("--data-dir", folder, "set", "a", input: Data("1".utf8)).status == 0)
        try programs.latchkey("--data-dir", folder, "lock", "--stop")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
        let opened = try programs.latchkey("--data-dir", folder, "list")
        #expect(opened.status == 69 || opened.status == 5)
        #expect(opened.errors.contains("chmod 700"))
    }

    @Test func dataDirectoryHoldsAStoreOfItsOwn() throws {
        let folder = programs.home + "/second"
        #expect(try programs.latchkey("--data-dir", folder, "set", "a", input: Data("2".utf8)).status == 0)
        #expect(try programs.latchkey("get", "a").status == 1)
        #expect(try programs.latchkey("get", "a", "--data-dir", folder).text == "2")
    }

    @Test(arguments: ["latchkey get a >/dev/full", "latchkey get a >&-", "latchkey --help >/dev/full"])
    func outputThatCannotBeWrittenIsAFailure(script: String) throws {
        try programs.latchkey("set", "a", input: Data("pw".utf8))
        let outcome = try programs.shell(script)
        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("could not be written"))
    }

    @Test func inputThatIsNotThereStoresNothing() throws {
        let outcome = try programs.shell("latchkey set a <&-")
        #expect(outcome.status == 2)
        #expect(try programs.latchkey("get", "a").status == 1)
    }

    // MARK: The daemon's life

    @Test func commandSubstitutionReturnsAtOnceOnAColdStart() throws {
        let clock = SystemClock()
        let start = clock.monotonic
        let outcome = try programs.shell("x=$(echo pw | latchkey set a); echo \"$? $x\"; latchkey list 2>&1 | cut -f 1")
        #expect(outcome.text == "0 \na\n")
        #expect(clock.monotonic - start < .seconds(5))
        #expect(programs.processes("latchkeyd").count == 1)
    }

    @Test func theDaemonOutlivesItsStartersGroup() throws {
        let outcome = try programs.run(
            "/usr/bin/setsid", ["-w", "/bin/sh", "-c", "echo pw | latchkey set a; kill -9 0"])
        #expect(outcome.status != 0)
        let daemons = programs.processes("latchkeyd")
        #expect(daemons.count == 1)
        #expect(try programs.daemonProcess() == daemons.first)
    }

    @Test func twentyClientsAtOnceGetOneDaemon() throws {
        let clients = (0..<20).map { programs.start("/bin/sh", ["-c", "echo pw\($0) | latchkey set s\($0)"]) }
        for client in clients { try client.run() }
        for client in clients { client.waitUntilExit() }
        #expect(clients.allSatisfy { $0.terminationStatus == 0 })
        // Those that came second have told their starters, and leave.
        #expect(BuiltPrograms.eventually { programs.processes("latchkeyd").count == 1 })
        #expect(programs.processes("latchkey-enclave").count == 1)
        #expect(try programs.latchkey("list").text.split(separator: "\n").count == 20)
        for number in 0..<20 { #expect(try programs.latchkey("get", "s\(number)").text == "pw\(number)") }
    }

    @Test(arguments: [true, false])
    func sessionsWithAndWithoutARuntimeFolderMeetOneDaemon(first: Bool) throws {
        let home = try BuiltPrograms(runtime: true)
        let without: [String: String?] = ["XDG_RUNTIME_DIR": .none]
        try home.latchkey("set", "a", input: Data("pw".utf8), changing: first ? [:] : without)
        let one = try home.daemonProcess(changing: first ? [:] : without)
        let other = try home.daemonProcess(changing: first ? without : [:])
        #expect(one > 0 && one == other)
        #expect(home.processes("latchkeyd") == [one])
    }
}
