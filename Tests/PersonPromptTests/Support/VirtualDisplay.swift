import Foundation
import KeychainPlatform
import KeychainTestSupport
import PersonPrompt

/// An X server without a screen, and a person who types at it.
///
/// There is no window manager: the keys go to the window that has the focus, which
/// those of pinentry take.
final class VirtualDisplay: Sendable {
    static let programs = ["/usr/bin/Xvfb", "/usr/bin/xdotool"]
    static let pinentries = ["/usr/bin/pinentry-qt", "/usr/bin/pinentry-gtk-2"].filter(isThere)
    /// Beside a thousand other tests a window may not get the keys within a question's
    /// time: `make test-peers` runs these by themselves, and says so.
    static let isWanted = ProcessInfo.processInfo.environment["LATCHKEY_TEST_DISPLAY"] == "1"
    static let isInstalled = isWanted && programs.allSatisfy(isThere) && !pinentries.isEmpty

    private static func isThere(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    let name: String
    /// The file with the cookie that the server asks for.
    let cookie: String
    private let server: Caller
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory("display")
        cookie = folder.path(".Xauthority")
        try Self.cookieFile.write(to: URL(fileURLWithPath: cookie))
        // The server chooses a number that is free, and says it once it can be used. Else
        // it would begin anew, and lose who is just coming, whenever the last one goes.
        let chosen = folder.path("number")
        server = try Caller(
            on: nil,
            script: """
                echo $$ >&3; exec 4>\(chosen)
                exec /usr/bin/Xvfb -displayfd 4 -noreset -nolisten tcp -auth \(cookie) -screen 0 1280x1024x24
                """)
        var number = ""
        let isReady = Waiting.eventually {
            number = (try? String(contentsOfFile: chosen, encoding: .utf8)) ?? ""
            return number.hasSuffix("\n")
        }
        guard isReady else { throw CocoaError(.fileReadUnknown) }
        name = ":" + number.dropLast()
    }

    deinit {
        // So that it takes its socket and its lock away.
        kill(server.processID, SIGTERM)
        _ = Waiting.eventually { Session.processes(of: server.processID).isEmpty }
    }

    /// What a program of the login session has in its environment.
    var environment: [String: String] { ["DISPLAY": name, "XAUTHORITY": cookie] }

    /// For every display (Xauth's family 65535): MIT-MAGIC-COOKIE-1.
    private static var cookieFile: Data {
        let name = Array("MIT-MAGIC-COOKIE-1".utf8)
        let value = (0..<16).map { _ in UInt8.random(in: 0...255) }
        return Data([0xff, 0xff, 0, 0, 0, 0, 0, UInt8(name.count)] + name + [0, 16] + value)
    }

    /// The number of the prompt's window, once it gets the keys.
    func prompt() throws -> String? {
        var window = ""
        let isThere = try Waiting.eventually {
            window = try run("search", "--onlyvisible", "--name", "^Latchkey$")
            return try !window.isEmpty && run("getwindowfocus") == window
        }
        return isThere ? window : nil
    }

    func hasNoPrompt() -> Bool {
        Waiting.eventually { (try? run("search", "--onlyvisible", "--name", "^Latchkey$")) == "" }
    }

    func type(_ text: String) throws {
        _ = try run("type", text)
        _ = try run("key", "Return")
    }

    func press(_ key: String) throws { _ = try run("key", key) }

    /// In pixels.
    func height(of window: String) throws -> Int? {
        let line = try run("getwindowgeometry", "--shell", window).split(separator: "\n")
            .first { $0.hasPrefix("HEIGHT=") }
        return line.flatMap { Int($0.dropFirst(7)) }
    }

    private func run(_ arguments: String...) throws -> String {
        let run = try ToolRun.run(
            "/usr/bin/xdotool", arguments, environment: ["DISPLAY=\(name)", "XAUTHORITY=\(cookie)", "LANG=C.UTF-8"],
            input: SecretBytes(count: 0), output: .upTo(4096),
            patience: .until(Deadline(after: .seconds(60), on: SystemClock())))
        return String(decoding: run.output.insecureArray(), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
