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
            if let daemon { holders.append(daemon.process) }
            store = try Self.lock(Rendezvous.lockFile, in: data, within: patience, killing: killing ? daemon : nil)
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
        if let enclave { holders.append(enclave.process) }
        EnclaveKeeping.dismiss(configuration)
        let keybag = try Self.lock(EnclaveFiles.lockName, in: folder, within: patience, killing: killing ? enclave : nil)
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
    ) throws(KeychainError) -> Holder? {
        guard let last = EnclaveRendezvous.last(inData: data.path) else { return nil }
        do throws(SystemCallError) {
            guard let free = try FileLock.take(folder.openFile(EnclaveFiles.lockName, creating: true)) else {
                var proof = ProcessHandle.Proof.runs("latchkey-enclave")
                if case .listening = Self.whoListens(EnclaveProtocol.socketName, in: last.runDirectory, last.processID) {
                    proof = .listens
                }
                return Holder(process: last.processID, proof: proof)
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

    /// Who has a lock, by what its file says, and what else says so.
    private struct Holder {
        let process: Int32
        let proof: ProcessHandle.Proof
    }

    private enum Listener {
        case listening
        /// As many wait for it as may, because it answers nobody: the kernel does not say who it is.
        case deaf
        /// Nobody, or another process.
        case another
    }

    private static func whoListens(_ name: String, in folder: String, _ process: Int32) -> Listener {
        do {
            let run = try PrivateDirectory(folder, creating: false)
            let socket: PacketSocket
            do throws(SystemCallError) {
                socket = try PacketSocket.connectNow(to: name, in: run.descriptor)
            } catch { return error.isWouldBlock ? .deaf : .another }
            let listener = try socket.peerCredentials()
            return listener.uid == ProcessEnvironment.effectiveUserID && listener.pid == process ? .listening : .another
        } catch { return .another }
    }

    /// - Parameter holder: who is killed where the lock is not given up in time.
    private static func lock(
        _ name: String, in folder: PrivateDirectory, within patience: Duration, killing holder: Holder? = nil
    ) throws(KeychainError) -> FileLock {
        let take = { () throws(KeychainError) in
            do throws(SystemCallError) {
                return try FileLock.take(
                    try folder.openFile(name, creating: true), until: Deadline(after: patience, on: SystemClock()))
            } catch { throw KeychainError(files: error) }
        }
        var taken = try take()
        if taken == nil, let holder {
            let isKilled: Bool
            do throws(SystemCallError) { isKilled = try ProcessHandle.kill(holder.process, holder.proof) } catch {
                throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "\(error)")
            }
            if isKilled { taken = try take() }
        }
        guard let taken else { throw KeychainError(.notAvailable, reason: .storeInUse) }
        return taken
    }

    /// Whoever listens at the store's socket is its daemon: the kernel says which
    /// process that is. Where nobody listens nobody is asked.
    ///
    /// - Returns: the process that was asked.
    private static func askDaemonToLeave(_ data: PrivateDirectory) throws(KeychainError) -> Holder? {
        do throws(SystemCallError) {
            guard let rendezvous = try Rendezvous.read(in: data) else { return nil }
            let process = rendezvous.processID
            let proof: ProcessHandle.Proof
            switch whoListens(Rendezvous.socketName, in: rendezvous.runDirectory, process) {
            case .listening: proof = .listens
            case .deaf: proof = .runs("latchkeyd")
            case .another: return nil
            }
            return try ProcessHandle.askToEnd(process, proof) ? Holder(process: process, proof: proof) : nil
        } catch {
            throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "\(error)")
        }
    }
}
