internal import Enclave
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore

/// A store that nobody opens while this is held: the locks of a starting daemon,
/// of a running one and of the keybag.
struct TakenStore {
    private let locks: [FileLock]
    /// The processes that had the store and its keys, and gave them up.
    private let holders: [Int32]

    /// Asks its daemon and its enclave to leave.
    ///
    /// - Parameter killing: those that do not are killed, which loses nothing that was
    ///   acknowledged.
    /// - Throws: `storeInUse` where they stay.
    init(
        _ data: PrivateDirectory, from configuration: DaemonConfiguration, killing: Bool = false
    ) throws(KeychainError) {
        let patience = configuration.limits.patience
        let turn = try Self.lock(Rendezvous.startFile, in: data, within: patience)
        let store: FileLock
        var holders: [Int32] = []
        if let free = try Self.freeLock(in: data) {
            store = free
        } else {
            let daemon = try Self.askDaemonToLeave(data)
            if let daemon { holders.append(daemon) }
            store = try Self.lock(
                Rendezvous.lockFile, in: data, within: patience,
                killing: killing ? daemon.map { Holder(process: $0, program: "latchkeyd") } : nil)
        }
        let enclavePath = "\(data.path)/\(EnclaveFiles.folderName)"
        let folder: PrivateDirectory
        do throws(DirectoryRefusal) { folder = try PrivateDirectory(enclavePath, creating: false) } catch {
            if case .system(_, let below) = error, below.isNoSuchFile {
                locks = [turn, store]
                self.holders = holders
                return
            }
            // Open to others, say: an enclave may be at work there all the same.
            throw KeychainError(.notAvailable, reason: .keybagUnreadable, underlying: "\(error)")
        }
        let enclave = try Self.enclaveProcess(data, folder)
        if let enclave { holders.append(enclave) }
        EnclaveKeeping.dismiss(configuration)
        let keybag = try Self.lock(
            EnclaveFiles.lockName, in: folder, within: patience,
            killing: killing ? enclave.map { Holder(process: $0, program: "latchkey-enclave") } : nil)
        // The folder goes elsewhere: where its enclave was met is true no more.
        do throws(SystemCallError) { try keybag.write([]) } catch { throw KeychainError(files: error) }
        locks = [turn, store, keybag]
        self.holders = holders
    }

    /// Waits until those that gave the store up have ended, and their memory with them.
    ///
    /// - Throws: `storeInUse` where the deadline passes before.
    func waitForHolders(until deadline: Deadline) throws(KeychainError) {
        for process in holders {
            do throws(SystemCallError) {
                if try ProcessHandle.waitForEnd(of: process, until: deadline) == .ready { continue }
            } catch {
                throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "\(error)")
            }
            throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "process \(process) goes on")
        }
    }

    /// The enclave that has the keys: as long as it does, its lock file names it.
    private static func enclaveProcess(
        _ data: PrivateDirectory, _ folder: PrivateDirectory
    ) throws(KeychainError) -> Int32? {
        guard let last = EnclaveRendezvous.last(inData: data.path) else { return nil }
        do throws(SystemCallError) {
            guard let free = try FileLock.take(folder.openFile(EnclaveFiles.lockName, creating: true)) else {
                return last.processID
            }
            free.release()
            return nil
        } catch { throw KeychainError(files: error) }
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

    /// Who has a lock, by what its file says.
    private struct Holder {
        let process: Int32
        let program: String
    }

    /// - Parameter holder: who is killed where the lock is not given up in time.
    private static func lock(
        _ name: String, in folder: PrivateDirectory, within patience: Duration, killing holder: Holder? = nil
    ) throws(KeychainError) -> FileLock {
        var taken: FileLock?
        do throws(SystemCallError) {
            let take = { () throws(SystemCallError) in
                try FileLock.take(
                    try folder.openFile(name, creating: true), until: Deadline(after: patience, on: SystemClock()))
            }
            taken = try take()
            if taken == nil, let holder, try ProcessHandle.kill(holder.process, running: holder.program) {
                taken = try take()
            }
        } catch { throw KeychainError(files: error) }
        guard let taken else { throw KeychainError(.notAvailable, reason: .storeInUse) }
        return taken
    }

    /// Whoever listens at the store's socket is its daemon: the kernel says which
    /// process that is. Where nobody listens nobody is asked.
    ///
    /// - Returns: the process that was asked, or that nobody can ask any more.
    private static func askDaemonToLeave(_ data: PrivateDirectory) throws(KeychainError) -> Int32? {
        do throws(SystemCallError) {
            guard let rendezvous = try Rendezvous.read(in: data) else { return nil }
            let run: PrivateDirectory
            do throws(DirectoryRefusal) {
                run = try PrivateDirectory(rendezvous.runDirectory, creating: false)
            } catch { return nil }
            let socket: PacketSocket
            do throws(SystemCallError) {
                socket = try PacketSocket.connectNow(to: Rendezvous.socketName, in: run.descriptor)
            } catch {
                if error.isRefusedConnection { return nil }
                // As many wait for it as may, because it answers nobody: there is no asking it.
                guard error.isWouldBlock else { throw error }
                return rendezvous.processID
            }
            let listener = try socket.peerCredentials()
            guard listener.uid == ProcessEnvironment.effectiveUserID, listener.pid == rendezvous.processID
            else { return nil }
            try ProcessHandle.askToEnd(listener.pid)
            return listener.pid
        } catch {
            throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "\(error)")
        }
    }
}
