internal import Foundation
internal import KeychainPlatform

/// A FIDO2 security key of the test's own (Tests/Support/security-key), which
/// `security-key-hands` finds on a socket in a folder.
package final class SoftwareSecurityKey: @unchecked Sendable {
    // @unchecked: one test uses it from one thread at a time.
    private let socket: String
    private var process: TestProcess?

    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "security-key/security_key.py").path
    private static let python = "/usr/bin/python3"
    /// Debian's python3-cbor2 and python3-cryptography.
    package static let isInstalled = ["cbor2", "cryptography"].allSatisfy {
        FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/\($0)")
    }

    /// - Parameter number: which it is: the kernel would call it /dev/hidrawN; 0 to 3.
    package init(in folder: String, number: Int = 0) throws {
        socket = "\(folder)/hidraw\(number)"
        try plug()
    }

    deinit { pull() }

    /// How it behaves from now on: words of the script's; none: as it should.
    package func behave(_ mode: String) throws {
        // Replaced at once: it is read whenever it matters.
        try Data(mode.utf8).write(to: URL(filePath: "\(socket).mode"), options: .atomic)
    }

    package func pull() {
        guard let process else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        self.process = nil
        _ = unsafe unlink(socket)
    }

    /// As it was when it was pulled.
    package func plug() throws {
        let process = TestProcess()
        process.executableURL = URL(filePath: Self.python)
        process.arguments = [Self.script, socket]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        self.process = process
        let soon = Deadline(after: .seconds(20), on: SystemClock())
        while !FileManager.default.fileExists(atPath: socket), process.isRunning, !soon.hasPassed { sched_yield() }
        guard process.isRunning else { throw CocoaError(.fileReadUnknown) }
    }

    /// What it made is worth nothing any more.
    package func reset() throws {
        pull()
        try FileManager.default.removeItem(atPath: "\(socket).secret")
        try plug()
    }
}
