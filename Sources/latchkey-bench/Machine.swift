import Foundation
import KeychainPlatform

/// On what the figures were taken.
enum Machine {
    static var description: [String: Any] {
        [
            "processor": processor, "processors": Pinning.processorCount, "kernel": line("/proc/sys/kernel/osrelease"),
            "priority": ProcessEnvironment.variable("BENCH_PRIORITY_TAKEN") ?? "ordinary",
            "commit": ProcessEnvironment.variable("BENCH_COMMIT") ?? "unknown",
        ]
    }

    private static func line(_ path: String) -> String {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? "unknown"
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static var processor: String {
        line("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
            .flatMap { $0.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } } ?? "unknown"
    }
}
