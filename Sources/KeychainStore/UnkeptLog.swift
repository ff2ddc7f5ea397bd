internal import Foundation
internal import KeychainModel
internal import KeychainPlatform
internal import Synchronization

/// A log that holds more than SQLite takes over, and of which there is no room for a copy: the
/// next commit would go over what lies there. So there is none, until there is room.
final class UnkeptLog: Sendable {
    private let directory: PrivateDirectory
    private let watch: LogWatch
    private let isThere = Atomic(false)

    init(_ directory: PrivateDirectory, _ watch: LogWatch) {
        self.directory = directory
        self.watch = watch
    }

    /// The copy was not made.
    func note() {
        guard StoreLog.byteCount(in: directory) ?? 0 > 0 else { return }
        isThere.store(true, ordering: .releasing)
    }

    /// - Throws: `diskFull`; once there is room the database is to be opened anew, which makes the copy.
    func check() throws(KeychainError) {
        guard isThere.load(ordering: .acquiring) else { return }
        if hasRoom { watch.giveUp() }
        throw KeychainError(
            .notAvailable, reason: .diskFull,
            underlying: "no room to keep what \(StoreLog.name) holds beyond a damaged place")
    }

    private var hasRoom: Bool {
        do {
            let room = try FileManager.default.attributesOfFileSystem(forPath: directory.path)
            let free = (room[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
            return free > (StoreLog.byteCount(in: directory) ?? 0)
        } catch { return false }
    }
}
