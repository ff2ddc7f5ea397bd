internal import Foundation
internal import KeychainModel
internal import KeychainPlatform

/// The folder of one test keychain, open to nobody else, gone with its owner.
///
/// A process that is killed leaves its folders behind; nobody then holds their
/// lock, by which the next test process knows them and sweeps them away.
final class TestFolder: Sendable {
    let path: String
    private let lock: FileLock

    private static let prefix = "latchkey-testing-"
    private static let newSuffix = ".new"
    private static let lockName = "owner.lock"

    init() throws(KeychainError) {
        Self.sweepOnce
        let path = FileManager.default.temporaryDirectory.path + "/" + Self.prefix + UUID().uuidString
        // The folder gets its name once it is locked, so that no sweep takes it.
        lock = try Self.locked(at: path + Self.newSuffix)
        guard Self.rename(path + Self.newSuffix, path) else {
            throw KeychainError(.io, reason: .inputOutput, underlying: "rename of \(path)")
        }
        self.path = path
    }

    private static func locked(at path: String) throws(KeychainError) -> FileLock {
        do {
            let folder = try PrivateDirectory(path, creating: true)
            if let lock = try FileLock.take(folder.openFile(lockName, creating: true)) { return lock }
        } catch {
            throw KeychainError(.io, reason: .inputOutput, underlying: "\(error)")
        }
        throw KeychainError(.notAvailable, reason: .storeInUse)
    }

    deinit { Self.remove(path) }

    /// What cannot be removed is left to the next sweep.
    private static func remove(_ path: String) {
        do { try FileManager.default.removeItem(atPath: path) } catch {}
    }

    private static func rename(_ path: String, _ other: String) -> Bool {
        do {
            try FileManager.default.moveItem(atPath: path, toPath: other)
            return true
        } catch {
            return false
        }
    }

    // MARK: Sweeping

    /// Runs at most once in a process.
    private static let sweepOnce: Void = sweep()

    static func sweep() {
        let parent = FileManager.default.temporaryDirectory.path
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: parent) } catch { return }
        for name in names where name.hasPrefix(prefix) && !name.hasSuffix(newSuffix) {
            let path = parent + "/" + name
            if isAbandoned(path) { remove(path) }
        }
    }

    /// Whether the folder is ours and nobody holds its lock.
    private static func isAbandoned(_ path: String) -> Bool {
        do {
            let folder = try PrivateDirectory(path, creating: false)
            return try FileLock.take(folder.openFile(lockName, creating: false)) != nil
        } catch {
            return false
        }
    }
}
