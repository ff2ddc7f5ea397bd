import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// `latchkey temp` over the real programs.
@Suite struct TempEndToEndTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    private func nothingIsLeft() -> Bool {
        BuiltPrograms.eventually {
            programs.temporaryFolders.isEmpty && programs.processes("latchkeyd").isEmpty
                && programs.processes("latchkey-enclave").isEmpty
        }
    }

    @Test func theCommandHasAKeychainOfItsOwn() throws {
        let outcome = try programs.latchkey(
            "temp", "--", "sh", "-c", "printf pw | latchkey set a && latchkey get a && echo $LATCHKEY_TEMP")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text.hasPrefix("pw\(programs.home)/tmp/latchkey-temp-"))
        #expect(nothingIsLeft())
        #expect(try programs.latchkey("get", "a").status == 1)
    }

    /// Who means a temporary keychain never gets the own one.
    @Test(arguments: ["run/keychain.sock", "/nowhere/keychain.sock", "x"])
    func aVariableThatNamesNoneIsRefused(_ socket: String) throws {
        let script = "LATCHKEY_TEMP=\(socket) \(BuiltPrograms.latchkey) set leaked here"
        let outcome = try programs.run("/bin/sh", ["-c", script], input: Data("CANARY".utf8))
        #expect(outcome.status == 69, "\(outcome.errors)")
        #expect(try programs.latchkey("get", "leaked").status == 1)
    }

    @Test(arguments: [("exit 7", 7), ("kill -TERM $$", 143), ("kill -9 $$", 137), ("true", 0)] as [(String, Int32)])
    func passesTheOutcomeOn(script: String, status: Int32) throws {
        #expect(try programs.latchkey("temp", "--", "sh", "-c", script).status == status)
        #expect(nothingIsLeft())
    }

    @Test func aCommandThatCannotStartIsSaid() throws {
        let missing = try programs.latchkey("temp", "--", "no-such-command-at-all")
        #expect(missing.status == 127)
        #expect(missing.errors.contains("cannot be started"))
        #expect(try programs.latchkey("temp", "--", "/tmp").status == 126)
        #expect(nothingIsLeft())
    }

    @Test func standardStreamsAndArgumentsReachTheCommand() throws {
        let outcome = try programs.latchkey(
            "temp", "--", "sh", "-c", "cat; echo \"$@\" >&2", "x", "--data-dir", "-h", "--", input: Data("in".utf8))
        #expect(outcome.text == "in")
        #expect(outcome.errors == "--data-dir -h --\n")
    }

    @Test func entitlementsReplaceTheGroups() throws {
        let file = programs.home + "/a.plist"
        try Data(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>keychain-access-groups</key>
            <array><string>TEAM.one</string><string>TEAM.two</string></array></dict></plist>
            """.utf8
        ).write(to: URL(fileURLWithPath: file))
        let outcome = try programs.latchkey(
            "temp", "--entitlements", file, "--", "sh", "-c", "echo pw | latchkey set a; latchkey get a --json")
        #expect(outcome.text.contains(#""group":"TEAM.one""#), "\(outcome.errors)")
    }

    @Test func unusableEntitlementsAreUsageMistakes() throws {
        let missing = try programs.latchkey("temp", "--entitlements", "nowhere.plist", "--", "true")
        #expect(missing.status == 2 && missing.errors.contains("cannot be read"))
        let file = programs.home + "/bad.plist"
        try Data("no list".utf8).write(to: URL(fileURLWithPath: file))
        let bad = try programs.latchkey("temp", "--entitlements", file, "--", "true")
        #expect(bad.status == 2 && bad.errors.contains("entitlements"), "\(bad.status) \(bad.errors)")
        #expect(nothingIsLeft())
    }

    /// Counted as absent, they would grant nothing and say nothing.
    @Test(arguments: [
        "<key>keychain-access-groups</key><string>TEAM.one</string>",
        "<key>keychain-access-groups</key><array><string>TEAM.one</string><integer>2</integer></array>",
        "<key>application-identifier</key><array><string>TEAM.one</string></array>",
    ])
    func entitlementsOfAnotherTypeAreUsageMistakes(entry: String) throws {
        let file = programs.home + "/a.plist"
        try Data("<?xml version=\"1.0\"?><plist version=\"1.0\"><dict>\(entry)</dict></plist>".utf8)
            .write(to: URL(fileURLWithPath: file))
        let bad = try programs.latchkey("temp", "--entitlements", file, "--", "true")
        #expect(bad.status == 2 && bad.errors.contains("TEAM") == false, "\(bad.errors)")
        #expect(bad.errors.contains(entry.hasPrefix("<key>k") ? "keychain-access-groups" : "application-identifier"))
    }

    @Test(arguments: ["0777", "0277"])
    func aUmaskThatTakesEverythingTakesNothingOfIt(umask: String) throws {
        let script = "latchkey temp -- sh -c 'printf pw | latchkey set a; latchkey get a'"
        let outcome = try programs.shell("umask \(umask); \(script)")
        #expect(outcome.text == "pw", "\(outcome.errors)")
        #expect(nothingIsLeft())
    }

    @Test func aDaemonThatWasStoppedIsKilled() throws {
        let outcome = try programs.latchkey(
            "temp", "--", "sh", "-c",
            #"kill -STOP $(latchkey status --json | sed 's/.*"daemon":{"pid":\([0-9]*\).*/\1/'); exit 5"#)
        #expect(outcome.status == 5)
        #expect(nothingIsLeft())
    }

    // MARK: A passcode

    private static let withPasscode = ["temp", "--passcode-fd", "0", "--", "sh", "-c"]

    /// The passcode is standard input here, so the command's is at its end.
    private func temp(_ script: String, passcode: String = "0000\n", changing: [String: String?] = [:]) throws
        -> BuiltPrograms.Outcome
    {
        try programs.run(
            BuiltPrograms.latchkey, Self.withPasscode + [script], input: Data(passcode.utf8), changing: changing)
    }

    @Test func aPasscodeIsThereFromTheStart() throws {
        let outcome = try temp(
            """
            latchkey status --json; printf CANARY | latchkey set a
            latchkey edit a --accessible when-passcode-set-this-device-only && latchkey get a
            """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text.contains(#""temporary":true"#) && outcome.text.contains(#""passcode":true"#))
        #expect(outcome.text.contains(#""lock":"unlocked""#) && outcome.text.hasSuffix("CANARY"))
        // Without one there is no such class.
        let without = try programs.latchkey(
            "temp", "--", "sh", "-c",
            "printf x | latchkey set a; latchkey edit a --accessible when-passcode-set-this-device-only")
        #expect(without.status != 0)
        #expect(nothingIsLeft())
    }

    @Test func theCommandLocksAndUnlocksIt() throws {
        let outcome = try temp(
            """
            printf CANARY | latchkey set a; latchkey lock; latchkey get a; echo "locked $?"
            printf 9999 | latchkey unlock; echo "wrong $?"; latchkey get a; echo "locked $?"
            printf 0000 | latchkey unlock; echo "right $?"; latchkey get a
            """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text == "locked 3\nwrong 3\nlocked 3\nright 0\nCANARY")
        #expect(outcome.errors.contains("the keychain is locked"))
        #expect(nothingIsLeft())
    }

    /// A program's own call, by its status.
    @Test func aLockedItemIsRefusedToPrograms() throws {
        let outcome = try temp(
            "printf CANARY | latchkey set a; latchkey lock; latchkey explain -- latchkey get a; echo done")
        #expect(outcome.text.contains("-25308") || outcome.errors.contains("-25308"), "\(outcome.text)")
        #expect(!outcome.text.contains("CANARY"))
        #expect(nothingIsLeft())
    }

    @Test func aPasscodeThatIsRefusedStartsNothing() throws {
        for (passcode, fault) in [("abc\n", "fewer than 4"), ("\n", "no passcode"), ("", "no passcode")] {
            let outcome = try temp("touch $HOME/ran", passcode: passcode)
            #expect(outcome.status == 2 && outcome.errors.contains(fault), "\(outcome.errors)")
        }
        let nobody = try programs.latchkey("temp", "--passcode", "--", "touch", programs.home + "/ran")
        #expect(nobody.status == 3 && nobody.errors.contains("--passcode-fd 3"), "\(nobody.errors)")
        #expect(try programs.latchkey("temp", "--passcode-fd", "9", "--", "touch", programs.home + "/ran").status == 2)
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/ran"))
        #expect(nothingIsLeft())
    }

    /// Neither as a descriptor, nor in its environment, nor in anybody's arguments.
    @Test func theCommandIsNotGivenThePasscode() throws {
        // In no script of this test, whose arguments are looked through too.
        let passcode = Random.bytes(8).map { String($0) }.joined(separator: " ")
        try Data("\(passcode)\n".utf8).write(to: URL(fileURLWithPath: programs.home + "/p"))
        let outcome = try programs.shell(
            """
            latchkey temp --passcode-fd 5 -- sh -c '
            cat; test -e /proc/$$/fd/5 && echo open; tr "\\0" "\\n" < /proc/$$/environ
            cat /proc/[0-9]*/cmdline 2> /dev/null | tr "\\0" "\\n"; printf x | latchkey set a && latchkey lock
            ' 5< $HOME/p < /dev/null; echo "status $?"
            """)
        #expect(outcome.text.hasSuffix("status 0\n"), "\(outcome.errors)")
        #expect(outcome.text.contains("LATCHKEY_TEMP=") && outcome.text.contains("--passcode-fd"))
        #expect(!outcome.text.contains(passcode) && !outcome.text.contains("open\n"))
        #expect(nothingIsLeft())
    }

    /// Standard input stays the command's.
    @Test func standardInputIsTheCommandsAsEver() throws {
        let outcome = try programs.shell(
            "printf 0000 > $HOME/p; echo in | latchkey temp --passcode-fd 5 -- cat 5< $HOME/p")
        #expect(outcome.text == "in\n", "\(outcome.errors)")
    }

    @Test func thePasscodeIsTypedTwiceOnATerminal() throws {
        let terminal = try PseudoTerminal()
        let before = terminal.settings
        let process = try terminal.start(
            programs,
            arguments: ["temp", "--passcode", "--", "sh", "-c", "latchkey lock; latchkey unlock && echo o''pened"])
        #expect(terminal.shows("Passcode of the temporary keychain: "))
        #expect(!terminal.echoes)
        // Nothing was started yet.
        #expect(programs.temporaryFolders.isEmpty)
        terminal.type("words words\n")
        #expect(terminal.shows("Once more: "))
        terminal.type("words words\n")
        #expect(terminal.shows("Passcode: "))
        terminal.type("words words\n")
        #expect(terminal.shows("opened"))
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(!terminal.shown.contains("words") && terminal.settings == before)
        #expect(nothingIsLeft())
    }

    @Test func interruptingThePromptStartsNothing() throws {
        let terminal = try PseudoTerminal()
        let before = terminal.settings
        let process = try terminal.start(
            programs, arguments: ["temp", "--passcode", "--", "touch", programs.home + "/ran"])
        #expect(terminal.shows("Passcode of the temporary keychain: "))
        terminal.type("wor\u{3}")
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(terminal.settings == before)
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/ran"))
        #expect(nothingIsLeft())
    }

    /// A program in there stores an item that a person has to agree to, and reads it:
    /// the real prompt comes up on the terminal and takes the passcode.
    @Test func aPromptAsksForIt() throws {
        let terminal = try PseudoTerminal()
        let script = """
            stty rows 30 columns 90; folder=${LATCHKEY_TEMP%/run/*}
            exec \(BuiltPrograms.folder)/fault-client agree $folder $folder/run
            """
        let process = try terminal.start(
            programs, arguments: ["temp", "--passcode", "--", "sh", "-c", script],
            changing: ["LANG": "C.UTF-8", "TERM": "xterm"])
        for prompt in ["Passcode of the temporary keychain: ", "Once more: "] {
            #expect(terminal.shows(prompt))
            terminal.type("words words\n")
        }
        #expect(terminal.shows("<Cancel>"), "\(terminal.shown)")
        terminal.type("words words\r")
        #expect(terminal.shows("the value was told"), "\(terminal.shown)")
        process.terminate()
        process.waitUntilExit()
        #expect(nothingIsLeft())
    }

    // MARK: Signals and death

    /// Starts `temp` with a command that says it runs and then waits.
    private func waiting(_ script: String) throws -> (TestProcess, running: () -> Bool) {
        let mark = programs.home + "/running"
        let process = programs.start(
            BuiltPrograms.latchkey, ["temp", "--", "sh", "-c", "\(script); touch \(mark); while :; do sleep 0.1; done"])
        try process.run()
        return (process, { BuiltPrograms.eventually { FileManager.default.fileExists(atPath: mark) } })
    }

    @Test(arguments: [(SIGTERM, 143), (SIGHUP, 129), (SIGINT, 130), (SIGQUIT, 131)] as [(Int32, Int32)])
    func signalsReachTheCommand(signal: Int32, status: Int32) throws {
        let (process, running) = try waiting("trap 'exit \(status)' TERM HUP INT QUIT")
        #expect(running())
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        #expect(process.terminationStatus == status)
        #expect(process.terminationReason == .exit)
        #expect(nothingIsLeft())
    }

    @Test func nothingIsLeftWhereItIsKilled() throws {
        let (process, running) = try waiting("echo pw | latchkey set a")
        #expect(running())
        #expect(programs.processes("latchkeyd").count == 1)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(nothingIsLeft())
    }

    @Test func theNextOneSweepsWhatAnOlderOneLeft() throws {
        let stale = programs.home + "/tmp/latchkey-temp-abcdef"
        try FileManager.default.createDirectory(
            atPath: stale + "/run", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data("x".utf8).write(to: URL(fileURLWithPath: stale + "/keychain.db"))
        let held = try TemporaryFolder.make(in: programs.home + "/tmp", prefix: "latchkey-temp")
        #expect(try programs.latchkey("temp", "--", "true").status == 0)
        #expect(programs.temporaryFolders.map { "\(programs.home)/tmp/\($0)" } == [held.path])
        try held.remove()
    }
}
