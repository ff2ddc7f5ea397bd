internal import Foundation
internal import KeychainTestSupport

/// An X server without a screen that asks for a cookie, as a desktop's does, and a
/// person who types at it.
///
/// There is no window manager: the keys go to the window that has the focus, which
/// those of pinentry take.
package final class VirtualDisplay: Sendable {
    package static let isInstalled =
        DisplayPrograms.areWanted && DisplayPrograms.areThere("/usr/bin/Xvfb", "/usr/bin/xdotool", "/usr/bin/setxkbmap")
    package static let pinentries = ["/usr/bin/pinentry-qt", "/usr/bin/pinentry-gtk-2"]
        .filter(DisplayPrograms.isThere)

    package let name: String
    /// The file with the cookie that the server asks for.
    package let cookie: String
    private let server: DisplayServer
    private let folder: TemporaryDirectory

    package init() throws {
        folder = try TemporaryDirectory("display")
        cookie = folder.path(".Xauthority")
        try Self.cookieFile.write(to: URL(fileURLWithPath: cookie))
        // The server chooses a number that is free, and says it once it can be used. Else
        // it would begin anew, and lose who is just coming, whenever the last one goes.
        server = try DisplayServer(
            "/usr/bin/Xvfb",
            [
                "-displayfd", "1", "-noreset", "-nolisten", "tcp", "-auth", cookie, "-screen", "0", "1280x1024x24",
            ], environment: ["PATH=/usr/bin:/bin"])
        name = ":" + server.greeting
        // xdotool takes a free key for a letter that is on none, and is done with it before
        // a slow program has looked what the key means: umlauts are on this keyboard.
        guard try run("/usr/bin/setxkbmap", ["de"]).status == 0 else { throw CocoaError(.fileReadUnknown) }
    }

    /// What a program of the login session has in its environment.
    package var environment: [String: String] { ["DISPLAY": name, "XAUTHORITY": cookie] }

    /// For every display (Xauth's family 65535): MIT-MAGIC-COOKIE-1.
    private static var cookieFile: Data {
        let name = Array("MIT-MAGIC-COOKIE-1".utf8)
        let value = (0..<16).map { _ in UInt8.random(in: 0...255) }
        return Data([0xff, 0xff, 0, 0, 0, 0, 0, UInt8(name.count)] + name + [0, 16] + value)
    }

    /// The number of the prompt's window, once it gets the keys.
    ///
    /// - Parameter isChosen: the person turns to it, as a window manager would have it:
    ///   it does not take the focus itself.
    package func prompt(isChosen: Bool = false) throws -> String? {
        var window = ""
        let isThere = try Waiting.eventually {
            window = try xdotool("search", "--onlyvisible", "--name", "^Latchkey$")
            if window.isEmpty { return false }
            if isChosen { _ = try xdotool("windowfocus", window) }
            return try xdotool("getwindowfocus") == window
        }
        return isThere ? window : nil
    }

    package func hasNoPrompt() -> Bool {
        Waiting.eventually { (try? xdotool("search", "--onlyvisible", "--name", "^Latchkey$")) == "" }
    }

    package func type(_ text: String) throws {
        _ = try xdotool("type", text)
        _ = try xdotool("key", "Return")
    }

    package func press(_ key: String) throws { _ = try xdotool("key", key) }

    /// In pixels.
    package func height(of window: String) throws -> Int? {
        let line = try xdotool("getwindowgeometry", "--shell", window).split(separator: "\n")
            .first { $0.hasPrefix("HEIGHT=") }
        return line.flatMap { Int($0.dropFirst(7)) }
    }

    /// The server answers nobody until the closure is over.
    package func stopped<R>(_ body: () throws -> R) throws -> R {
        try stop(server.process)
        defer { kill(server.process, SIGCONT) }
        return try body()
    }

    private func xdotool(_ arguments: String...) throws -> String {
        String(decoding: try run("/usr/bin/xdotool", arguments).output, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: [UInt8]) {
        try DisplayPrograms.output(
            of: program, arguments, environment: environment.merging(["LANG": "C.UTF-8"]) { first, _ in first })
    }
}
