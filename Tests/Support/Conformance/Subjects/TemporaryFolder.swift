internal import Foundation

/// A folder of one daemon, 0700.
struct TemporaryFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/lk-conf-" + UUID().uuidString.prefix(13)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// What cannot be removed stays: the run's result does not depend on it.
    func remove() {
        do { try FileManager.default.removeItem(atPath: path) } catch {}
    }
}
