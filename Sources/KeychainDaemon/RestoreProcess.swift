internal import Enclave
package import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
package import KeychainService
internal import KeychainStore

/// `latchkeyd --restore`: takes a store from its daemon, puts a backup in its
/// place and leaves; the next call of any program starts a daemon on it.
package struct RestoreProcess {
    private let configuration: DaemonConfiguration

    package init(_ configuration: DaemonConfiguration) { self.configuration = configuration }

    /// Why nothing was restored.
    package enum Failure: Error {
        /// A store with items is there, and nobody said that it may go.
        case wouldReplaceItems
        case keychain(KeychainError)
    }

    package func run(from backup: String, replacing: Bool) throws(Failure) -> Restoration.Outcome {
        let data: PrivateDirectory
        do throws(DirectoryRefusal) {
            data = try PrivateDirectory(configuration.locations.dataDirectory, creating: true)
        } catch {
            throw .keychain(KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "\(error)"))
        }
        try keychain { () throws(KeychainError) in try Restoration.check(backup) }
        try refuseItems(in: data, replacing)
        let locks = try keychain { () throws(KeychainError) in try takeStore(data) }
        // Something may have been stored until the daemon left.
        try refuseItems(in: data, replacing)
        let outcome = try keychain { () throws(KeychainError) in
            try Restoration(into: data, clock: configuration.clock).run(from: backup)
        }
        for lock in locks { lock.release() }
        return outcome
    }

    private func keychain<R>(_ body: () throws(KeychainError) -> R) throws(Failure) -> R {
        do throws(KeychainError) { return try body() } catch { throw .keychain(error) }
    }

    private func refuseItems(in data: PrivateDirectory, _ replacing: Bool) throws(Failure) {
        if replacing { return }
        let holdsItems = try keychain { () throws(KeychainError) in try Restoration.wouldReplaceItems(in: data) }
        if holdsItems { throw .wouldReplaceItems }
    }

    // MARK: Taking the store

    /// The locks of a starting daemon, of a running one and of the keybag:
    /// nobody opens the store while they are held.
    private func takeStore(_ data: PrivateDirectory) throws(KeychainError) -> [FileLock] {
        let patience = configuration.limits.patience
        let turn = try lock(Rendezvous.startFile, in: data, within: patience)
        try askDaemonToLeave(data)
        let store = try lock(Rendezvous.lockFile, in: data, within: patience)
        EnclaveKeeping.dismiss(configuration)
        guard PrivateDirectory.isUsable(enclavePath) else { return [turn, store] }
        let folder: PrivateDirectory
        do throws(DirectoryRefusal) { folder = try PrivateDirectory(enclavePath, creating: false) } catch {
            throw KeychainError(.notAvailable, reason: .keybagUnreadable, underlying: "\(error)")
        }
        let keybag = try lock("lock", in: folder, within: patience)
        // The folder goes elsewhere: where its enclave was met is true no more.
        do throws(SystemCallError) { try keybag.write([]) } catch { throw KeychainError(files: error) }
        return [turn, store, keybag]
    }

    private var enclavePath: String { "\(configuration.locations.dataDirectory)/\(EnclaveFiles.folderName)" }

    private func lock(
        _ name: String, in folder: PrivateDirectory, within patience: Duration
    ) throws(KeychainError) -> FileLock {
        let taken: FileLock?
        do throws(SystemCallError) {
            taken = try FileLock.take(
                try folder.openFile(name, creating: true), until: Deadline(after: patience, on: SystemClock()))
        } catch { throw KeychainError(files: error) }
        guard let taken else { throw KeychainError(.notAvailable, reason: .storeInUse) }
        return taken
    }

    /// Whoever listens at the store's socket is its daemon: the kernel says which
    /// process that is. Where nobody listens nobody is asked.
    private func askDaemonToLeave(_ data: PrivateDirectory) throws(KeychainError) {
        do throws(SystemCallError) {
            guard let rendezvous = try Rendezvous.read(in: data) else { return }
            let run: PrivateDirectory
            do throws(DirectoryRefusal) {
                run = try PrivateDirectory(rendezvous.runDirectory, creating: false)
            } catch { return }
            let socket: PacketSocket
            do throws(SystemCallError) {
                socket = try PacketSocket.connectNow(to: Rendezvous.socketName, in: run.descriptor)
            } catch {
                if error.isRefusedConnection { return }
                throw error
            }
            let listener = try socket.peerCredentials()
            guard listener.uid == ProcessEnvironment.effectiveUserID, listener.pid == rendezvous.processID
            else { return }
            try ProcessHandle.askToEnd(listener.pid)
        } catch {
            throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "\(error)")
        }
    }
}
