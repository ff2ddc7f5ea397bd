import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import PersonPrompt
import Synchronization
import Testing

/// Real pinentries in windows, on an X server without a screen that asks for a cookie,
/// as a desktop's does, and a person who types there.
@Suite(
    .enabled(if: VirtualDisplay.isInstalled, "`make test-peers` installs Xvfb, xdotool and pinentries, and runs these"))
struct GraphicalPromptTests {
    private let display: VirtualDisplay

    init() throws { display = try VirtualDisplay() }

    // MARK: The whole way

    private static let reach: Comment = "the programs are out of this user's reach"

    @Test(.enabled(if: BuiltKeychain.isWithinReach, reach))
    func theValueComesOnceThePasscodeIsTypedIntoTheWindow() throws {
        let keychain = try BuiltKeychain()
        let caller = try keychain.caller("agree", display.environment)
        defer { caller.end() }
        _ = try #require(try display.prompt(), "no prompt")
        try display.type("wrong")
        #expect(try Waiting.eventually { try keychain.door().state().failedAttempts == 1 })
        _ = try #require(try display.prompt(), "it does not ask again")
        try display.type("1234")
        let told = try #require(keychain.terminal.waits(for: "the value was told"), "no value")
        // Nothing of the prompt was on the terminal that the program has as well.
        #expect(told.split(separator: "\r\n").prefix(2) == ["begun", "the value was told"])
        #expect(display.hasNoPrompt())
    }

    @Test(.enabled(if: BuiltKeychain.isWithinReach, reach))
    func theValueDoesNotComeWhereThePersonDismissesTheWindow() throws {
        let keychain = try BuiltKeychain()
        let caller = try keychain.caller("agree", display.environment)
        defer { caller.end() }
        _ = try #require(try display.prompt(), "no prompt")
        try display.press("Escape")
        let end = try #require(keychain.terminal.waits(for: "wrong: "), "no answer")
        #expect(end.contains("-128") && end.contains("dismissed") && !end.contains("the value was told"), "\(end)")
        #expect(display.hasNoPrompt())
    }

    @Test(.enabled(if: BuiltKeychain.isWithinReach, reach))
    func endOfTheCallerTakesTheWindowAway() throws {
        let keychain = try BuiltKeychain()
        let caller = try keychain.caller("agree", display.environment)
        _ = try #require(try display.prompt(), "no prompt")
        caller.end()
        #expect(display.hasNoPrompt())
        #expect(
            Waiting.eventually { ProcessTable.children(of: keychain.processes[0], named: "latchkey-prompt").isEmpty })
    }

    // MARK: Each program

    private static let question = PersonQuestion(
        purpose: .useItem, items: [ShownItem(label: "bank", group: "latchkey")], itemCount: 1, itemsAreBound: true,
        program: "/usr/bin/" + String(repeating: "WM", count: 40), programStrength: .user, programProcess: 42,
        reason: String(repeating: "W", count: 99) + " " + String(repeating: "M m", count: 30))

    private func ask(_ program: String, _ environment: [String: String], _ person: @escaping @Sendable () -> Void)
        throws
        -> (ConversationOutcome, FakeDoor.Record)
    {
        var places = PromptPlaces()
        places.graphicalPrograms = [program]
        places.passwordQuestions = "/nowhere"
        let caller = try Caller(on: nil, environment)
        let door = FakeDoor(Self.question, passcode: "pässword%41 +")
        let end = try EventSignal()
        let process = PromptProcess(door: door, caller: caller.processID, places: places, clock: SystemClock())
        Waiting.meanwhile(person)
        let outcome = try withExtendedLifetime(caller) { try process.run(endedBy: end.descriptor) }
        return (outcome, door.record)
    }

    @Test(arguments: VirtualDisplay.pinentries)
    func eachPinentryIsTypedInto(_ program: String) throws {
        let (outcome, record) = try ask(program, display.environment) { [display] in
            guard let window = try? display.prompt(), !window.isEmpty else { return }
            try? display.type("pässword%41 +")
        }
        #expect(outcome == .agreed, "\(record)")
    }

    /// Where the display manager names no file with the cookie, it is in the home.
    @Test(arguments: VirtualDisplay.pinentries)
    func theCookieIsFoundInTheHome(_ program: String) throws {
        let home = URL(fileURLWithPath: display.cookie).deletingLastPathComponent().path
        let (outcome, _) = try ask(program, ["DISPLAY": display.name, "HOME": home]) { [display] in
            guard let window = try? display.prompt(), !window.isEmpty else { return }
            try? display.press("Escape")
        }
        #expect(outcome == .declined(.userCanceled))
    }

    /// The server turns it away: nobody was asked, and nobody says otherwise.
    @Test(arguments: VirtualDisplay.pinentries)
    func withoutTheCookieNobodyIsAsked(_ program: String) throws {
        let (outcome, _) = try ask(program, ["DISPLAY": display.name]) {}
        guard case .declined(.nobodyToAsk) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    // MARK: Lines

    private func height(_ program: String, of description: String) throws -> Int? {
        let values = display.environment.map { Array("\($0.key)=\($0.value)".utf8) }
        let session = try #require(GraphicalSession(SessionVariables(values), in: PromptPlaces()))
        let end = try EventSignal()
        let screen = Pinentry(.graphical(program, on: session), calledOffBy: [end.descriptor])
        let measured = Mutex<Int?>(nil)
        Waiting.meanwhile { [display] in
            if let window = try? display.prompt(), let height = try? display.height(of: window) {
                measured.withLock { $0 = height }
            }
            end.signal()
        }
        #expect(throws: PromptFailure.calledOff) {
            _ = try screen.ask(
                PromptForm(description: description), until: Deadline(after: .seconds(120), on: SystemClock()))
        }
        return measured.withLock { $0 }
    }

    /// A window that broke a line of others' words would show the rest of it where our
    /// column stands: as high as with a letter in each line, it broke none.
    @Test(arguments: VirtualDisplay.pinentries)
    func noWindowBreaksALineOfOthersWords(_ program: String) throws {
        func foreign(_ width: LineWidth) -> [String] {
            QuestionText(Self.question, repertoire: .unicode, width: width).description
                .split(separator: "\n").map(String.init).filter { $0.contains("| ") }
        }
        let lines = foreign(.window)
        let short = lines.map { $0.prefix(11) + "x" }
        #expect(lines.count > 10)
        let height = try #require(try height(program, of: lines.joined(separator: "\n")))
        #expect(try self.height(program, of: short.joined(separator: "\n")) == height)
        // That it would be seen: GTK breaks what was made for a terminal.
        guard program.hasSuffix("gtk-2") else { return }
        let wide = foreign(.columns(80))
        let shortened = wide.map { $0.prefix(11) + "x" }
        let broken = try #require(try self.height(program, of: wide.joined(separator: "\n")))
        #expect(try #require(try self.height(program, of: shortened.joined(separator: "\n"))) < broken)
    }
}
