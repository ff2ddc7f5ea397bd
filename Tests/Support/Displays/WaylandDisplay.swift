internal import Foundation
internal import KeychainPlatform
internal import KeychainTestSupport

/// A Wayland compositor without a screen (sway), and a person who types at it. No X
/// programs are served.
package final class WaylandDisplay: Sendable {
    package static let isInstalled =
        DisplayPrograms.areWanted
        && DisplayPrograms.areThere("/usr/bin/sway", "/usr/bin/swaymsg", "/usr/bin/wtype", "/usr/bin/unshare")

    package static let pinentry = "/usr/bin/pinentry-qt"

    package let runtimeFolder: String
    package let name: String
    private let control: String
    private let compositor: DisplayServer
    /// A seat without a keyboard tells a window too late that it has one: the first key
    /// of a person would be lost.
    private let keyboard: DisplayServer
    private let folder: TemporaryDirectory

    package init() throws {
        folder = try TemporaryDirectory("wayland")
        runtimeFolder = try folder.folder("runtime").path
        let configuration = folder.path("config")
        try """
        xwayland disable
        exec echo $WAYLAND_DISPLAY $SWAYSOCK
        """.write(toFile: configuration, atomically: true, encoding: .utf8)
        // sway refuses to be root; what it makes as another user of a namespace of its own
        // is ours outside.
        let command = ["/usr/bin/sway", "--config", configuration]
        let asOther = ["/usr/bin/unshare", "--user", "--map-user=1000", "--map-group=1000"]
        let words = (geteuid() == 0 ? asOther : []) + command
        compositor = try DisplayServer(
            words[0], Array(words.dropFirst()),
            environment: [
                "PATH=/usr/bin:/bin", "HOME=\(folder.path)", "XDG_RUNTIME_DIR=\(runtimeFolder)", "LANG=C.UTF-8",
                // wlroots, docs/env_vars.md: no screen, no devices, no graphics processor.
                "WLR_BACKENDS=headless", "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman",
            ])
        let names = compositor.greeting.split(separator: " ")
        guard names.count == 2 else { throw CocoaError(.fileReadCorruptFile) }
        name = String(names[0])
        control = String(names[1])
        // It keeps its keyboard for as long as it waits, in milliseconds.
        keyboard = try DisplayServer(
            "/bin/sh", ["-c", "echo begun; exec /usr/bin/wtype -s 3600000"],
            environment: ["PATH=/usr/bin:/bin", "XDG_RUNTIME_DIR=\(runtimeFolder)", "WAYLAND_DISPLAY=\(name)"])
        guard try Waiting.eventually({ try tell("-t", "get_inputs").contains("\"keyboard\"") }) else {
            throw CocoaError(.fileReadUnknown)
        }
    }

    /// What a program of the login session has in its environment.
    package var environment: [String: String] { ["XDG_RUNTIME_DIR": runtimeFolder, "WAYLAND_DISPLAY": name] }

    /// Whether the prompt's window is there, once it gets the keys.
    package func hasPrompt() throws -> Bool { try Waiting.eventually { try window()?["focused"] as? Bool == true } }

    package func hasNoPrompt() throws -> Bool { try Waiting.eventually { try window() == nil } }

    /// The compositor answers nobody until the closure is over.
    package func stopped<R>(_ body: () throws -> R) throws -> R {
        try stop(compositor.process)
        defer { kill(compositor.process, SIGCONT) }
        return try body()
    }

    package func type(_ text: String) throws { try wtype(text, "-k", "Return") }

    package func press(_ key: String) throws { try wtype("-k", key) }

    private func wtype(_ words: String...) throws {
        _ = try DisplayPrograms.output(
            of: "/usr/bin/wtype", words, environment: environment.merging(["LANG": "C.UTF-8"]) { first, _ in first })
    }

    private func tell(_ words: String...) throws -> String {
        let told = try DisplayPrograms.output(
            of: "/usr/bin/swaymsg", ["-s", control, "-r"] + words, environment: environment)
        return String(decoding: told.output, as: UTF8.self)
    }

    /// sway-ipc(7), GET_TREE.
    private func window() throws -> [String: Any]? {
        let tree = try JSONSerialization.jsonObject(with: Data(tell("-t", "get_tree").utf8)) as? [String: Any]
        return tree.flatMap(Self.window)
    }

    private static func window(in node: [String: Any]) -> [String: Any]? {
        if node["name"] as? String == "Latchkey" { return node }
        let below = (node["nodes"] as? [[String: Any]] ?? []) + (node["floating_nodes"] as? [[String: Any]] ?? [])
        return below.lazy.compactMap(window).first
    }
}
