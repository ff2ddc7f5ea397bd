import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// Passcode, lock and recovery code with the real latchkey, latchkeyd and
/// latchkey-enclave.
@Suite struct PersonEndToEndTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    @discardableResult
    private func latchkey(_ arguments: String..., typed: String = "") throws -> BuiltPrograms.Outcome {
        try programs.run(BuiltPrograms.latchkey, arguments, input: Data(typed.utf8))
    }

    private func lock() throws -> String { try programs.status()["lock"] as? String ?? "" }

    @Test func theKeychainIsLockedAndUnlocked() throws {
        #expect(try latchkey("set", "mail", "alice", typed: "CANARY").status == 0)
        #expect(try latchkey("lock").status == 2)
        #expect(try latchkey("passcode", "set", typed: "words words\n").status == 0)
        #expect(try lock() == "unlocked")
        #expect(try latchkey("lock").status == 0)
        #expect(try lock() == "locked")
        for arguments in [["get", "mail", "alice"], ["get", "mail"], ["rm", "mail"], ["list"], ["info", "mail"]] {
            let outcome = try programs.run(BuiltPrograms.latchkey, arguments)
            #expect(outcome.status == 3, "\(arguments)")
            #expect(outcome.errors == "latchkey: the keychain is locked; `latchkey unlock` opens it.\n", "\(arguments)")
        }
        #expect(try latchkey("set", "mail", "alice", typed: "other").status == 3)
        #expect(try latchkey("unlock", typed: "wrong words").status == 3)
        #expect(try programs.status()["failedAttempts"] as? Int == 1)
        #expect(try latchkey("unlock", typed: "words words").status == 0)
        #expect(try latchkey("get", "mail", "alice").text == "CANARY")
        #expect(try programs.status()["failedAttempts"] as? Int == 0)
    }

    @Test func itBeginsLockedAndIsFollowedThroughARestart() throws {
        try latchkey("passcode", "set", typed: "words words")
        let following = try Following(programs)
        #expect(following.line()?.hasPrefix("unlocked\tpasscode set\trecovery code none\t") == true)
        for process in programs.processes("latchkey-enclave") + programs.processes("latchkeyd") {
            kill(process, SIGKILL)
        }
        #expect(following.line()?.hasPrefix("before first unlock\t") == true)
        try latchkey("unlock", typed: "words words")
        #expect(following.line()?.hasPrefix("unlocked\t") == true)
        try latchkey("lock")
        #expect(following.line()?.hasPrefix("locked\t") == true)
        let json = try Following(programs, "--json")
        #expect(
            json.line() == #"{"passcode":true,"lock":"locked","recoveryCode":false,"failedAttempts":0,"#
                + #""secondsToNextAttempt":0,"opensByItself":false,"fingerUnlocks":false,"fingerOpensNow":false,"lockAfterSeconds":null,"#
                + #""locksOnSleep":false,"locksOnScreenLock":false,"effacement":"file","effacementFault":null,"#
                + #""effacementsLeft":[],"counter":null,"counterFault":null,"countersLeft":[],"openClasses":["ck","dk","cku","dku"]}"#
        )
        following.process.interrupt()
        following.process.waitUntilExit()
        #expect(following.process.terminationStatus == 0)
    }

    private final class Following {
        let process: TestProcess
        private let output = Pipe()
        private var rest = Data()

        init(_ programs: BuiltPrograms, _ more: String...) throws {
            process = programs.start(BuiltPrograms.latchkey, ["status", "--follow"] + more)
            process.standardOutput = output
            process.standardInput = FileHandle.nullDevice
            try process.run()
        }

        deinit { process.terminate() }

        func line() -> String? {
            let deadline = Deadline(after: .seconds(60), on: SystemClock())
            while true {
                if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { rest = Data(rest[rest.index(after: end)...]) }
                    return String(decoding: rest[..<end], as: UTF8.self)
                }
                guard output.fileHandleForReading.hasInput(until: deadline) else { return nil }
                let more = output.fileHandleForReading.availableData
                if more.isEmpty { return nil }
                rest += more
            }
        }
    }

    @Test func passcodesAreChangedAndRemoved() throws {
        try latchkey("set", "mail", typed: "CANARY")
        try latchkey("passcode", "set", typed: "words words")
        #expect(try latchkey("passcode", "set", typed: "x words").status == 2)
        #expect(try latchkey("passcode", "change", typed: "words words\nabc\n").status == 2)
        #expect(try latchkey("passcode", "change", typed: "words words\nother words\n").status == 0)
        #expect(try latchkey("passcode", "remove", typed: "other words").status == 2)
        #expect(try latchkey("passcode", "remove", "--yes", typed: "words words").status == 3)
        #expect(try latchkey("passcode", "remove", "--yes", "--json", typed: "other words").status == 0)
        #expect(try programs.status()["passcode"] as? Bool == false)
        #expect(try latchkey("get", "mail").text == "CANARY")
    }

    @Test func aPasscodeComesOnADescriptor() throws {
        let set = "printf 'words words\\n' | latchkey passcode set --passcode-fd 0"
        #expect(try programs.shell(set).status == 0)
        try latchkey("lock")
        let unlock =
            "printf 'words words\\n' > $HOME/p; latchkey unlock --passcode-fd 5 5< $HOME/p; s=$?; rm $HOME/p; exit $s"
        #expect(try programs.shell(unlock).status == 0)
        #expect(try lock() == "unlocked")
        #expect(try programs.shell("latchkey unlock --passcode-fd 9").status == 2)
    }

    @Test func whenItLocksByItselfIsChosenWithThePasscode() throws {
        try latchkey("set", "mail", typed: "CANARY")
        #expect(try latchkey("autolock").text == "never\n")
        #expect(try latchkey("autolock", "--after", "15m", typed: "words words").status == 2)
        try latchkey("passcode", "set", typed: "words words")
        #expect(try latchkey("status").text.contains("Locks         when it is told to\n"))
        for wrong in ["59s", "31d", "soon", "15", "-1m", "0m", "99999999999999999999d"] {
            #expect(try latchkey("autolock", "--after=\(wrong)", typed: "words words").status == 2, "\(wrong)")
        }
        #expect(try latchkey("autolock", "--after", "15m", typed: "wrong words").status == 3)
        #expect(try latchkey("autolock").text == "never\n")
        #expect(
            try latchkey("autolock", "--after", "15m", typed: "words words").text == "after 15 minutes without a use\n")
        #expect(try latchkey("status").text.contains("Locks         by itself, after 15 minutes without a use\n"))
        #expect(try programs.status()["lockAfterSeconds"] as? Int == 900)
        // Kept over the end of its programs, and shown while it is locked.
        #expect(try latchkey("lock", "--stop").status == 0)
        #expect(try latchkey("autolock").text == "after 15 minutes without a use\n")
        #expect(try latchkey("autolock", "--after", "never", typed: "words words").text == "never\n")
    }

    @Test func whatLocksItBesideIsKeptAndShown() throws {
        try latchkey("passcode", "set", typed: "words words")
        #expect(try latchkey("autolock", "--on-sleep", typed: "wrong words").status == 3)
        #expect(try programs.status()["locksOnSleep"] as? Bool == false)
        #expect(try latchkey("autolock", "--on-sleep", typed: "words words").text == "before sleep\n")
        // What is not named stays.
        let both = try latchkey("autolock", "--on-screen-lock", "--after", "1h", typed: "words words")
        #expect(both.text == "after 1 hour without a use, before sleep, with the screen\n")
        let json = #"{"afterSeconds":3600,"onSleep":true,"onScreenLock":true}"# + "\n"
        #expect(try latchkey("autolock", "--json").text == json)
        #expect(
            try latchkey("status").text.contains(
                "Locks         by itself, after 1 hour without a use, before sleep, with the screen"))
        // Kept over the end of its programs, and shown while it is locked.
        #expect(try latchkey("lock", "--stop").status == 0)
        let status = try programs.status()
        #expect(status["locksOnSleep"] as? Bool == true && status["locksOnScreenLock"] as? Bool == true)
        #expect(status["lock"] as? String == "before-first-unlock")
        #expect(try latchkey("autolock", "--json").text == json)
        let less = try latchkey("autolock", "--no-on-sleep", "--after", "never", typed: "words words")
        #expect(less.text == "with the screen\n")
        #expect(try programs.status()["locksOnSleep"] as? Bool == false)
        #expect(try latchkey("autolock", "--no-on-screen-lock", typed: "words words").text == "never\n")
    }

    /// As systemd hands it to a unit (systemd.exec(5), LoadCredential=).
    @Test func aCredentialOfTheUnitUnlocks() throws {
        try latchkey("passcode", "set", typed: "words words")
        try latchkey("lock")
        let folder = programs.home + "/credentials"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Data("words words\n".utf8).write(to: URL(filePath: folder + "/passcode"))
        try Data("other\n".utf8).write(to: URL(filePath: folder + "/wrong"))
        func unlock(_ name: String, in folder: String?) throws -> BuiltPrograms.Outcome {
            try programs.latchkey("unlock", "--passcode-credential", name, changing: ["CREDENTIALS_DIRECTORY": folder])
        }
        #expect(try unlock("passcode", in: nil).status == 2)
        for name in ["missing", "../credentials/passcode", ".", ""] {
            let refused = try unlock(name, in: folder)
            #expect(refused.status == 2 && refused.errors.contains("nothing was changed"), "\(name): \(refused.errors)")
        }
        #expect(try unlock("wrong", in: folder).status == 3)
        #expect(try lock() == "locked")
        #expect(try unlock("passcode", in: folder).status == 0)
        #expect(try lock() == "unlocked")
    }

    /// On a terminal: the code is shown once and read back; afterwards it opens, and
    /// a forgotten passcode is replaced with it.
    @Test func aRecoveryCodeIsMadeOnATerminal() throws {
        try latchkey("set", "mail", typed: "CANARY")
        try latchkey("passcode", "set", typed: "words words")
        #expect(try latchkey("recovery", "make", typed: "words words").status == 3)
        let terminal = try PseudoTerminal()
        let process = try terminal.start(programs, "recovery", "make")
        #expect(terminal.shows("Passcode: "))
        #expect(!terminal.echoes)
        terminal.type("words words\n")
        #expect(terminal.shows("Type it back: "))
        let code = try #require(terminal.shown.firstMatch(of: /[0-9A-Z]{4}(-[0-9A-Z]{4}){6}/)).0
        terminal.type(code.lowercased().filter { $0 != "-" } + "\n")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(terminal.shows("opens the keychain from now on"))
        // Off the screen again: the code, an empty line and one prompt.
        #expect(terminal.shown.contains("Type it back: \r\n\u{1b}[3A\u{1b}[J"))
        #expect(terminal.shown.matches(of: /[0-9A-Z]{4}(-[0-9A-Z]{4}){6}/).count == 1)
        #expect(!terminal.shown.contains("words words"))
        try latchkey("lock")
        #expect(try latchkey("unlock", "--recovery", typed: "abcd").status == 2)
        #expect(try latchkey("unlock", "--recovery", typed: String(code)).status == 0)
        #expect(try latchkey("passcode", "reset", typed: "\(code)\nnew words").status == 2)
        #expect(try latchkey("passcode", "reset", "--yes", typed: "\(code)\nnew words").status == 0)
        #expect(try latchkey("get", "mail").text == "CANARY")
        #expect(try latchkey("unlock", typed: "words words").status == 3)
        #expect(try latchkey("recovery", "remove", typed: "new words").status == 0)
        #expect(try latchkey("unlock", "--recovery", typed: String(code)).status == 3)
    }

    @Test func unlockingOnATerminalAsksAgain() throws {
        try latchkey("passcode", "set", typed: "words words")
        try latchkey("lock")
        let terminal = try PseudoTerminal()
        let process = try terminal.start(programs, "unlock")
        #expect(terminal.shows("Passcode: "))
        terminal.type("wrong\n")
        // What is typed before it asks again is dropped.
        #expect(terminal.shows("Try again.") && terminal.shows("Passcode: ", times: 2))
        terminal.type("words words\n")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(terminal.shows("Unlocked."))
    }

    @Test func aCopyOpensOnlyWithThePasscode() throws {
        try latchkey("set", "mail", typed: "CANARY")
        try latchkey("passcode", "set", typed: "words words")
        let copy = programs.home + "/copy"
        // Without what names the processes that serve the original: they would answer.
        let script = "cp -a $HOME/data/latchkey \(copy) && cd \(copy) && rm -r run latchkeyd.lock enclave/lock"
        #expect(try programs.shell(script).status == 0)
        #expect(try latchkey("--data-dir", copy, "get", "mail").status == 3)
        #expect(try latchkey("--data-dir", copy, "unlock", typed: "words words").status == 0)
        #expect(try latchkey("--data-dir", copy, "get", "mail").text == "CANARY")
    }

    /// The keys are overwritten where they lie: a second name of the same files shows it.
    @Test func erasingOverwritesTheKeys() throws {
        // The first line of the audit record brings its keys into the keybag, as another
        // file of that name.
        try latchkey("set", "mail", typed: "CANARY")
        #expect(try latchkey("log").status == 0)
        try latchkey("passcode", "set", typed: "words words")
        let enclave = programs.home + "/data/latchkey/enclave"
        let witness = programs.home + "/witness"
        try FileManager.default.createDirectory(atPath: witness, withIntermediateDirectories: false)
        let names = try FileManager.default.contentsOfDirectory(atPath: enclave)
        for name in names {
            try FileManager.default.linkItem(atPath: "\(enclave)/\(name)", toPath: "\(witness)/\(name)")
        }
        #expect(names.contains("effacement") && names.contains { $0.hasPrefix("keybag") })
        #expect(try latchkey("erase").status == 2)
        #expect(try latchkey("erase", "--yes", "--json").text.contains(#""erased":true"#))
        #expect(!FileManager.default.fileExists(atPath: programs.home + "/data/latchkey"))
        for name in names {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(witness)/\(name)"))
            #expect(bytes.allSatisfy { $0 == 0 }, "\(name)")
        }
        try latchkey("set", "mail", typed: "CANARY")
        #expect(try programs.status()["passcode"] as? Bool == false)
    }

    /// Where another user owns what the enclave listens in, nothing is sent.
    @Test(.enabled(if: geteuid() == 0, "gives a folder to another user"))
    func anEnclaveOfAnotherUserIsRefused() throws {
        try latchkey("passcode", "set", typed: "words words")
        let run = programs.home + "/data/latchkey/run"
        #expect(unsafe chown(run, 65534, 65534) == 0)
        let outcome = try latchkey("unlock", typed: "words words")
        #expect(outcome.status == 69 || outcome.status == 4, "\(outcome.errors)")
        #expect(unsafe chown(run, 0, 0) == 0)
    }

    /// `chmod -R go+rX` of a home, while the keychain is open.
    @Test(arguments: [false, true]) func aFolderThatWasOpenedToOthersIsLockedAllTheSame(_ stops: Bool) throws {
        try latchkey("set", "mail", typed: "CANARY")
        try latchkey("passcode", "set", typed: "words words")
        let data = programs.home + "/data/latchkey"
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: data)
        let locked = try programs.run(BuiltPrograms.latchkey, ["lock"] + (stops ? ["--stop"] : []))
        #expect(locked.status == 0, "\(locked.errors)")
        #expect(locked.errors.contains("\(data) had mode 755, and has 700 now"), "\(locked.errors)")
        #expect(try latchkey("get", "mail").status == 3)
        let again = try programs.latchkey("lock")
        #expect(!again.errors.contains("had mode"))
    }

    @Test func aFolderWithoutAKeychainIsNotClosed() throws {
        let folder = programs.home + "/public"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        #expect(try programs.latchkey("--data-dir", folder, "lock").status != 0)
        let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o755)
    }

    @Test func aTemporaryKeychainHasAPasscodeToo() throws {
        let script =
            "printf 1 | latchkey set x; printf words | latchkey passcode set; latchkey lock; latchkey get x; echo $?"
        #expect(try programs.run(BuiltPrograms.latchkey, ["temp", "--", "sh", "-c", script]).text.hasSuffix("3\n"))
    }

    /// The daemon under strace(1): what is typed is in nothing that it reads or
    /// writes, nor in anybody's arguments and files.
    @Test(.enabled(if: geteuid() == 0, "latchkey hides from an ordinary user's strace"))
    func theDaemonNeverSeesWhatIsTyped() throws {
        // What lies in hidden memory no tracer sees, so that nothing would be shown.
        try programs.startDaemonWithoutHiddenMemory()
        try latchkey("set", "mail", typed: "pw")
        let daemon = try programs.daemonProcess()
        let trace = programs.home + "/daemon.trace"
        let strace = programs.start(
            "/usr/bin/strace",
            [
                "-f", "-yy", "-s", "100000", "-e", "trace=network,read,write,readv,writev,pread64,pwrite64,execve",
                "-o", trace, "-p", "\(daemon)",
            ])
        strace.standardError = FileHandle.nullDevice
        try strace.run()
        #expect(BuiltPrograms.eventually { FileManager.default.fileExists(atPath: trace) })
        #expect(BuiltPrograms.eventually { Self.isTraced(daemon) })
        try latchkey("passcode", "set", typed: "CANARY-1 words")
        try latchkey("passcode", "change", typed: "CANARY-1 words\nCANARY-2 words\n")
        try latchkey("lock")
        try latchkey("unlock", typed: "CANARY-3 words")
        try latchkey("unlock", typed: "CANARY-2 words")
        try latchkey("set", "seen", typed: "SEEN")
        let own = programs.home + "/own.trace"
        #expect(
            try programs.run(
                "/usr/bin/strace",
                ["-f", "-v", "-s", "100000", "-e", "trace=execve,write,pwrite64,writev,openat", "-o", own]
                    + [BuiltPrograms.latchkey, "unlock"], input: Data("CANARY-2 words".utf8)
            ).status == 0)
        strace.interrupt()
        strace.waitUntilExit()
        let seen = try String(contentsOfFile: trace, encoding: .utf8)
        #expect(seen.contains("recvmsg(") && seen.contains("SEEN"), "the trace shows nothing")
        #expect(!seen.contains("CANARY"))
        #expect(try !String(contentsOfFile: own, encoding: .utf8).contains("CANARY"))
        let left = try programs.shell("grep -rlaE 'CANARY' --exclude='*.out' --exclude='*.in' \"$HOME\" || true").text
        #expect(left.isEmpty, "\(left)")
    }

    private static func isTraced(_ process: Int32) -> Bool {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        return status?.contains(/TracerPid:\s+[1-9]/) == true
    }
}
