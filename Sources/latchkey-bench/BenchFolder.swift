import Foundation
import KeychainPlatform

/// Where a run reads and writes.
enum BenchFolder {
    private static let root = FileManager.default.currentDirectoryPath

    /// Results and filled stores; not under version control.
    static let results = root + "/bench-results"
    static let thresholds = root + "/Benchmarks/thresholds.json"

    /// This program and, beside it, those it starts.
    static let programs = ProcessEnvironment.executableDirectory ?? root
    static let program = programs + "/latchkey-bench"

    /// A short path of this run alone, for sockets.
    static let run = NSTemporaryDirectory() + "/latchkey-bench-\(ProcessEnvironment.processID)"
}

/// Says on standard error what takes its time.
enum BenchLog {
    static func say(_ text: String) { StandardError.write("bench: \(text)\n") }
}
