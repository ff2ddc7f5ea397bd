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
    private let holders: [ProcessHandle]

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
        try LostLock.wait(in: data, for: configuration, until: Deadline(after: patience, on: SystemClock()))
        let store: FileLock
        var holders: [ProcessHandle] = []
        if let free = try Self.freeLock(in: data) {
            store = free
        } else {
            let daemon = try Self.askDaemonToLeave(data)
            if let daemon { holders.append(daemon) }
            store = try Self.lock(Rendezvous.lockFile, in: data, within: patience, killing: killing ? daemon : nil)
        }
        let enclave = try Self.enclaveProcess(data)
        if let enclave { holders.append(enclave) }
        let folder: PrivateDirectory
        do throws(DirectoryRefusal) {
            folder = try PrivateDirectory("\(data.path)/\(EnclaveFiles.folderName)", creating: false)
        } catch {
            // Open to others, say: an enclave may be at work there all the same.
            guard case .system(_, let below) = error, below.isNoSuchFile else {
                throw KeychainError(folder: error)
            }
            EnclaveKeeping.dismiss(configuration)
            // Removed under an enclave: no lock tells when that has ended.
            if let enclave { try Self.awaitEnd(of: enclave, within: patience, killing: killing) }
            locks = [turn, store]
            self.holders = holders
            return
        }
        EnclaveKeeping.dismiss(configuration)
        let keybag = try Self.lock(
            EnclaveFiles.lockName, in: folder, within: patience, killing: killing ? enclave : nil)
        // The folder goes elsewhere: where its enclave was met is true no more.
        do throws(SystemCallError) { try keybag.write([]) } catch { throw KeychainError(files: error) }
        // The lock may be one that was made after it.
        if let enclave { try Self.awaitEnd(of: enclave, within: patience, killing: killing) }
        locks = [turn, store, keybag]
        self.holders = holders
    }

    /// Waits until those that gave the store up have ended, and their memory with them.
    ///
    /// - Throws: `storeInUse` where the deadline passes before.
    func waitForHolders(until deadline: Deadline) throws(KeychainError) {
        for process in holders {
            do throws(SystemCallError) {
                if case .ready = try process.waitForEnd(until: deadline) { continue }
            } catch {
                throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "\(error)")
            }
            throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "a process goes on")
        }
    }

    /// - Parameter killing: it is killed where it does not end in time.
    private static func awaitEnd(
        of process: ProcessHandle, within patience: Duration, killing: Bool
    ) throws(KeychainError) {
        do throws(SystemCallError) {
            if try process.waitForEnd(until: Deadline(after: patience, on: SystemClock())) == .ready { return }
            guard killing else { throw SystemCallError("latchkey-enclave goes on", errno: 0) }
            try process.kill()
            _ = try process.waitForEnd(until: Deadline(after: patience, on: SystemClock()))
        } catch {
            throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "\(error)")
        }
    }

    /// The enclave that has the keys: as long as it does, its lock file names it, or it is
    /// met in the data folder.
    private static func enclaveProcess(_ data: PrivateDirectory) throws(KeychainError) -> ProcessHandle? {
        guard let last = EnclaveRendezvous.last(inData: data.path) else { return nil }
        return try process(
            last.processID, running: "latchkey-enclave", at: EnclaveProtocol.socketName, in: last.runDirectory)
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
        } catch { throw fault(error, of: Rendezvous.lockFile, in: data) }
    }

    /// What kept a file from being locked, by its own name where something else lies in its place.
    private static func fault(
        _ error: SystemCallError, of name: String, in folder: PrivateDirectory
    ) -> KeychainError {
        error.isNotAFileOfOurs
            ? KeychainError(looking: error, at: "\(folder.path)/\(name)") : KeychainError(files: error)
    }

    /// The process that a lock file names, held by a pidfd from before it is identified: its
    /// number may be another container's, or somebody else's by now.
    ///
    /// - Returns: nil where the kernel does not give it as the one that listens at the socket.
    private static func process(
        _ number: Int32, running program: String, at socket: String, in folder: String
    ) throws(KeychainError) -> ProcessHandle? {
        do throws(SystemCallError) {
            guard let process = try ProcessHandle.ifThere(number) else { return nil }
            let run: PrivateDirectory
            do throws(DirectoryRefusal) { run = try PrivateDirectory(folder, creating: false) } catch { return nil }
            let connection: PacketSocket
            do throws(SystemCallError) {
                connection = try PacketSocket.connectNow(to: socket, in: run.descriptor)
            } catch {
                // As many wait for it as may, because it answers nobody: the kernel does not
                // say who it is.
                guard error.isWouldBlock else { return nil }
                return try process.runs(program, under: number) ? process : nil
            }
            let listener = try connection.peerCredentials()
            return listener.uid == ProcessEnvironment.effectiveUserID && listener.pid == number ? process : nil
        } catch {
            throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "\(error)")
        }
    }

    /// - Parameter holder: who is killed where the lock is not given up in time.
    private static func lock(
        _ name: String, in folder: PrivateDirectory, within patience: Duration, killing holder: ProcessHandle? = nil
    ) throws(KeychainError) -> FileLock {
        let take = { () throws(KeychainError) in
            do throws(SystemCallError) {
                return try FileLock.take(
                    try folder.openFile(name, creating: true), until: Deadline(after: patience, on: SystemClock()))
            } catch { throw fault(error, of: name, in: folder) }
        }
        var taken = try take()
        if taken == nil, let holder {
            do throws(SystemCallError) { try holder.kill() } catch {
                throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "\(error)")
            }
            taken = try take()
        }
        guard let taken else { throw KeychainError(.notAvailable, reason: .storeInUse) }
        return taken
    }

    /// Whoever listens at the store's socket is its daemon: the kernel says which
    /// process that is. Where nobody listens nobody is asked.
    ///
    /// - Returns: the process that was asked.
    private static func askDaemonToLeave(_ data: PrivateDirectory) throws(KeychainError) -> ProcessHandle? {
        let rendezvous: Rendezvous?
        do throws(SystemCallError) { rendezvous = try Rendezvous.read(in: data) } catch {
            throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "\(error)")
        }
        guard let rendezvous,
            let daemon = try process(
                rendezvous.processID, running: "latchkeyd", at: Rendezvous.socketName, in: rendezvous.runDirectory)
        else { return nil }
        do throws(SystemCallError) { try daemon.askToEnd() } catch {
            throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "\(error)")
        }
        return daemon
    }
}
