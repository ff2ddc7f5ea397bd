internal import Enclave
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore

/// A store that nobody opens while this is held: the locks of a starting daemon,
/// of a running one and of the keybag.
struct TakenStore {
    private let locks: [FileLock]

    /// Asks its daemon and its enclave to leave.
    ///
    /// - Throws: `storeInUse` where they do not.
    init(_ data: PrivateDirectory, from configuration: DaemonConfiguration) throws(KeychainError) {
        let patience = configuration.limits.patience
        let turn = try Self.lock(Rendezvous.startFile, in: data, within: patience)
        let store: FileLock
        if let free = try Self.freeLock(in: data) {
            store = free
        } else {
            try Self.askDaemonToLeave(data)
            store = try Self.lock(Rendezvous.lockFile, in: data, within: patience)
        }
        EnclaveKeeping.dismiss(configuration)
        let enclavePath = "\(data.path)/\(EnclaveFiles.folderName)"
        guard PrivateDirectory.isUsable(enclavePath) else {
            locks = [turn, store]
            return
        }
        let folder: PrivateDirectory
        do throws(DirectoryRefusal) { folder = try PrivateDirectory(enclavePath, creating: false) } catch {
            throw KeychainError(.notAvailable, reason: .keybagUnreadable, underlying: "\(error)")
        }
        let keybag = try Self.lock(EnclaveFiles.lockName, in: folder, within: patience)
        // The folder goes elsewhere: where its enclave was met is true no more.
        do throws(SystemCallError) { try keybag.write([]) } catch { throw KeychainError(files: error) }
        locks = [turn, store, keybag]
    }

    func release() {
        for lock in locks { lock.release() }
    }

    /// The store's lock where nobody has it: then nobody is asked to leave either.
    /// A service manager's socket names the daemon that listened last for ever, and
    /// its number may be another process's by now.
    private static func freeLock(in data: PrivateDirectory) throws(KeychainError) -> FileLock? {
        do throws(SystemCallError) {
            return try FileLock.take(data.openFile(Rendezvous.lockFile, creating: true))
        } catch {
            throw KeychainError(files: error)
        }
    }

    private static func lock(
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
    private static func askDaemonToLeave(_ data: PrivateDirectory) throws(KeychainError) {
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
