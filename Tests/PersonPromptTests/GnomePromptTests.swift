import Displays
import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import PersonPrompt
import Testing

/// pinentry-gnome3, which has no window of its own: it asks for GNOME's prompter on the
/// session's bus.
@Suite(
    .enabled(
        if: VirtualDisplay.isInstalled && SessionBus.isInstalled
            && DisplayPrograms.areThere(SessionBus.pinentry, SessionBus.gnomePrompter),
        "`make test-peers` installs Xvfb, a bus, pinentry-gnome3 and gcr, and runs these"))
struct GnomePromptTests {
    private let display: VirtualDisplay

    init() throws { display = try VirtualDisplay() }

    private func session(_ prompter: String?) throws -> SessionBus {
        try SessionBus(prompter: prompter, environment: display.environment)
    }

    private func ask(
        in session: SessionBus, with programs: [String] = [SessionBus.pinentry],
        on clock: any KeychainClock = SystemClock(), endedBy ended: EventSignal? = nil,
        _ person: @escaping @Sendable () -> Void
    ) throws -> (ConversationOutcome, FakeDoor.Record) {
        var places = PromptPlaces()
        places.runtimeFolder = session.runtimeFolder
        let variables = display.environment.merging(session.environment) { first, _ in first }
        return try WindowQuestion.ask(programs, with: variables, in: places, on: clock, endedBy: ended, person)
    }

    // MARK: GNOME's prompter

    @Test func thePasscodeIsTypedIntoItsWindow() throws {
        let (outcome, record) = try ask(in: session(SessionBus.gnomePrompter)) { [display] in
            guard let window = try? display.prompt(isChosen: true), !window.isEmpty else { return }
            try? display.type(WindowQuestion.passcode)
        }
        #expect(outcome == .agreed, "\(record)")
    }

    @Test func whoDismissesItsWindowHasSaidNo() throws {
        let (outcome, record) = try ask(in: session(SessionBus.gnomePrompter)) { [display] in
            guard let window = try? display.prompt(isChosen: true), !window.isEmpty else { return }
            try? display.press("Escape")
        }
        #expect(outcome == .declined(.userCanceled), "\(record)")
    }

    /// The window is another program's: it has to learn that nobody waits any more.
    @Test func whoeverEndsThePromptTakesItsWindowAway() throws {
        let session = try session(SessionBus.gnomePrompter)
        let end = try EventSignal()
        let (outcome, record) = try ask(in: session, endedBy: end) { [display] in
            if let window = try? display.prompt(isChosen: true), !window.isEmpty { end.signal() }
        }
        #expect(outcome == .declined(.userCanceled), "\(record)")
        #expect(withExtendedLifetime(session) { display.hasNoPrompt() })
    }

    /// As GraphicalPromptTests has it of the others' windows.
    @Test func itsWindowBreaksNoLineOfOthersWords() throws {
        let session = try session(SessionBus.gnomePrompter)
        var places = PromptPlaces()
        places.runtimeFolder = session.runtimeFolder
        let variables = display.environment.merging(session.environment) { first, _ in first }
        func height(of lines: [String]) throws -> Int? {
            let height = try WindowQuestion.height(
                SessionBus.pinentry, of: lines.joined(separator: "\n"), with: variables, in: places
            ) { [display] in try display.prompt(isChosen: true).flatMap { try display.height(of: $0) } }
            // Its prompter goes on with the next one.
            #expect(display.hasNoPrompt())
            return height
        }
        func shortened(_ lines: [String]) -> [String] { lines.map { $0.prefix(11) + "x" } }
        let lines = WindowQuestion.foreignLines(.window)
        let whole = try #require(try height(of: lines))
        #expect(try height(of: shortened(lines)) == whole)
        // That it would be seen.
        let wide = WindowQuestion.foreignLines(.columns(80)).map { $0 + String(repeating: "W", count: 80) }
        let broken = try #require(try height(of: wide))
        #expect(try #require(try height(of: shortened(wide))) < broken)
    }

    // MARK: Without one

    @Test(arguments: [nil, "/bin/false"])
    func whereNoneCanBeStartedNobodyIsAsked(_ prompter: String?) throws {
        let (outcome, record) = try ask(in: session(prompter)) {}
        #expect(WindowQuestion.nobodyWasAsked(outcome), "\(outcome), \(record)")
    }

    @Test(
        .enabled(if: !VirtualDisplay.pinentries.isEmpty, "there is no other"), arguments: [nil, "/bin/false"])
    func whereNoneCanBeStartedAnotherProgramAsks(_ prompter: String?) throws {
        let (outcome, record) = try ask(in: session(prompter), with: [SessionBus.pinentry] + VirtualDisplay.pinentries)
        { [display] in
            guard let window = try? display.prompt(), !window.isEmpty else { return }
            try? display.type(WindowQuestion.passcode)
        }
        #expect(outcome == .agreed, "\(record)")
    }

    @Test func withoutABusNobodyIsAsked() throws {
        let (outcome, record) = try WindowQuestion.ask([SessionBus.pinentry], with: display.environment) {}
        #expect(WindowQuestion.nobodyWasAsked(outcome), "\(outcome), \(record)")
    }

    /// One that is started and never comes to the bus.
    @Test func onePrompterThatHangsEndsWithTheTimeOfTheQuestion() throws {
        let folder = try TemporaryDirectory("prompter")
        let script = folder.path("prompter")
        // It goes when the bus does.
        try Script.write("touch \(folder.path("begun"))\nwhile kill -0 $PPID; do sleep 0.1; done", to: script)
        let clock = ManualClock()
        clock.advanceLater(by: .seconds(WindowQuestion.question.secondsLeft + 1)) {
            FileManager.default.fileExists(atPath: folder.path("begun"))
        }
        let (outcome, record) = try ask(in: session(script), on: clock) {}
        #expect(outcome == .declined(.promptTimedOut), "\(record)")
    }
}
