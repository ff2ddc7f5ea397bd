internal import Foundation
package import KeychainPlatform

/// A folder for one test: new, mode 0700, removed with its owner.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// - Parameter purpose: part of the folder's name, for whoever looks into /tmp.
    package convenience init(_ purpose: String = "test") throws {
        try self.init(purpose, in: FileManager.default.temporaryDirectory)
    }

    /// One whose files are in memory, where the system has a place for that: for tests that open
    /// a store hundreds of times, and say nothing of what a disk keeps.
    package static func inMemory() throws -> TemporaryDirectory {
        let shared = "/dev/shm"
        guard FileManager.default.isWritableFile(atPath: shared) else { return try TemporaryDirectory() }
        return try TemporaryDirectory("test", in: URL(fileURLWithPath: shared))
    }

    private init(_ purpose: String, in place: URL) throws {
        let name = Random.bytes(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let folder = place.appendingPathComponent("latchkey-\(purpose)-\(name)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        path = folder.path
    }

    deinit {
        // What a test leaves behind is no reason to fail it.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of something in the folder.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// A private folder inside, made where it is not there.
    package func folder(_ name: String) throws -> PrivateDirectory {
        try PrivateDirectory(path(name), creating: true)
    }
}
