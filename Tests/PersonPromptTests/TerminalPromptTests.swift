import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import PersonPrompt
import Testing

/// The whole of what `latchkey-prompt` does, with the real pinentry programs on the
/// terminal of a real process.
@Suite struct TerminalPromptTests {
    private let terminal: PseudoTerminal
    private let question = PersonQuestion(
        purpose: .useItem, items: [ShownItem(label: "mail", group: "exe./usr/bin/git")], itemCount: 1,
        itemsAreBound: true, program: "/usr/bin/git",
        programStrength: .user, programProcess: 77, reason: "fetching mail", secondsLeft: 60)

    init() throws { terminal = try PseudoTerminal() }

    private func places(_ program: String) -> PromptPlaces {
        var places = PromptPlaces()
        places.terminalPrograms = ["/usr/bin/pinentry-\(program)"]
        places.graphicalPrograms = []
        return places
    }

    private func run(
        _ door: FakeDoor, for caller: Caller, _ program: String = "tty", clock: any KeychainClock = SystemClock()
    ) throws -> ConversationOutcome {
        let end = try EventSignal()
        return try PromptProcess(door: door, caller: caller.processID, places: places(program), clock: clock)
            .run(endedBy: end.descriptor)
    }

    @Test func passcodeIsTypedOnTheCallersTerminal() throws {
        let (door, caller) = (FakeDoor(question), try Caller(on: terminal, ["LANG": "C.UTF-8"]))
        let terminal = terminal
        Waiting.meanwhile {
            guard let shown = terminal.waits(for: "Passcode:") else { return }
            #expect(shown.contains("Item     | “mail”") && shown.contains("It says  | “fetching mail”"))
            #expect(!terminal.echoes)
            terminal.type("wrong\n")
            guard let again = terminal.waits(for: "Passcode:") else { return }
            #expect(again.contains("That is not the passcode. Try again.") && !again.contains("wrong\r"))
            terminal.type("right\n")
        }
        let outcome = try run(door, for: caller)
        #expect(outcome == .agreed)
        #expect(door.record.attempts == [Array("wrong".utf8), Array("right".utf8)])
        #expect(terminal.echoes && !terminal.shown().contains("right"))
    }

    @Test func cursesDrawsAndPutsTheTerminalBack() throws {
        let (door, caller) = (FakeDoor(question), try Caller(on: terminal, ["LANG": "C.UTF-8", "TERM": "xterm"]))
        let terminal = terminal
        Waiting.meanwhile {
            guard let shown = terminal.waits(for: "<Cancel>") else { return }
            #expect(shown.contains("mail") && shown.contains("fetching") && shown.contains("<Allow>"))
            terminal.type("right\r")
        }
        let outcome = try run(door, for: caller, "curses")
        #expect(outcome == .agreed)
        #expect(terminal.echoes)
    }

    /// Emacs's shell and tasks of editors: what is drawn cannot be read there.
    @Test func whereNoCursorIsMovedItAsksInLines() throws {
        let (door, caller) = (FakeDoor(question), try Caller(on: terminal, ["LANG": "C.UTF-8", "TERM": "dumb"]))
        let terminal = terminal
        Waiting.meanwhile {
            guard let shown = terminal.waits(for: "Passcode:") else { return }
            #expect(shown.contains("mail") && !shown.contains("<Cancel>") && !shown.contains("\u{1B}"))
            #expect(!terminal.echoes)
            terminal.type("right\n")
        }
        var places = places("curses")
        places.terminalPrograms += ["/usr/bin/pinentry", "/usr/bin/pinentry-tty"]
        let end = try EventSignal()
        let process = PromptProcess(door: door, caller: caller.processID, places: places, clock: SystemClock())
        let outcome = try process.run(endedBy: end.descriptor)
        #expect(outcome == .agreed)
        #expect(terminal.echoes && !terminal.shown().contains("right"))
    }

    @Test func whereNoCursorIsMovedNothingIsDrawn() throws {
        let (door, caller) = (FakeDoor(question), try Caller(on: terminal, ["TERM": "dumb"]))
        let outcome = try run(door, for: caller, "curses")
        #expect(nobody(outcome).contains("pinentry-tty"))
        #expect(terminal.shown().isEmpty)
    }

    @Test func endOfInputIsACancel() throws {
        let (door, caller) = (FakeDoor(question), try Caller(on: terminal))
        let terminal = terminal
        Waiting.meanwhile {
            _ = terminal.waits(for: "Passcode:")
            terminal.type("\u{4}")
        }
        #expect(try run(door, for: caller) == .declined(.userCanceled))
    }

    @Test(arguments: ["tty", "curses"])
    func endOfTheCallerEndsThePromptAndRestoresTheTerminal(_ program: String) throws {
        // The shell stays, as it does on a person's terminal.
        let script = "/bin/sh -c 'echo $$ >&3; exec sleep 1000'; exec sleep 1000"
        let (door, caller) = (FakeDoor(question), try Caller(on: terminal, script: script, ["TERM": "xterm"]))
        let terminal = terminal
        Waiting.meanwhile {
            _ = terminal.waits(for: "mail")
            _ = Waiting.eventually { !terminal.echoes }
            terminal.type("half a pass")
            kill(caller.processID, SIGKILL)
        }
        #expect(try run(door, for: caller, program) == .declined(.userCanceled))
        #expect(terminal.echoes)
        // Its other screen is left (xterm's rmcup).
        if program == "curses" { #expect(terminal.waits(for: "\u{1b}[?1049l") != nil) }
        // What was typed so far is no command of the shell's.
        terminal.type("\n")
        #expect(terminal.waitsForInput() == "\n")
    }

    @Test func nobodyTypesInTime() throws {
        let (door, caller, clock) = (FakeDoor(question), try Caller(on: terminal), ManualClock())
        let terminal = terminal
        clock.advanceLater(by: .seconds(61)) { !terminal.echoes }
        #expect(try run(door, for: caller, clock: clock) == .declined(.promptTimedOut))
        #expect(terminal.echoes)
    }

    @Test func promptsOnOneTerminalWaitForEachOther() throws {
        let (door, caller, clock) = (FakeDoor(question), try Caller(on: terminal), ManualClock())
        let other = try TerminalDevice(FilePath(terminal.path))
        let claim = try other.claim(until: Deadline(after: .seconds(60), on: SystemClock()))
        clock.advanceLater(by: .seconds(61))
        let outcome = try run(door, for: caller, clock: clock)
        #expect(outcome == .declined(.promptTimedOut) && terminal.shown().isEmpty)
        withExtendedLifetime(claim) {}
    }

    private func nobody(_ outcome: ConversationOutcome) -> String {
        guard case .declined(.nobodyToAsk(let why)) = outcome else { return "\(outcome)" }
        return why
    }

    @Test func callerInTheBackgroundIsNotAskedFor() throws {
        // The shell of a person's terminal starts jobs in groups of their own.
        let caller = try Caller(on: terminal, script: "set -m; sleep 1000 & echo $! >&3; wait")
        let door = FakeDoor(question)
        #expect(try nobody(run(door, for: caller)) == "it runs in the background of its terminal")
        #expect(!terminal.shown().contains("mail") && terminal.echoes)
    }

    @Test func callerWithoutATerminalIsNotAskedFor() throws {
        let door = FakeDoor(question)
        #expect(
            try nobody(run(door, for: try Caller(on: nil, script: "echo $$ >&3; sleep 1000"))).contains(
                "neither a display nor"))
        #expect(door.record.declined.count == 1)
    }

    @Test func callerThatHasEndedIsNotAskedFor() throws {
        let (door, caller) = (FakeDoor(question), try Caller(on: terminal))
        caller.end()
        _ = Waiting.eventually { kill(caller.processID, 0) != 0 }
        #expect(try nobody(run(door, for: caller)) == "the program that asked has ended")
    }

    @Test func programThatIsNotThereIsSaid() throws {
        let door = FakeDoor(question)
        #expect(
            try nobody(run(door, for: try Caller(on: terminal), "nowhere")).contains(
                "no program that asks is installed"))
    }

    @Test func windowThatIsTooSmallLeavesItToTheNextProgram() throws {
        let small = try PseudoTerminal(columns: 30, rows: 5)
        let (door, caller) = (FakeDoor(question), try Caller(on: small, ["LANG": "C.UTF-8"]))
        Waiting.meanwhile {
            _ = small.waits(for: "Passcode:")
            small.type("right\n")
        }
        var both = PromptPlaces()
        both.graphicalPrograms = []
        let end = try EventSignal()
        let process = PromptProcess(door: door, caller: caller.processID, places: both, clock: SystemClock())
        let outcome = try withExtendedLifetime(caller) { try process.run(endedBy: end.descriptor) }
        #expect(outcome == .agreed)
    }
}
