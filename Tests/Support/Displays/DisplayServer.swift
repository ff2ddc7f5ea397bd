internal import KeychainPlatform
internal import Synchronization

/// A program that serves a display or a session, until its owner goes.
final class DisplayServer: Sendable {
    private let tool: Mutex<ConversingTool?>
    let process: Int32
    /// Its first line on standard output, which it says once it can be used.
    let greeting: String

    /// - Throws: ETIMEDOUT where it says nothing, EPIPE where it ends.
    init(_ path: String, _ arguments: [String], environment: [String]) throws(SystemCallError) {
        let running = try ConversingTool(
            "/bin/sh", ["-c", "echo $$; exec \"$@\"", "sh", path] + arguments, environment: environment)
        let lines = try Self.lines(of: running, 2)
        process = Int32(lines[0]) ?? 0
        greeting = lines[1]
        tool = Mutex(running)
    }

    deinit {
        tool.withLock { tool in
            guard let running = tool.take() else { return }
            // So that it takes its socket and its lock away.
            running.end(by: Deadline(after: .seconds(10), on: SystemClock()))
        }
    }

    private static func lines(of tool: borrowing ConversingTool, _ count: Int) throws(SystemCallError) -> [String] {
        let deadline = Deadline(after: .seconds(60), on: SystemClock())
        let newline = UInt8(ascii: "\n")
        var text: [UInt8] = []
        var buffer = SecretBytes(count: 256)
        while text.count(where: { $0 == newline }) < count {
            guard try waitForAny(of: [tool.output], until: deadline) != nil else {
                throw SystemCallError("wait for a display", errno: 110)  // ETIMEDOUT, errno(3)
            }
            let got = try tool.hear(into: &buffer)
            guard got > 0 else { throw SystemCallError("start a display", errno: 32) }  // EPIPE
            text += buffer.insecureArray().prefix(got)
        }
        return text.split(separator: newline).map { String(decoding: $0, as: UTF8.self) }
    }
}
