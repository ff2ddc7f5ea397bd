internal import Enclave
package import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore

/// `latchkeyd --erase`: takes a store from its daemon, overwrites what its keys lie
/// in and deletes all of it, with the folder. Nothing brings it back but a copy, or a
/// disk that did not write where it was told to (THREAT_MODEL.md).
package struct Erasure {
    private let configuration: DaemonConfiguration

    package init(_ configuration: DaemonConfiguration) { self.configuration = configuration }

    /// Why nothing was deleted.
    package enum Failure: Error {
        /// Files that are not the store's, by their paths in its folder.
        case foreign([String])
        case keychain(KeychainError)
    }

    /// Does nothing where there is no folder.
    ///
    /// - Returns: files with keys that are gone and could not be overwritten before, by
    ///   their paths.
    package func run() throws(Failure) -> [String] {
        let data: PrivateDirectory
        do throws(DirectoryRefusal) {
            data = try PrivateDirectory(configuration.locations.dataDirectory, creating: false)
        } catch {
            if case .system(_, let below) = error, below.isNoSuchFile { return [] }
            throw .keychain(KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "\(error)"))
        }
        try refuseForeign(in: data)
        let taken: TakenStore
        do throws(KeychainError) { taken = try TakenStore(data, from: configuration) } catch {
            throw .keychain(error)
        }
        // Something may have been put there until the daemon left.
        try refuseForeign(in: data)
        let left = KeyFiles.overwrite(inStore: data.path)
        do throws(SystemCallError) {
            // Who starts a daemon meanwhile waits for the lock on this one file; from
            // its end on there is a new keychain, and its folder stays.
            try FolderContent.remove(in: data.descriptor, sparing: Rendezvous.startFile)
            try data.remove(Rendezvous.startFile)
            try FileRemoval.removeIfEmpty(FilePath(data.path))
        } catch {
            throw .keychain(KeychainError(files: error))
        }
        taken.release()
        return left
    }

    private func refuseForeign(in data: PrivateDirectory) throws(Failure) {
        let foreign = StoreContent.foreign(at: data.path)
        guard foreign.isEmpty else { throw .foreign(foreign) }
    }
}

/// The files that a store's keys lie in, as bytes nobody judges.
private enum KeyFiles {
    /// Above every size that one of them has.
    private static let largest: Int64 = 1 << 20

    /// Zeros over each, on the disk before this returns, in the store and in those
    /// that were set aside within it; all are to be deleted whatever becomes of that.
    ///
    /// - Returns: those that could not be overwritten.
    static func overwrite(inStore path: String) -> [String] {
        let enclave = "\(path)/\(EnclaveFiles.folderName)"
        let files = FolderContent.names(at: enclave).sorted().compactMap { name in
            isOverwritten(name, in: enclave) ? nil : "\(enclave)/\(name)"
        }
        let stores = FolderContent.names(at: path).sorted().filter(StoreContent.isStore)
        return files + stores.flatMap { overwrite(inStore: "\(path)/\($0)") }
    }

    private static func isOverwritten(_ name: String, in enclave: String) -> Bool {
        do {
            let folder = try PrivateDirectory(enclave, creating: false)
            let status = try FileStatus(at: FilePath("\(enclave)/\(name)"), followingLink: false)
            guard status.isRegularFile, status.byteCount <= largest else { return false }
            try folder.overwrite(name, with: [UInt8](repeating: 0, count: Int(status.byteCount)), at: 0)
            return true
        } catch {
            return false
        }
    }
}

/// What a data folder consists of (FORMATS.md).
enum StoreContent {
    /// Paths, from the folder on, of everything that no version of ours put there.
    static func foreign(at folder: String) -> [String] {
        FolderContent.names(at: folder).sorted().flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            guard let kind = kind(of: name), let status = status(path) else { return [name] }
            switch kind {
            case .file: return status.isRegularFile ? [] : [name]
            case .folder(let isOurs):
                guard status.isDirectory, let content = FolderContent.readableNames(at: path) else { return [name] }
                return content.filter { inner in
                    let isFolder = Self.status("\(path)/\(inner)")?.isDirectory ?? true
                    return isFolder || !isOurs(plain(inner))
                }.map { "\(name)/\($0)" }
            case .store:
                guard status.isDirectory, FolderContent.readableNames(at: path) != nil else { return [name] }
                return foreign(at: path).map { "\(name)/\($0)" }
            }
        }
    }

    /// Whether a name is that of another store within.
    static func isStore(_ name: String) -> Bool {
        if case .store = kind(of: name) { true } else { false }
    }

    private enum Kind {
        case file
        /// Holds files of such names and nothing else.
        case folder((String) -> Bool)
        /// Another store, whole.
        case store
    }

    private static let run = [
        Rendezvous.socketName, EnclaveProtocol.socketName, EnclaveProtocol.socketLockName,
        Rendezvous.socketName + ".new", EnclaveProtocol.socketName + ".new", PersonProtocol.socketName,
        PersonProtocol.socketName + ".new",
    ]

    private static func kind(of name: String) -> Kind? {
        switch plain(name) {
        case Rendezvous.lockFile, Rendezvous.startFile, LogSink.fileName, RestoreSwitch.asideFile: .file
        case EnclaveFiles.folderName: .folder { EnclaveFiles.allNames.contains($0) }
        case "run": .folder { run.contains($0) }
        case AuditFolder.name: .folder { AuditFolder.isOurs($0) }
        case RestoreSwitch.stagingName, RestoreSwitch.readyName: .store
        case let other where isDated(other, RestoreSwitch.asidePrefix): .store
        case let other where database.contains(other) || isDated(other, StoreSetAside.prefix): .file
        case let other where isDated(other, Store.witnessName + "-"): .file
        default: nil
        }
    }

    /// SQLite's files, the marker of a database that is to be set aside, and the witness.
    private static let database =
        ["", "-wal", "-shm", "-journal"].map { Store.fileName + $0 } + [StoreSetAside.markerName, Store.witnessName]

    private static func isDated(_ name: String, _ prefix: String) -> Bool {
        name.hasPrefix(prefix)
            && name.utf8.dropFirst(prefix.utf8.count).first.map { (0x30...0x39).contains($0) } == true
    }

    /// A file that is being replaced has the name between `.` and `.new` (``PrivateDirectory/replace(_:with:mode:)``).
    private static func plain(_ name: String) -> String {
        guard name.hasPrefix("."), name.hasSuffix(".new") else { return name }
        return String(name.dropFirst().dropLast(".new".count))
    }

    private static func status(_ path: String) -> FileStatus? {
        do throws(SystemCallError) { return try FileStatus(at: FilePath(path), followingLink: false) } catch {
            return nil
        }
    }
}
