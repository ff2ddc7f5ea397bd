import Foundation
import KeychainTestSupport

/// A program of the system, run to its end or left running.
struct Command {
    let path: String
    let arguments: [String]

    init(_ path: String, _ arguments: [String]) {
        self.path = path
        self.arguments = arguments
    }

    static func exists(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Its exit status (minus the signal that ended it) and what it wrote, both
    /// streams together.
    @discardableResult
    func run(environment: [String: String]? = nil) throws -> (status: Int32, text: String) {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("latchkey-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: place.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: place) }
        let process = TestProcess()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        if let environment { process.environment = environment }
        let output = try FileHandle(forWritingTo: place)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        process.waitUntilExit()
        let status =
            process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
        return (status, String(decoding: try Data(contentsOf: place), as: UTF8.self))
    }
}

/// Other processes tell nobody when they are ready: look again in a moment.
func eventually(within seconds: Int = 10, _ condition: () throws -> Bool) rethrows -> Bool {
    let end = ProcessInfo.processInfo.systemUptime + Double(seconds)
    while ProcessInfo.processInfo.systemUptime < end {
        if try condition() { return true }
        var nothing = pollfd()
        _ = unsafe poll(&nothing, 0, 2)
    }
    return try condition()
}
