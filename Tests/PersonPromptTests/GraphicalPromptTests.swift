import Displays
import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import PersonPrompt
import Testing

/// Real pinentries in windows, on an X server without a screen that asks for a cookie,
/// as a desktop's does, and a person who types there.
@Suite(
    .enabled(
        if: VirtualDisplay.isInstalled && !VirtualDisplay.pinentries.isEmpty,
        "`make test-peers` installs Xvfb, xdotool and pinentries, and runs these"))
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

    @Test(arguments: VirtualDisplay.pinentries)
    func eachPinentryIsTypedInto(_ program: String) throws {
        let (outcome, record) = try WindowQuestion.ask([program], with: display.environment) { [display] in
            guard let window = try? display.prompt(), !window.isEmpty else { return }
            try? display.type(WindowQuestion.passcode)
        }
        #expect(outcome == .agreed, "\(record)")
    }

    /// Where the display manager names no file with the cookie, it is in the home.
    @Test(arguments: VirtualDisplay.pinentries)
    func theCookieIsFoundInTheHome(_ program: String) throws {
        let home = URL(fileURLWithPath: display.cookie).deletingLastPathComponent().path
        let variables = ["DISPLAY": display.name, "HOME": home]
        let (outcome, _) = try WindowQuestion.ask([program], with: variables) { [display] in
            guard let window = try? display.prompt(), !window.isEmpty else { return }
            try? display.press("Escape")
        }
        #expect(outcome == .declined(.userCanceled))
    }

    /// The server turns it away: nobody was asked, and nobody says otherwise.
    @Test(arguments: VirtualDisplay.pinentries)
    func withoutTheCookieNobodyIsAsked(_ program: String) throws {
        let (outcome, _) = try WindowQuestion.ask([program], with: ["DISPLAY": display.name]) {}
        #expect(WindowQuestion.nobodyWasAsked(outcome), "\(outcome)")
    }

    // MARK: Lines

    private func height(_ program: String, of description: String) throws -> Int? {
        try WindowQuestion.height(program, of: description, with: display.environment) { [display] in
            try display.prompt().flatMap { try display.height(of: $0) }
        }
    }

    /// A window that broke a line of others' words would show the rest of it where our
    /// column stands: as high as with a letter in each line, it broke none.
    @Test(arguments: VirtualDisplay.pinentries)
    func noWindowBreaksALineOfOthersWords(_ program: String) throws {
        let lines = WindowQuestion.foreignLines(.window)
        let short = lines.map { $0.prefix(11) + "x" }
        #expect(lines.count > 10)
        let height = try #require(try height(program, of: lines.joined(separator: "\n")))
        #expect(try self.height(program, of: short.joined(separator: "\n")) == height)
        // That it would be seen: GTK breaks what was made for a terminal.
        guard program.hasSuffix("gtk-2") else { return }
        let wide = WindowQuestion.foreignLines(.columns(80))
        let shortened = wide.map { $0.prefix(11) + "x" }
        let broken = try #require(try self.height(program, of: wide.joined(separator: "\n")))
        #expect(try #require(try self.height(program, of: shortened.joined(separator: "\n"))) < broken)
    }
}
