import KeychainModel
import KeychainPlatform
import KeychainProtocol
import LatchkeyCommand
import Synchronization
import Testing

/// passcode, recovery, lock and unlock against an enclave of the test's.
@Suite struct PersonCommandTests {
    private func run(
        _ arguments: String..., person: ScriptedPerson, console: RecordingConsole = RecordingConsole()
    ) -> CommandRun {
        let keychain = FakeKeychain()
        keychain.state.withLock { $0.person = person }
        return CommandRun(list: arguments, on: keychain, console: console) { $0.personDoor = { _ in .success(person) } }
    }

    private static func piped(_ text: String) -> RecordingConsole { RecordingConsole(input: Array(text.utf8)) }

    @Test func firstPasscodeIsTypedTwiceAndExplained() {
        let person = ScriptedPerson()
        let run = run("passcode", "set", person: person, console: RecordingConsole(terminal: true, typed: "words"))
        #expect(run.status == .done && person.now.passcode == "words")
        #expect(run.notes[0].contains("opens only with the passcode") && run.notes[0].contains("forget it"))
        #expect(run.lastNote.contains("latchkey recovery make") && run.text.isEmpty)
        #expect(run.console.prompts == ["New passcode: ", "Once more: "])
    }

    @Test func aSecondOneIsRefusedBeforeAnythingIsTyped() {
        let person = ScriptedPerson(passcode: "words")
        let run = run("passcode", "set", person: person, console: RecordingConsole(terminal: true, typed: "x"))
        #expect(run.status == .usage && run.console.prompts.isEmpty && person.now.calls.isEmpty)
        #expect(run.notes[0].contains("passcode change"))
    }

    @Test func linesThatArePipedInAreTakenInOrder() {
        let person = ScriptedPerson(passcode: "old words")
        let run = run("passcode", "change", "--json", person: person, console: Self.piped("old words\nnew words\n"))
        #expect(run.status == .done && person.now.passcode == "new words" && run.notes.isEmpty)
        #expect(
            run.text == #"{"passcode":true,"lock":"unlocked","recoveryCode":false,"failedAttempts":0,"#
                + #""secondsToNextAttempt":0,"opensByItself":false,"fingerUnlocks":false,"fingerOpensNow":false,"lockAfterSeconds":null,"#
                + #""locksOnSleep":false,"locksOnScreenLock":false,"effacement":"file","effacementFault":null,"#
                + #""effacementsLeft":[],"counter":null,"counterFault":null,"countersLeft":[],"openClasses":["ak","ck","dk"]}"#
                + "\n")
    }

    @Test func aLineThatIsMissingChangesNothing() {
        let person = ScriptedPerson(passcode: "old words")
        #expect(run("passcode", "change", person: person, console: Self.piped("old words")).status == .usage)
        #expect(person.now.passcode == "old words" && person.now.calls.isEmpty)
    }

    @Test func whatCannotBeLockedIsNotSaidToBeLocked() {
        let person = ScriptedPerson()
        let run = CommandRun(list: ["lock"], on: keychain(of: person)) { $0.personDoor = { _ in .success(person) } }
        #expect(run.status == .usage && person.now.calls.isEmpty)
        #expect(run.notes.first?.contains("the keychain is always open") == true)
    }

    @Test(arguments: [["passcode", "set"], ["unlock"], ["passcode", "change"], ["recovery", "remove"]])
    func nobodyToAskIsStatusThree(_ arguments: [String]) {
        let person = ScriptedPerson(
            passcode: arguments == ["passcode", "set"] ? nil : "words", code: ScriptedPerson.code)
        let run = CommandRun(list: arguments, on: keychain(of: person)) { $0.personDoor = { _ in .success(person) } }
        #expect(run.status == .locked && person.now.calls.isEmpty, "\(arguments)")
        #expect(run.lastNote.contains("pipe the passcode in"))
    }

    @Test(arguments: [
        ["unlock"], ["passcode", "change"], ["passcode", "remove"], ["passcode", "reset"], ["recovery", "remove"],
    ])
    func withoutAPasscodeThereIsNothingToDo(_ arguments: [String]) {
        let person = ScriptedPerson()
        let run = CommandRun(list: arguments, on: keychain(of: person)) { $0.personDoor = { _ in .success(person) } }
        #expect(run.status == .usage && person.now.calls.isEmpty, "\(arguments)")
        #expect(run.lastNote.contains("latchkey passcode set"))
    }

    private func keychain(of person: ScriptedPerson) -> FakeKeychain {
        let keychain = FakeKeychain()
        keychain.state.withLock { $0.person = person }
        return keychain
    }

    @Test(arguments: ["remove", "reset"])
    func whatIsDestroyedIsNamedAndAgreedTo(_ verb: String) {
        let person = ScriptedPerson(passcode: "words", code: ScriptedPerson.code)
        let code = ScriptedPerson.code
        let refused = run("passcode", verb, person: person, console: RecordingConsole(terminal: true, typed: "y"))
        #expect(refused.status == .usage && person.now.calls.isEmpty)
        #expect(refused.console.prompts[0].contains("WhenPasscodeSet"))
        let unasked = run("passcode", verb, person: person, console: Self.piped("words\n"))
        #expect(unasked.status == .usage && person.now.calls.isEmpty && unasked.lastNote.contains("--yes"))
        let input = verb == "remove" ? "words\n" : "\(code)\nnew words\n"
        #expect(run("passcode", verb, "--yes", person: person, console: Self.piped(input)).status == .done)
        #expect(person.now.passcode == (verb == "remove" ? nil : "new words"))
    }

    @Test func resetWithoutACodeSaysWhatIsLeft() {
        let run = run("passcode", "reset", "--yes", person: ScriptedPerson(passcode: "words"))
        #expect(run.status == .locked && run.lastNote.contains("latchkey erase"))
    }

    @Test func lockAndUnlock() {
        let person = ScriptedPerson(passcode: "words")
        let locked = run("lock", "--json", person: person)
        #expect(locked.status == .done && locked.text.contains(#""lock":"locked""#))
        let unlocked = run("unlock", person: person, console: Self.piped("words"))
        #expect(unlocked.status == .done && !person.now.isLocked && unlocked.notes.isEmpty)
    }

    @Test func aPersonMayTypeThreeTimes() {
        let person = ScriptedPerson(passcode: "words", isLocked: true)
        let third = RecordingConsole(terminal: true, typedFirst: ["a", "b", "words"])
        #expect(run("unlock", person: person, console: third).status == .done)
        #expect(third.notes == ["That is not right. Try again.", "That is not right. Try again.", "Unlocked."])
        let never = run("unlock", person: person, console: RecordingConsole(terminal: true, typed: "x"))
        #expect(never.status == .locked && person.now.failed == 3)
    }

    @Test func aScriptHasOneAttempt() {
        let person = ScriptedPerson(passcode: "words", isLocked: true)
        let run = run("unlock", person: person, console: Self.piped("x\nwords\n"))
        #expect(run.status == .locked && person.now.failed == 1 && person.now.isLocked)
    }

    @Test func anAttemptThatComesTooEarlyIsNotRepeated() {
        let person = ScriptedPerson(passcode: "words", isLocked: true, delay: 60)
        let run = run("unlock", person: person, console: RecordingConsole(terminal: true, typed: "words"))
        #expect(run.status == .locked && run.console.prompts.count == 1)
        #expect(run.notes[0].contains("60 seconds") && run.lastNote.contains("Wait"))
    }

    @Test func theRecoveryCodeOpens() {
        let person = ScriptedPerson(passcode: "words", code: ScriptedPerson.code, isLocked: true)
        #expect(run("unlock", "--recovery", person: person, console: Self.piped("abc")).status == .usage)
        #expect(
            run("unlock", "--recovery", person: person, console: Self.piped(ScriptedPerson.code)).status == .done)
        #expect(run("unlock", "--recovery", person: ScriptedPerson(passcode: "x")).status == .locked)
    }

    @Test func aRecoveryCodeIsShownOnceAndTypedBack() {
        let person = ScriptedPerson(passcode: "words")
        let console = RecordingConsole(
            terminal: true, typedFirst: ["words", "0000-1111-2222-3333-4444-5555-0000", ScriptedPerson.code])
        let run = run("recovery", "make", person: person, console: console)
        #expect(run.status == .done && person.now.code == ScriptedPerson.code)
        #expect(run.text.split(separator: ScriptedPerson.code, omittingEmptySubsequences: false).count == 2)
        #expect(!run.notes.joined().contains(ScriptedPerson.code))
        #expect(console.prompts == ["Passcode: ", "Type it back: ", "Type it back: "])
    }

    /// Four columns before the code of 34, an empty line, two prompts of 14 columns and 31
    /// of what is said between them.
    @Test(arguments: [(80, 5), (38, 5), (37, 6), (31, 6), (30, 7), (20, 7), (10, 13), (nil, nil)] as [(Int?, Int?)])
    func theCodeIsTakenOffTheScreen(columns: Int?, rows: Int?) {
        let console = RecordingConsole(
            terminal: true, typedFirst: ["words", "0000-1111-2222-3333-4444-5555-0000", ScriptedPerson.code],
            columns: columns)
        let run = run("recovery", "make", person: ScriptedPerson(passcode: "words"), console: console)
        #expect(run.status == .done)
        if let rows { #expect(run.text.hasSuffix("\u{1b}[\(rows)A\u{1b}[J"), "\(run.text.debugDescription)") }
        // Else a person is told to.
        #expect(run.text.contains("\u{1b}") == (rows != nil))
        #expect(run.notes.contains { $0.contains("clear it") } == (rows == nil))
    }

    @Test func aCodeThatIsNotTypedBackOpensNothing() {
        let person = ScriptedPerson(passcode: "words")
        let run = run(
            "recovery", "make", person: person,
            console: RecordingConsole(terminal: true, typed: "no", typedFirst: ["words"]))
        #expect(run.status == .usage && person.now.code == nil)
    }

    @Test func aRecoveryCodeGoesToNoPipe() {
        let person = ScriptedPerson(passcode: "words")
        for console in [
            Self.piped("words"), RecordingConsole(inputTerminal: true, errorTerminal: true, typed: "words"),
        ] {
            let run = run("recovery", "make", person: person, console: console)
            #expect(run.status == .locked && run.text.isEmpty && person.now.calls.isEmpty)
        }
    }

    @Test func theRecoveryCodeIsRemoved() {
        let person = ScriptedPerson(passcode: "words", code: ScriptedPerson.code)
        #expect(run("recovery", "remove", person: person, console: Self.piped("words")).status == .done)
        #expect(person.now.code == nil)
        #expect(run("recovery", "remove", person: person, console: Self.piped("words")).status == .noMatch)
    }

    @Test func aSecretThatWasGivenAsAnArgumentIsNotRepeated() {
        for arguments in [
            ["unlock", "hunter2"], ["passcode", "set", "hunter2"], ["passcode", "set", "--new=hunter2"],
        ] {
            let run = CommandRun(list: arguments, on: FakeKeychain())
            #expect(run.status == .usage && !run.notes.joined().contains("hunter2"), "\(arguments)")
        }
    }

    @Test func erasingAsksTwice() {
        let console = RecordingConsole(terminal: true, typed: "no", typedFirst: ["erase"])
        let keychain = FakeKeychain()
        let run = CommandRun("erase", "--data-dir", "/tmp/none", on: keychain, console: console)
        #expect(run.status == .usage && console.prompts.count == 2 && run.lastNote.contains("destroy"))
        #expect(CommandRun("erase", "--data-dir", "/tmp/none", on: keychain).lastNote.contains("--yes"))
        #expect(CommandRun("erase", "--yes", on: keychain).status == .usage)
    }

    @Test func statusSaysWhetherItIsOpen() {
        let person = ScriptedPerson(passcode: "words", isLocked: true, delay: 60)
        person.held.withLock { $0.failed = 6 }
        let text = run("status", person: person).text
        #expect(text.contains("Lock          locked\n") && text.contains("Recovery code none\n"))
        #expect(text.contains("Attempts      6 failed, the next is possible in 60 s\n"))
        #expect(text.contains("opens only with your passcode") && text.contains("It is locked now"))
        let open = run("status", "--json", person: ScriptedPerson(passcode: "words")).text
        #expect(open.contains(#""passcode":true,"lock":"unlocked","recoveryCode":false"#))
        #expect(open.contains("It is unlocked now, until `latchkey lock`"))
    }

    /// What the first `set` on a terminal says changes with the first passcode.
    @Test(arguments: [nil, "words"])
    func theFirstSecretIsToldWhatProtectsIt(_ passcode: String?) {
        let run = run(
            "set", "mail", person: ScriptedPerson(passcode: passcode),
            console: RecordingConsole(terminal: true, typed: "pw"))
        #expect(run.lastNote.contains(passcode == nil ? "whoever gets a copy" : "opens only with your passcode"))
        #expect(run.lastNote.contains(passcode == nil ? "While it is open" : "It is unlocked now"))
    }

    // MARK: An enclave that is not to be reached

    private func unlock(inData folder: String) -> CommandRun {
        let keychain = keychain(of: ScriptedPerson(passcode: "words"))
        return CommandRun("unlock", "--data-dir", folder, on: keychain, console: Self.piped("words"))
    }

    /// As an enclave has it that says so.
    private static func lock(_ enclave: PrivateDirectory, saying run: String) throws -> FileLock {
        let lock = try #require(try FileLock.take(enclave.openFile("lock", creating: true)))
        try lock.write(EnclaveRendezvous(processID: 1, runDirectory: run).encoded)
        return lock
    }

    @Test func anEnclaveThatIsNotThereIsSaid() throws {
        let run = unlock(inData: "/nonexistent/data")
        #expect(run.status == .noMatch && run.notes[0].contains("/nonexistent/data yet"))
        let folder = try TemporaryFolder.make(in: "/tmp", prefix: "lk-person-")
        let enclave = try PrivateDirectory("\(folder.path)/enclave", creating: true)
        let lock = try Self.lock(enclave, saying: "/nonexistent/run")
        defer { lock.release() }
        let gone = unlock(inData: folder.path)
        #expect(gone.status == .unavailable && gone.notes[0].contains("/nonexistent/run"), "\(gone.notes)")
    }

    /// /usr is another user's, or open to others, for whoever runs the tests.
    @Test func anEnclaveInAFolderThatIsNotOursAloneIsSentNothing() throws {
        let folder = try TemporaryFolder.make(in: "/tmp", prefix: "lk-person-")
        let enclave = try PrivateDirectory("\(folder.path)/enclave", creating: true)
        let lock = try Self.lock(enclave, saying: "/usr")
        defer { lock.release() }
        let run = unlock(inData: folder.path)
        #expect(run.status == .unavailable && run.notes[0].contains("/usr"), "\(run.notes)")
    }

    @Test func whileItIsLockedOneLineSaysWhatToDo() {
        let keychain = FakeKeychain()
        keychain.fail(.interactionNotAllowed, .locked(class: "ak"))
        #expect(
            CommandRun("get", "mail", on: keychain).notes
                == ["latchkey: the keychain is locked; `latchkey unlock` opens it."])
    }
}
