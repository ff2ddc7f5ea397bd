import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// `get --clip` of the real programs, with programs of the test as its display
/// and a pseudo-terminal as its terminal.
@Suite struct ClipboardTests {
    let programs: BuiltPrograms
    private let clipboard: String

    init() throws {
        programs = try BuiltPrograms()
        clipboard = programs.home + "/clipboard"
        try FileManager.default.createDirectory(atPath: programs.home + "/bin", withIntermediateDirectories: false)
        try programs.latchkey("set", "mail", "alice", input: Data("hunter2".utf8))
    }

    /// A program that keeps the clipboard in a file and notes how it was called.
    private func install(_ name: String, _ body: String) throws {
        let path = programs.home + "/bin/\(name)"
        let script = """
            echo "\(name) $*" >> '\(programs.home)/calls'
            env >> '\(programs.home)/variables'
            clipboard='\(clipboard)'
            \(body)
            """
        try Script.write(script, to: path)
    }

    private func installWayland() throws {
        try install("wl-copy", "if [ \"$1\" = --clear ]; then : > \"$clipboard\"; else cat > \"$clipboard\"; fi")
        try install("wl-paste", "cat \"$clipboard\"")
    }

    private var path: String { "\(programs.home)/bin:\(BuiltPrograms.folder):/usr/bin:/bin" }
    private var wayland: [String: String?] { ["PATH": path, "WAYLAND_DISPLAY": "wayland-0"] }

    private var content: String { (try? String(contentsOfFile: clipboard, encoding: .utf8)) ?? "none" }
    private var calls: String { (try? String(contentsOfFile: programs.home + "/calls", encoding: .utf8)) ?? "" }

    /// Runs apart from any terminal of whoever runs the tests.
    private func get(_ option: String, _ changing: [String: String?]) throws -> BuiltPrograms.Outcome {
        let process = ["-w", BuiltPrograms.latchkey, "get", "mail", option]
        return try programs.run("/usr/bin/setsid", process, changing: changing)
    }

    @Test func aDisplayHoldsTheSecretForAWhile() throws {
        try installWayland()
        let outcome = try get("--clip=1", wayland)
        #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors.isEmpty)
        #expect(calls.hasPrefix("wl-copy --type text/plain"))
        #expect(BuiltPrograms.eventually { content == "" })
        #expect(BuiltPrograms.eventually { calls.contains("wl-paste") && calls.contains("wl-copy --clear") })
        #expect(!calls.contains("hunter2"))
        let variables = try String(contentsOfFile: programs.home + "/variables", encoding: .utf8)
        #expect(!variables.contains("hunter2") && variables.contains("WAYLAND_DISPLAY=wayland-0"))
    }

    @Test func theSecretIsThereUntilThenAndInNoArgumentOfAProcess() throws {
        try installWayland()
        #expect(try get("--clip", wayland).status == 0)
        #expect(content == "hunter2")
        let waiting = processes("__clear-clipboard")
        #expect(waiting.count == 1 && waiting.allSatisfy { !$0.line.contains("hunter2") && $0.line.hasSuffix("30") })
        for process in waiting { kill(process.id, SIGKILL) }
    }

    private func processes(_ word: String) -> [(id: Int32, line: String)] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        return all.compactMap { id in
            guard let line = FileManager.default.contents(atPath: "/proc/\(id)/cmdline"),
                let own = FileManager.default.contents(atPath: "/proc/\(id)/environ"),
                String(decoding: own, as: UTF8.self).contains(programs.home)
            else { return nil }
            let text = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
            return text.contains(word) ? (id, text) : nil
        }
    }

    @Test func whatWasCopiedMeanwhileStays() throws {
        try install("wl-copy", "if [ \"$1\" = --clear ]; then : > \"$clipboard\"; else cat >/dev/null; fi")
        try install("wl-paste", "printf other | tee \"$clipboard\"")
        #expect(try get("--clip=1", wayland).status == 0)
        #expect(BuiltPrograms.eventually { content == "other" && processes("__clear-clipboard").isEmpty })
        #expect(!calls.contains("--clear"))
    }

    @Test(arguments: ["xclip", "xsel"])
    func x11IsReachedByEitherProgram(name: String) throws {
        try install(
            name,
            "case \"$*\" in *-out*) cat \"$clipboard\";; *--clear) : > \"$clipboard\";; *) cat > \"$clipboard\";; esac")
        // Only what is installed here counts, whatever the machine has.
        for tool in ["sh", "cat", "env"] {
            try FileManager.default.createSymbolicLink(
                atPath: programs.home + "/bin/\(tool)", withDestinationPath: "/bin/\(tool)")
        }
        let only: [String: String?] = ["PATH": programs.home + "/bin", "DISPLAY": ":0"]
        #expect(try get("--clip=1", only).status == 0)
        #expect(calls.hasPrefix("\(name) "))
        #expect(BuiltPrograms.eventually { content == "" })
    }

    @Test func aProgramThatFailsOrIsNotThereIsAnError() throws {
        try install("wl-copy", "exit 1")
        try install("wl-paste", "exit 1")
        let failed = try get("--clip", wayland)
        #expect(failed.status == 69 && failed.errors.contains("wl-copy"))
        #expect(processes("__clear-clipboard").isEmpty)
        let none = try get("--clip", ["PATH": "/nowhere"])
        #expect(none.status == 69 && none.errors.contains("wl-clipboard") && none.errors.contains("xclip"))
        for outcome in [failed, none] { #expect(!outcome.errors.contains("hunter2") && outcome.output.isEmpty) }
    }

    @Test(arguments: ["--clip=0", "--clip=x", "--clip=3601"])
    func otherTimesAreUsageErrors(option: String) throws { #expect(try get(option, wayland).status == 2) }

    @Test func overSSHTheTerminalIsAskedAndClearedAgain() throws {
        try installWayland()
        let terminal = try PseudoTerminal()
        var remote = wayland
        remote["SSH_CONNECTION"] = "192.0.2.1 1 192.0.2.2 22"
        let process = try terminal.start(programs, arguments: ["get", "mail", "--clip=1"], changing: remote)
        // hunter2 in base64.
        #expect(terminal.shows("\u{1b}]52;c;aHVudGVyMg==\u{7}"))
        #expect(terminal.shows("The terminal was asked to copy it for 1 s"))
        #expect(terminal.shows("\u{1b}]52;c;IA==\u{7}"))
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && !terminal.shown.contains("hunter2") && calls.isEmpty)
    }
}
