import Foundation
import KeychainPlatform
import Testing

/// `latchkey exec`, `read`, `inject` and `credential` over the real programs.
@Suite struct ExecEndToEndTests {
    let programs: BuiltPrograms

    init() throws {
        programs = try BuiltPrograms()
        for (service, account, secret) in [
            ("mail", "alice", "pw ü"), ("a/b c", "x%y", "odd"), ("git", "", "no account"), ("nul", "z", "a\u{0}b"),
        ] {
            try programs.latchkey("set", "--raw", "--", service, account, input: Data(secret.utf8))
        }
    }

    // MARK: exec

    @Test func aCommandGetsSecretsInVariablesAndFilesWithoutNames() throws {
        let outcome = try programs.latchkey(
            "exec", "--env", "A=mail/alice", "--env", "B=a%2Fb%20c/x%25y", "--fd", "C=git/", "--file",
            "D=latchkey://nul/z",
            "--", "sh", "-c", #"printf '%s,%s,' "$A" "$B"; cat <&"$C"; printf ,; cat "$D" "$D" | od -An -c"#)
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
        #expect(outcome.text == "pw ü,odd,no account,   a  \\0   b   a  \\0   b\n", "\(outcome.text)")
    }

    /// execve(2) into the command: no process of ours in between, and nothing in its
    /// arguments.
    @Test func theCommandIsThisProcess() throws {
        let inner =
            #"set -- /proc/$$/fd/*; echo $$; tr "\0" " " </proc/$$/cmdline; echo; readlink /proc/$$/exe; "#
            + #"echo $#; ulimit -c"#
        // In one shell: what it has inherited itself is the same for both.
        let outcome = try programs.shell(
            ["latchkey exec --env A=mail/alice --", ""].map { command in
                command + " sh -c '" + inner + #"' >"$HOME/inner" & echo $!; wait; cat "$HOME/inner""#
            }.joined(separator: "\n"))
        let lines = outcome.text.split(separator: "\n").map(String.init)
        try #require(lines.count == 12, "\(lines)")
        let (seen, plain) = (Array(lines[..<6]), Array(lines[6...]))
        #expect(seen.filter { $0 == seen[0] }.count == 2, "\(seen)")
        #expect(seen[2].hasPrefix("sh -c ") && !seen[2].contains("pw ü") && !seen[3].hasSuffix("latchkey"), "\(seen)")
        // The descriptors that it would have without us: no socket, nothing else of ours. The shell
        // lists them before it has started anything: in a pipe it would still have the pipe's ends,
        // or not any more.
        #expect(seen[4] == plain[4] && seen[5] == "0", "\(lines)")
    }

    @Test func aVariableOfThatNameIsReplacedAndTheOthersStayAsTheyAre() throws {
        let outcome = try programs.run(
            "/bin/sh",
            [
                "-c",
                #"X=$(printf '\377') latchkey exec --env A=mail/alice -- env -0 | grep -zac '^A='; "#
                    + #"X=$(printf '\377') latchkey exec --env A=mail/alice -- sh -c 'printf %s "$X"' | od -An -tx1"#,
            ],
            changing: ["A": "before"])
        #expect(outcome.text == "1\n ff\n", "\(outcome.text)\(outcome.errors)")
    }

    @Test(arguments: [("exit 7", 7), ("kill -9 $$", 137), ("true", 0)] as [(String, Int32)])
    func theOutcomeIsTheCommandsOwn(script: String, status: Int32) throws {
        let outcome = try programs.shell("latchkey exec --env A=mail/alice -- sh -c '\(script)'; echo $?")
        #expect(outcome.text == "\(status)\n", "\(outcome.errors)")
    }

    @Test(
        arguments: [
            (["--env", "A=mail/alice", "--env", "B=none/x"], 1, "of latchkey://none/x"),
            (["--env", "A=nul/z"], 2, "has a byte 0"),
            (["--env", "A=mail/alice", "--file", "A=git"], 2, "is named twice"),
            (["--env", "1A=mail/alice"], 2, "is no NAME=SERVICE/ACCOUNT"),
            (["--env", "A"], 2, "is no NAME=SERVICE/ACCOUNT"),
            (["--env", "A=op://mail/alice"], 2, "a scheme other than latchkey://"),
            (["--env", "A=a/b/c"], 2, "more than SERVICE/ACCOUNT"),
            (["--env", "A=%zz"], 2, "hexadecimal digits"), (["--env", "A=mail?x=y"], 2, "only kind=internet"),
            (["--env", "A=mail?kind=generic&kind=generic"], 2, "once each"),
            (["--env", "A=mail/alice#x"], 2, "a control character or a #"),
            (["--env", "A=mail/al\u{7}ice"], 2, "a control character or a #"), (["--env", "A=/x"], 2, "no service"),
            ([], 2, "no secret is named"),
        ] as [([String], Int32, String)])
    func nothingIsStartedWhereASecretIsMissing(options: [String], status: Int32, said: String) throws {
        let outcome = try programs.run(
            BuiltPrograms.latchkey, ["exec"] + options + ["--", "touch", programs.home + "/started"])
        #expect(outcome.status == status && outcome.errors.contains(said), "\(outcome.status) \(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/started"))
    }

    @Test func aCommandThatCannotStartIsSaid() throws {
        let missing = try programs.latchkey("exec", "--env", "A=mail/alice", "--", "no-such-command-at-all")
        #expect(missing.status == 127 && missing.errors.contains("cannot be started"), "\(missing.errors)")
        #expect(try programs.latchkey("exec", "--env", "A=mail/alice", "--", "/tmp").status == 126)
        // A string of the environment has at most 128 KiB (execve(2), MAX_ARG_STRLEN).
        try programs.latchkey("set", "large", "alice", input: Data(repeating: UInt8(ascii: "x"), count: 200_000))
        let large = try programs.latchkey("exec", "--env", "A=large/alice", "--", "true")
        #expect(large.status == 126 && large.errors.contains("exec --file"), "\(large.errors)")
    }

    /// What --env costs, which its help says (THREAT_MODEL.md, S10b).
    @Test func whoeverLooksSeesTheVariablesOfACommand() throws {
        let outcome = try programs.shell(
            #"mkfifo "$HOME/p"; latchkey exec --env A=mail/alice -- cat "$HOME/p" & exec 3>"$HOME/p"; "#
                + #"tr '\0' '\n' </proc/$!/environ | grep '^A='; echo end >&3; exec 3>&-; wait"#)
        #expect(
            outcome.text.contains("A=pw ü\n") && outcome.text.hasSuffix("end\n"), "\(outcome.text)\(outcome.errors)")
    }

    /// ssh, psql and msmtp refuse a file of secrets that others may read; Python's subprocess
    /// closes what it does not know.
    @Test func aFileIsItsOwnersAloneAndOpensForWhatTheCommandStarts() throws {
        let start = "import os, subprocess; subprocess.run([\"cat\", os.environ[\"A\"]], check=True)"
        let outcome = try programs.shell(
            #"latchkey exec --file A=mail/alice -- sh -c 'stat -L -c %a "$A"; python3 -c "$0"; exit' '\#(start)'"#)
        #expect(outcome.text == "600\npw ü", "\(outcome.text)\(outcome.errors)")
    }

    /// Else a relative path led to /.
    @Test func aWorkingFolderThatWasRemovedLeadsNowhere() throws {
        let gone = #"mkdir "$HOME/gone"; cd "$HOME/gone"; rmdir "$HOME/gone"; "#
        for command in [
            "echo '{{ latchkey://mail/alice }}' | latchkey inject --out latchkey-gone-out",
            "latchkey backup latchkey-gone-out",
            "echo x | latchkey --data-dir latchkey-gone-out set a",
        ] {
            let outcome = try programs.shell(gone + command)
            #expect(outcome.status != 0 && outcome.errors.contains("working folder was removed"), "\(outcome.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: "/latchkey-gone-out"))
    }

    @Test func aHyphenIsTheStream() throws {
        let outcome = try programs.shell(
            #"cd "$HOME"; echo 'a {{ latchkey://mail/alice }}' | latchkey inject --in - --out -; ls -d ./- 2>&-"#)
        #expect(outcome.text == "a pw ü\n", "\(outcome.text)\(outcome.errors)")
        #expect(try programs.latchkey("inject", "--json", "--out", "-").status == 2)
    }

    @Test func nobodyWritesWhatTheCommandReads() throws {
        let outcome = try programs.latchkey(
            "exec", "--file", "A=mail/alice", "--", "sh", "-c", #"echo other >"$A"; cat "$A""#)
        #expect(outcome.text == "pw ü" && outcome.errors.contains("not permitted"), "\(outcome.errors)")
    }

    // MARK: read

    @Test func aReferenceIsRead() throws {
        #expect(try programs.latchkey("read", "latchkey://mail/alice").text == "pw ü")
        #expect(try programs.latchkey("read", "-n", "a%2Fb%20c").text == "odd")
        #expect(try programs.latchkey("read", "mail?kind=internet").status == 1)
        let json = try programs.latchkey("read", "--json", "mail/alice").text
        #expect(try json == programs.latchkey("get", "--json", "mail", "alice").text)
        try programs.latchkey("set", "totp", "alice (otp)", input: Data("GEZDGNBVGY3TQOJQ".utf8))
        let code = try programs.latchkey("read", "totp/alice?attribute=otp")
        #expect(code.text.count == 6 && code.text.allSatisfy(\.isNumber), "\(code.errors)")
    }

    /// Of one place, in all that take a reference.
    @Test func aReferenceToAOneTimeCodeGivesTheCodeEverywhere() throws {
        try programs.latchkey("set", "totp", "alice (otp)", input: Data("GEZDGNBVGY3TQOJQ".utf8))
        let reference = "totp/alice?attribute=otp"
        let started = try programs.latchkey("exec", "--env", "A=\(reference)", "--", "sh", "-c", #"printf %s "$A""#)
        let filled = try programs.latchkey("inject", input: Data("{{ latchkey://\(reference) }}".utf8))
        let token = try programs.latchkey("credential", "kubernetes", reference)
        let words: [Substring] = token.text.split(separator: "\"")
        let inToken: Substring = words.last(where: { $0.count == 6 }) ?? ""
        let codes: [String] = [started.text, filled.text, "\(inToken)"]
        for code in codes {
            let isCode = code.utf8.count == 6 && code.utf8.allSatisfy { (48...57).contains($0) }
            #expect(isCode, "\(started.errors)\(filled.errors)\(token.errors)")
        }
    }

    // MARK: inject

    @Test func aTemplateIsFilled() throws {
        let template =
            "a: {{ latchkey://mail/alice }}\nb: '{{latchkey://a%2Fb%20c/x%25y}}' {{ .Values }} {{ latchkey:{{ }}\n"
        let filled = try programs.latchkey("inject", input: Data(template.utf8))
        #expect(filled.text == "a: pw ü\nb: 'odd' {{ .Values }} {{\n", "\(filled.errors)")
        let file = programs.home + "/out.conf"
        try "before".write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        try template.write(toFile: programs.home + "/in", atomically: true, encoding: .utf8)
        let written = try programs.latchkey("inject", "--in", programs.home + "/in", "--out", file, "--json")
        #expect(written.text == #"{"file":"\#(file)","secrets":2}"# + "\n", "\(written.errors)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == filled.text)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
    }

    @Test(
        arguments: [
            ("x\n{{ latchkey://none/x }}", 1, "of latchkey://none/x"),
            ("x\ny {{ latchkey://a/b/c }}", 2, "line 2 of the template"),
            ("{{ latchkey://mail/alice\n}}", 2, "line 1 of the template"),
            ("{{ latchkey:x }}", 2, "line 1 of the template"),
        ] as [(String, Int32, String)])
    func whereOneIsMissingNothingIsWritten(template: String, status: Int32, said: String) throws {
        let file = programs.home + "/out.conf"
        try "before".write(toFile: file, atomically: true, encoding: .utf8)
        for arguments in [["inject"], ["inject", "--out", file]] {
            let outcome = try programs.run(
                BuiltPrograms.latchkey, arguments, input: Data(("{{ latchkey://mail/alice }}" + template).utf8))
            #expect(outcome.status == status && outcome.output.isEmpty, "\(outcome.status) \(outcome.text)")
            #expect(outcome.errors.contains(said) && !outcome.errors.contains("pw ü"), "\(outcome.errors)")
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "before")
    }

    /// One value of it in a file, and one line in the record.
    @Test func aReferenceThatIsNamedOftenIsReadOnce() throws {
        let template = String(repeating: "{{ latchkey://mail/alice }} ", count: 100)
        let filled = try programs.latchkey("inject", input: Data(template.utf8))
        #expect(filled.text == String(repeating: "pw ü ", count: 100), "\(filled.errors)")
        let log = try programs.latchkey("log", "--item", "mail", "--json").text
        #expect(log.contains("\"event\":\"read\",\"count\":1,"), "\(log)")
    }

    /// Two items whose names look alike, and are equal to Swift (Unicode's canonical equivalence).
    @Test func namesThatLookAlikeAreTwo() throws {
        for (name, secret) in [("caf\u{E9}", "composed"), ("cafe\u{301}", "decomposed")] {
            try programs.latchkey("set", "--raw", "--", name, "alice", input: Data(secret.utf8))
        }
        let template = "{{ latchkey://caf%C3%A9/alice }} {{ latchkey://cafe%CC%81/alice }}"
        #expect(try programs.latchkey("inject", input: Data(template.utf8)).text == "composed decomposed")
    }

    @Test func linksAndDevicesAreNoTarget() throws {
        let link = programs.home + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: programs.home + "/elsewhere")
        // Of its own: where this fails the machine keeps its devices.
        let made = try programs.shell(#"mkfifo "$HOME/pipe"; [ $(id -u) != 0 ] || mknod "$HOME/device" c 1 3"#)
        try #require(made.status == 0, "\(made.errors)")
        let device = programs.home + "/device"
        let devices = FileManager.default.fileExists(atPath: device) ? [device] : []
        for target in [link, programs.home + "/pipe", programs.home] + devices {
            let outcome = try programs.latchkey(
                "inject", "--out", target, input: Data("{{ latchkey://mail/alice }}".utf8))
            #expect(
                outcome.status == 2 && outcome.errors.contains("the target is no file"), "\(target): \(outcome.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/elsewhere"))
    }

    // MARK: credential

    @Test func awsGetsItsForm() throws {
        try programs.latchkey("set", "aws", "AKIAEXAMPLE", input: Data("se\"cret/+".utf8))
        try programs.latchkey("set", "aws-session", "AKIAEXAMPLE", input: Data("token==".utf8))
        let plain = try programs.latchkey("credential", "aws", "aws")
        #expect(
            plain.text == #"{"Version":1,"AccessKeyId":"AKIAEXAMPLE","SecretAccessKey":"se\"cret/+"}"# + "\n",
            "\(plain.errors)")
        let session = try programs.latchkey(
            "credential", "aws", "aws/AKIAEXAMPLE", "--session-token", "aws-session", "--expiration",
            "2030-01-31T00:00:00Z")
        #expect(
            session.text
                == #"{"Version":1,"AccessKeyId":"AKIAEXAMPLE","SecretAccessKey":"se\"cret/+","SessionToken":"token==","Expiration":"2030-01-31T00:00:00Z"}"#
                + "\n",
            "\(session.errors)")
        #expect(try programs.latchkey("credential", "aws", "git").errors.contains("the item has no account"))
        #expect(try programs.latchkey("credential", "aws", "none").status == 1)
        #expect(try programs.latchkey("credential", "aws", "aws", "--expiration", "soon").status == 2)
    }

    @Test func kubernetesGetsItsForm() throws {
        let v1 =
            #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"pw ü"}}"#
            + "\n"
        #expect(try programs.latchkey("credential", "kubernetes", "mail/alice").text == v1)
        let asking = { (version: String) in
            [
                "KUBERNETES_EXEC_INFO":
                    #"{"apiVersion":"\#(version)","kind":"ExecCredential","spec":{"interactive":false}}"#
            ]
        }
        let old = try programs.latchkey(
            "credential", "kubernetes", "mail/alice", changing: asking("client.authentication.k8s.io/v1beta1"))
        #expect(old.text == v1.replacing("k8s.io/v1", with: "k8s.io/v1beta1"))
        for info in [asking("client.authentication.k8s.io/v9"), ["KUBERNETES_EXEC_INFO": "CANARY"]] {
            let refused = try programs.latchkey("credential", "kubernetes", "mail/alice", changing: info)
            #expect(
                refused.status == 2 && refused.output.isEmpty && !refused.errors.contains("CANARY"), "\(refused.errors)"
            )
        }
        let ends = try programs.latchkey(
            "credential", "kubernetes", "mail/alice", "--expiration", "2030-01-31T00:00:00Z")
        #expect(ends.text.contains(#""expirationTimestamp":"2030-01-31T00:00:00Z""#), "\(ends.text)\(ends.errors)")
        let pair = try programs.latchkey("credential", "kubernetes", "--certificate", "mail", "--key", "a%2Fb%20c")
        #expect(
            pair.text.contains(#""status":{"clientCertificateData":"pw ü","clientKeyData":"odd"}"#), "\(pair.errors)")
        #expect(try programs.latchkey("credential", "kubernetes", "--key", "mail").status == 2)
        let bytes = Data([0xff, 0xfe])
        try programs.latchkey("set", "--raw", "bytes", input: bytes)
        #expect(try programs.latchkey("credential", "kubernetes", "bytes").errors.contains("no text in UTF-8"))
    }

    @Test func aLockedKeychainStartsAndWritesNothing() throws {
        #expect(try programs.latchkey("passcode", "set", input: Data("words words".utf8)).status == 0)
        #expect(try programs.latchkey("lock").status == 0)
        for arguments in [
            ["exec", "--env", "A=mail/alice", "--", "touch", programs.home + "/started"], ["read", "mail/alice"],
            ["credential", "aws", "mail"], ["credential", "kubernetes", "mail"],
        ] {
            let outcome = try programs.run("/usr/bin/setsid", ["-w", BuiltPrograms.latchkey] + arguments)
            #expect(outcome.status == 3 && outcome.output.isEmpty, "\(arguments)")
            #expect(outcome.errors.contains("latchkey unlock"), "\(outcome.errors)")
        }
        let filled = try programs.latchkey("inject", input: Data("{{ latchkey://mail }}".utf8))
        #expect(filled.status == 3 && filled.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/started"))
    }
}
