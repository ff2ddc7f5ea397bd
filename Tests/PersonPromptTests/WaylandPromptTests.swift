import Displays
import Foundation
import KeychainModel
import KeychainPlatform
import KeychainTestSupport
import PersonPrompt
import Testing

/// A real pinentry in a window of a Wayland compositor that serves no X programs.
@Suite(
    .enabled(
        if: WaylandDisplay.isInstalled && DisplayPrograms.areThere(WaylandDisplay.pinentry),
        "`make test-peers` installs sway, wtype, pinentry-qt and Qt's Wayland platform, and runs these"))
struct WaylandPromptTests {
    private let display: WaylandDisplay

    init() throws { display = try WaylandDisplay() }

    private func ask(
        _ programs: [String] = [WaylandDisplay.pinentry], endedBy ended: EventSignal? = nil,
        _ person: @escaping @Sendable () -> Void
    ) throws -> (ConversationOutcome, FakeDoor.Record) {
        var places = PromptPlaces()
        places.runtimeFolder = display.runtimeFolder
        return try WindowQuestion.ask(programs, with: display.environment, in: places, endedBy: ended, person)
    }

    @Test func thePasscodeIsTypedIntoTheWindow() throws {
        let (outcome, record) = try ask { [display] in
            guard (try? display.hasPrompt()) == true else { return }
            try? display.type(WindowQuestion.passcode)
        }
        #expect(outcome == .agreed, "\(record)")
    }

    @Test func whoDismissesTheWindowHasSaidNo() throws {
        let (outcome, record) = try ask { [display] in
            guard (try? display.hasPrompt()) == true else { return }
            try? display.press("Escape")
        }
        #expect(outcome == .declined(.userCanceled), "\(record)")
    }

    @Test func whoeverEndsThePromptTakesTheWindowAway() throws {
        let end = try EventSignal()
        let (outcome, record) = try ask(endedBy: end) { [display] in
            if (try? display.hasPrompt()) == true { end.signal() }
        }
        #expect(outcome == .declined(.userCanceled), "\(record)")
        #expect(try display.hasNoPrompt())
    }

    /// GTK 2 knows X alone.
    @Test(.enabled(if: DisplayPrograms.areThere("/usr/bin/pinentry-gtk-2"), "pinentry-gtk-2 is not installed"))
    func aProgramForXAloneLeavesItToTheNext() throws {
        let gtk = "/usr/bin/pinentry-gtk-2"
        #expect(WindowQuestion.nobodyWasAsked(try ask([gtk]) {}.0))
        let (outcome, record) = try ask([gtk, WaylandDisplay.pinentry]) { [display] in
            guard (try? display.hasPrompt()) == true else { return }
            try? display.type(WindowQuestion.passcode)
        }
        #expect(outcome == .agreed, "\(record)")
    }

    /// Its socket lies there still, as that of a compositor that crashed.
    @Test func whereTheCompositorHasEndedNobodyIsAsked() throws {
        let folder = try TemporaryDirectory("ended")
        var places = PromptPlaces()
        places.runtimeFolder = try folder.folder("runtime").path
        try UnixSocketFile.make(at: places.runtimeFolder + "/wayland-0")
        let variables = ["XDG_RUNTIME_DIR": places.runtimeFolder, "WAYLAND_DISPLAY": "wayland-0"]
        let (outcome, record) = try WindowQuestion.ask([WaylandDisplay.pinentry], with: variables, in: places) {}
        #expect(WindowQuestion.nobodyWasAsked(outcome), "\(outcome), \(record)")
    }
}
