import Foundation
import KeychainPlatform
import Testing

/// `latchkey lock --stop` with the real programs.
@Suite struct StopEndToEndTests {
    let programs: BuiltPrograms

    init() throws {
        programs = try BuiltPrograms()
        for (name, protection) in [("a", "when-unlocked"), ("b", "after-first-unlock"), ("c", "always")] {
            try latchkey("set", name, typed: "CANARY")
            #expect(try latchkey("edit", name, "--accessible", protection).status == 0)
        }
    }

    @discardableResult
    private func latchkey(_ arguments: String..., typed: String = "") throws -> BuiltPrograms.Outcome {
        try programs.run(BuiltPrograms.latchkey, arguments, input: Data(typed.utf8))
    }

    private var processes: [Int32] { programs.processes("latchkeyd") + programs.processes("latchkey-enclave") }

    /// Which of the items can be read, by the order of their names.
    private func readable() throws -> [Bool] {
        try ["a", "b", "c"].map { try latchkey("get", $0, "").status == 0 }
    }

    @Test func whatStaysOpenAfterTheFirstUnlockClosesToo() throws {
        try latchkey("passcode", "set", typed: "words words")
        try latchkey("lock")
        #expect(try readable() == [false, true, true])
        try latchkey("unlock", typed: "words words")
        let before = processes
        #expect(before.count == 2)
        let outcome = try latchkey("lock", "--stop")
        #expect(outcome.status == 0, "\(outcome.errors)")
        // When it returns they have ended already.
        #expect(processes.isEmpty)
        #expect(try programs.status()["lock"] as? String == "before-first-unlock")
        #expect(try readable() == [false, false, true])
        #expect(Set(processes).isDisjoint(with: before))
        try latchkey("unlock", typed: "words words")
        #expect(try readable() == [true, true, true])
    }

    /// The enclave that was started for a keybag that opens nothing.
    @Test func programsThatCannotOpenTheKeychainEndToo() throws {
        let folder = programs.home + "/data/latchkey/enclave"
        try latchkey("lock", "--stop")
        let kept = try Dictionary(
            uniqueKeysWithValues: ["keybag.0", "keybag.1"].map { name in
                let file = URL(fileURLWithPath: "\(folder)/\(name)")
                let bytes = try Data(contentsOf: file)
                try Data(repeating: 0xA5, count: bytes.count).write(to: file)
                return (file, bytes)
            })
        #expect(try latchkey("get", "a").status == 5)
        let outcome = try latchkey("lock", "--stop")
        #expect(outcome.status == 0 && outcome.errors.contains("cannot open it"), "\(outcome.errors)")
        #expect(processes.isEmpty)
        for (file, bytes) in kept { try bytes.write(to: file) }
        #expect(try latchkey("get", "a").text == "CANARY")
    }

    @Test func itIsLockedAlready() throws {
        try latchkey("passcode", "set", typed: "words words")
        try latchkey("lock")
        #expect(try latchkey("lock", "--stop").status == 0)
        #expect(processes.isEmpty)
        // They are started to be asked, and ended again.
        #expect(try latchkey("lock", "--stop").status == 0)
        #expect(processes.isEmpty)
    }

    /// What it says is what the next program finds.
    @Test func jsonSaysHowItIsAfterwards() throws {
        try latchkey("passcode", "set", typed: "words words")
        try latchkey("unlock", typed: "wrong words")
        let outcome = try latchkey("lock", "--stop", "--json")
        #expect(processes.isEmpty)
        #expect(
            outcome.text == #"{"passcode":true,"lock":"before-first-unlock","recoveryCode":false,"failedAttempts":1,"#
                + #""secondsToNextAttempt":0,"opensByItself":false,"fingerUnlocks":false,"fingerOpensNow":false,"lockAfterSeconds":null,"#
                + #""locksOnSleep":false,"locksOnScreenLock":false,"effacement":"file","effacementFault":null,"#
                + #""effacementsLeft":[],"counter":null,"counterFault":null,"countersLeft":[],"openClasses":["dk","dku"]}"#
                + "\n")
        let status = try programs.status()
        #expect(status["lock"] as? String == "before-first-unlock" && status["failedAttempts"] as? Int == 1)
        #expect(status["openClasses"] as? [String] == ["dk", "dku"])
    }

    /// What doctor advises where they run without what protects them holds for everybody.
    @Test func withoutAPasscodeItsProgramsEndAllTheSame() throws {
        #expect(try latchkey("lock").status == 2 && processes.count == 2)
        let outcome = try latchkey("lock", "--stop", "--json")
        #expect(outcome.status == 0 && processes.isEmpty, "\(outcome.errors)")
        #expect(outcome.text.contains(#""passcode":false,"lock":"unlocked""#), "\(outcome.text)")
        #expect(try readable() == [true, true, true])
        #expect(try programs.status()["lock"] as? String == "unlocked")
    }

    /// A person who wants it closed does not want to hear that it does not answer.
    @Test(arguments: ["latchkeyd", "latchkey-enclave"])
    func whatDoesNotAnswerIsKilled(_ program: String) throws {
        try latchkey("set", "kept", typed: "CANARY")
        try latchkey("passcode", "set", typed: "words words")
        let stopped = try #require(programs.processes(program).first)
        #expect(kill(stopped, SIGSTOP) == 0)
        let outcome = try latchkey("lock", "--stop")
        #expect(outcome.status == 0 && outcome.errors.contains("did not answer"), "\(outcome.errors)")
        #expect(processes.isEmpty)
        #expect(try programs.status()["lock"] as? String == "before-first-unlock")
        try latchkey("unlock", typed: "words words")
        #expect(try latchkey("get", "kept").text == "CANARY")
    }

    @Test func aTemporaryKeychainEndsWithItsCommandAlone() throws {
        let outcome = try programs.run(
            BuiltPrograms.latchkey,
            ["temp", "--passcode-fd", "0", "--", "sh", "-c", "latchkey lock --stop; echo $?; latchkey status --json"],
            input: Data("0000".utf8))
        #expect(outcome.text.hasPrefix("2\n") && outcome.errors.contains("temporary keychain"), "\(outcome.errors)")
        #expect(outcome.text.contains(#""lock":"unlocked""#))
    }

    /// Who follows the lock hears of it, and of the next daemon.
    @Test func whoFollowsHearsOfIt() throws {
        try latchkey("passcode", "set", typed: "words words")
        let following = try programs.shell(
            """
            mkfifo $HOME/f; latchkey status --follow > $HOME/f & exec 3< $HOME/f
            read a <&3; latchkey lock --stop; read b <&3; read c <&3; printf '%s\\n' "$a" "$b" "$c"; kill $!
            """)
        let states = following.text.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
        #expect(states == ["unlocked", "locked", "before first unlock"], "\(following.text) \(following.errors)")
    }
}
