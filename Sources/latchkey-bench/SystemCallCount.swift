import Foundation

/// Counts a process's messages from outside, with strace.
enum SystemCallCount {
    /// How many sendmsg(2) the process makes during `body`; nil where strace is
    /// not there or may not attach.
    static func sends(of process: Int32, during body: () throws -> Void) throws -> Int? {
        let file = BenchFolder.run + "/strace"
        let tracer = Process()
        tracer.executableURL = URL(fileURLWithPath: "/usr/bin/strace")
        tracer.arguments = ["-f", "-p", "\(process)", "-e", "trace=sendmsg", "-o", file]
        let said = Pipe()
        tracer.standardError = said
        do { try tracer.run() } catch { return nil }
        // It says that it is attached, or why not.
        let word = String(decoding: said.fileHandleForReading.availableData, as: UTF8.self)
        defer { tracer.waitUntilExit() }
        guard word.contains("attached") else { return nil }
        defer { tracer.interrupt() }
        try body()
        tracer.interrupt()
        tracer.waitUntilExit()
        return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").count {
            $0.contains("sendmsg(")
        }
    }
}
