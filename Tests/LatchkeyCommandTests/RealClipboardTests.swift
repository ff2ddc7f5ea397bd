import Displays
import Foundation
import Testing

/// `get --clip` of the real programs on real displays, with the programs that people
/// have for their clipboards.
@Suite(
    .enabled(
        if: VirtualDisplay.isInstalled && WaylandDisplay.isInstalled && Desktop.programsAreThere,
        "`make test-peers` installs Xvfb, sway, xclip, xsel and wl-clipboard, and runs these"))
struct RealClipboardTests {
    let programs: BuiltPrograms

    init() throws { programs = try BuiltPrograms() }

    private func store(_ secret: Data, as name: String = "mail") throws {
        #expect(try programs.latchkey("set", name, "--raw", input: secret).status == 0)
    }

    /// Runs apart from any terminal of whoever runs the tests.
    private func get(_ option: String, _ desktop: Desktop, _ name: String = "mail") throws -> BuiltPrograms.Outcome {
        try programs.run(
            "/usr/bin/setsid", ["-w", BuiltPrograms.latchkey, "get", name, option], changing: desktop.variables)
    }

    private struct AtWork {
        let process: Int32
        let line: String
        let environment: String
    }

    /// The processes of this test that wait to clear a clipboard, and those that keep it.
    private func processes(_ words: String...) -> [AtWork] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        return all.compactMap { process in
            guard let environment = read(process, "environ"), environment.contains("HOME=\(programs.home)"),
                let line = read(process, "cmdline"), words.contains(where: { line.contains($0) })
            else { return nil }
            return AtWork(process: process, line: line, environment: environment)
        }
    }

    private func read(_ process: Int32, _ name: String) -> String? {
        FileManager.default.contents(atPath: "/proc/\(process)/\(name)").map { String(decoding: $0, as: UTF8.self) }
    }

    private func endClearing() {
        for clearing in processes("__clear-clipboard") { kill(clearing.process, SIGKILL) }
        #expect(BuiltPrograms.eventually { processes("__clear-clipboard").isEmpty })
    }

    // MARK: There, and gone

    /// With what text and programs stumble over: newlines at the end, what is no UTF-8,
    /// control characters; and the longest one.
    private static let secrets = [
        Data("pä ß\r\n\t\u{1b}[31m\n\n".utf8), Data([0xff, 0xfe, 0x80, 0x0a]), Data([0, 1, 0, 10]),
        Data((0..<74_994).map { UInt8(truncatingIfNeeded: $0 % 254 + 1) }),
    ]

    @Test(arguments: Desktop.Kind.allCases)
    func theSecretArrivesExactlyAndIsClearedAfterwards(_ kind: Desktop.Kind) throws {
        let desktop = try Desktop(kind, in: programs)
        for secret in Self.secrets where kind != .xsel || !secret.contains(0) {
            try store(secret)
            // So long that even a slow machine sees it.
            let copied = try get("--clip=30", desktop)
            #expect(copied.status == 0 && copied.output.isEmpty && copied.errors.isEmpty, "\(copied.errors)")
            // xsel's parent ends before its child has the selection.
            #expect(BuiltPrograms.eventually { desktop.content == secret })
            endClearing()
            #expect(try get("--clip=1", desktop).status == 0)
            #expect(BuiltPrograms.eventually { desktop.content?.isEmpty ?? true })
            #expect(BuiltPrograms.eventually { processes("__clear-clipboard").isEmpty })
        }
    }

    @Test(arguments: Desktop.Kind.allCases)
    func whatWasCopiedMeanwhileStays(_ kind: Desktop.Kind) throws {
        let desktop = try Desktop(kind, in: programs)
        try store(Data("hunter2".utf8))
        // Also what begins like the secret, or is a part of it.
        for other in ["hunter2 and more", "hunter"] {
            // Between looking and clearing some milliseconds pass: not the shortest time,
            // so that even a slow machine copies before.
            #expect(try get("--clip=3", desktop).status == 0)
            try desktop.copy(Data(other.utf8))
            #expect(BuiltPrograms.eventually { processes("__clear-clipboard").isEmpty })
            #expect(desktop.content == Data(other.utf8))
        }
    }

    /// xsel would keep what stands before it, and what is cut is not known again.
    @Test func xselIsGivenNoByteThatItCutsAt() throws {
        let desktop = try Desktop(.xsel, in: programs)
        try store(Data([104, 117, 110, 116, 0, 50]))
        try desktop.copy(Data("a shopping list".utf8))
        let refused = try get("--clip", desktop)
        #expect(refused.status == 2 && refused.errors.contains("byte 0") && refused.errors.contains("xclip"))
        #expect(desktop.content == Data("a shopping list".utf8) && processes("__clear-clipboard").isEmpty)
    }

    // MARK: Nowhere else

    @Test(arguments: Desktop.Kind.allCases)
    func theSecretIsInNoArgumentVariableOrFileButWhatIsSaidOfWlCopy(_ kind: Desktop.Kind) throws {
        let desktop = try Desktop(kind, in: programs)
        let secret = "canary-" + (0..<16).map { _ in String(UInt8.random(in: 97...122), radix: 36) }.joined()
        try store(Data(secret.utf8))
        #expect(try get("--clip=30", desktop).status == 0)
        #expect(BuiltPrograms.eventually { desktop.content == Data(secret.utf8) })
        let atWork = processes("__clear-clipboard", desktop.keeper)
        #expect(atWork.count >= 2, "the clipboard's owner and who clears it")
        for process in atWork {
            #expect(!process.line.contains(secret) && !process.environment.contains(secret))
        }
        #expect(try files(with: secret, desktop) == (kind == .wayland ? 1 : 0))
        endClearing()
        #expect(try get("--clip=1", desktop).status == 0)
        #expect(BuiltPrograms.eventually { (try? files(with: secret, desktop)) == 0 })
    }

    /// THREAT_MODEL, "Memory and messages": wl-copy's file, in a folder of mode 0700.
    private func files(with secret: String, _ desktop: Desktop) throws -> Int {
        let folders = ([programs.home] + desktop.folders).joined(separator: "' '")
        let found = try programs.shell(
            """
            grep -rlaF -D skip --exclude='*.in' -e "$CANARY" '\(folders)' /tmp/wl-copy-buffer-* 2>/dev/null
            """, changing: ["CANARY": secret]
        ).text.split(separator: "\n")
        for path in found {
            #expect(path.hasPrefix("/tmp/wl-copy-buffer-"), "\(path)")
            let folder = URL(fileURLWithPath: String(path)).deletingLastPathComponent().path
            let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o700)
        }
        return found.count
    }

    // MARK: No display

    @Test(arguments: Desktop.Kind.allCases)
    func aDisplayThatTurnsUsAwayIsAnError(_ kind: Desktop.Kind) throws {
        let desktop = try Desktop(kind, in: programs)
        try store(Data("hunter2".utf8))
        var away = desktop
        // No cookie; no compositor.
        away.variables.merge(["XAUTHORITY": "/dev/null", "XDG_RUNTIME_DIR": programs.home]) { $1 }
        let began = ContinuousClock.now
        let refused = try get("--clip", away)
        #expect(refused.status == 69 && refused.errors.contains(desktop.keeper), "\(refused.errors)")
        #expect(ContinuousClock.now - began < .seconds(5))
        #expect(!refused.errors.contains("hunter2") && refused.output.isEmpty)
        #expect(processes("__clear-clipboard", desktop.keeper).isEmpty)
    }

    @Test func withoutADisplayThereIsNone() throws {
        try store(Data("hunter2".utf8))
        let none = try programs.run("/usr/bin/setsid", ["-w", BuiltPrograms.latchkey, "get", "mail", "--clip"])
        #expect(none.status == 69 && none.errors.contains("no terminal, and no display"), "\(none.errors)")
    }

    /// It is not waited for longer than the five seconds that such a program has.
    @Test(arguments: Desktop.Kind.allCases)
    func aDisplayThatDoesNotAnswerIsAnError(_ kind: Desktop.Kind) throws {
        let desktop = try Desktop(kind, in: programs)
        try store(Data("hunter2".utf8))
        let outcome = try desktop.stopped { try get("--clip", desktop) }
        #expect(outcome.status == 69 && outcome.errors.contains("timed out"), "\(outcome.errors)")
        #expect(processes("__clear-clipboard", desktop.keeper).isEmpty)
    }
}
