import Displays
import Foundation

/// A display with one program that reaches its clipboard.
struct Desktop {
    enum Kind: CaseIterable {
        case xclip, xsel, wayland
    }

    static let programsAreThere = DisplayPrograms.areThere(
        "/usr/bin/xclip", "/usr/bin/xsel", "/usr/bin/wl-copy", "/usr/bin/wl-paste")

    private enum Display {
        case x(VirtualDisplay)
        case wayland(WaylandDisplay)
    }

    private let display: Display
    private let environment: [String: String]
    /// What a program of this desktop has in its environment.
    var variables: [String: String?]
    /// The program that keeps what is on the clipboard.
    let keeper: String

    init(_ kind: Kind, in programs: BuiltPrograms) throws {
        switch kind {
        case .wayland:
            let wayland = try WaylandDisplay()
            display = .wayland(wayland)
            environment = wayland.environment
            variables = environment
            keeper = "wl-copy"
        case .xclip, .xsel:
            let x = try VirtualDisplay()
            display = .x(x)
            environment = x.environment
            keeper = kind == .xclip ? "xclip" : "xsel"
            // This one, whatever else the machine has.
            let folder = programs.home + "/only-\(keeper)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/\(keeper)", withDestinationPath: "/usr/bin/\(keeper)")
            variables = environment.merging(["PATH": folder]) { $1 }
        }
    }

    /// Where it may leave files.
    var folders: [String] {
        switch display {
        case .x(let x): [URL(fileURLWithPath: x.cookie).deletingLastPathComponent().path]
        case .wayland(let wayland): [wayland.runtimeFolder]
        }
    }

    /// What a person would paste; nil where nothing is there.
    var content: Data? {
        let words: [String]
        switch display {
        case .x: words = ["/usr/bin/xclip", "-selection", "clipboard", "-out"]
        case .wayland: words = ["/usr/bin/wl-paste", "--no-newline"]
        }
        guard
            let pasted = try? DisplayPrograms.output(
                of: words[0], Array(words.dropFirst()), environment: environment.merging(Self.path) { $1 }),
            pasted.status == 0
        else { return nil }
        return Data(pasted.output)
    }

    /// As a person does in another program.
    func copy(_ content: Data) throws {
        let program: String
        switch display {
        case .x: program = "xclip -selection clipboard -in"
        case .wayland: program = "wl-copy --type text/plain"
        }
        // It stays at work, and must keep nothing of ours open meanwhile.
        let run = try DisplayPrograms.output(
            of: "/bin/sh", ["-c", "exec \(program) >/dev/null 2>&1"],
            environment: environment.merging(Self.path) { $1 }, input: Array(content))
        guard run.status == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    private static let path = ["PATH": "/usr/bin:/bin"]

    /// The display answers nobody until the closure is over.
    func stopped<R>(_ body: () throws -> R) throws -> R {
        switch display {
        case .x(let x): try x.stopped(body)
        case .wayland(let wayland): try wayland.stopped(body)
        }
    }
}
