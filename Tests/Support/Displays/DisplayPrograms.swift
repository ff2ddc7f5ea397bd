internal import Foundation
internal import KeychainPlatform

/// The programs that stand for a desktop and a person at it (scripts/bootstrap
/// display-peers).
package enum DisplayPrograms {
    /// Beside a thousand other tests a window may not get the keys within a question's
    /// time: `make test-peers` runs these by themselves, and says so.
    package static let areWanted = ProcessInfo.processInfo.environment["LATCHKEY_TEST_DISPLAY"] == "1"

    package static func areThere(_ paths: String...) -> Bool { paths.allSatisfy(isThere) }

    package static func isThere(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// What a short-lived one writes; it has a minute.
    package static func output(
        of program: String, _ arguments: [String], environment: [String: String], input: [UInt8] = [],
        atMost limit: Int = 1 << 20
    ) throws -> (status: Int32, output: [UInt8]) {
        let run = try ToolRun.run(
            program, arguments, environment: environment.map { "\($0.key)=\($0.value)" },
            input: SecretBytes(copying: input), output: .upTo(limit),
            patience: .until(Deadline(after: .seconds(60), on: SystemClock())))
        return (run.status, run.output.insecureArray())
    }
}
