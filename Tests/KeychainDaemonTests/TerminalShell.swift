import Foundation
import KeychainPlatform
import KeychainTestSupport

/// A shell that leads a terminal session of its own; it ends with its owner.
final class TerminalShell {
    private let master: FileHandle
    private let process = TestProcess()
    private var count = 0

    init() throws {
        var ends: (Int32, Int32) = (-1, -1)
        guard unsafe openpty(&ends.0, &ends.1, nil, nil, nil) == 0 else { throw CocoaError(.fileNoSuchFile) }
        for end in [ends.0, ends.1] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        master = FileHandle(fileDescriptor: ends.0, closeOnDealloc: true)
        let side = Descriptor(owning: ends.1)
        let loop = "stty -echo; while read -r n line; do eval \"$line\" >/dev/null 2>&1; echo \"end-$n-$?-\"; done"
        process.executableURL = URL(filePath: "/usr/bin/setsid")
        process.arguments = ["-c", "-w", "/bin/sh", "-c", loop]
        process.environment = ["PATH": "/usr/bin:/bin"]
        let stream = FileHandle(fileDescriptor: side.raw, closeOnDealloc: false)
        (process.standardInput, process.standardOutput, process.standardError) = (stream, stream, stream)
        try withExtendedLifetime(side) { try process.run() }
    }

    /// Runs a command there to its end.
    ///
    /// - Returns: its exit status.
    func run(_ command: String) throws -> Int32 {
        count += 1
        try master.write(contentsOf: Data("\(count) \(command)\n".utf8))
        let mark = "end-\(count)-"
        var shown = ""
        let deadline = Deadline(after: .seconds(60), on: SystemClock())
        while true {
            if let start = shown.range(of: mark)?.upperBound, let end = shown[start...].firstIndex(of: "-"),
                let status = Int32(shown[start..<end])
            {
                return status
            }
            guard try wait(for: master.fileDescriptor, to: .receive, until: deadline) == .ready else {
                throw CocoaError(.executableLoad)
            }
            shown += String(decoding: master.availableData, as: UTF8.self)
        }
    }

    deinit {
        // Its end of the terminal goes, and the whole session with it.
        try? master.close()
        process.waitUntilExit()
    }
}
