internal import KeychainPlatform
internal import KeychainProtocol

/// `enclave.sock` in the run folder, listened on by the one process that holds
/// `enclave.lock` beside it: a socket that is there without that lock is dead.
struct EnclaveSocket {
    let listener: PacketSocket
    /// `person.sock`: where a person is heard, whom the daemon has no part in.
    let personListener: PacketSocket
    private let folder: PrivateDirectory
    private let lock: FileLock

    init(inRun path: String) throws(KeybagError) {
        do throws(DirectoryRefusal) {
            folder = try PrivateDirectory(path, creating: true)
        } catch {
            throw .directory(error)
        }
        lock = try FileLock.take(EnclaveProtocol.socketLockName, in: folder)
        do throws(SystemCallError) {
            // What a start that was cut short left behind; the socket itself is replaced.
            try folder.remove("\(EnclaveProtocol.socketName).new")
            listener = try PacketSocket.listen(at: EnclaveProtocol.socketName, in: folder.descriptor)
            try listener.setNonBlocking(true)
            try folder.remove("\(PersonProtocol.socketName).new")
            personListener = try PacketSocket.listen(at: PersonProtocol.socketName, in: folder.descriptor)
            try personListener.setNonBlocking(true)
        } catch {
            throw .system(error)
        }
    }

    /// What is left of the run folder: to give the sockets up.
    var reach: Confinement.Folder { Confinement.Folder(folder, for: .removal) }

    /// Whether somebody could still find us.
    var isThere: Bool { folder.holdsSocket(EnclaveProtocol.socketName) }

    func remove() throws(KeybagError) {
        do throws(SystemCallError) {
            try folder.remove(EnclaveProtocol.socketName)
            try folder.remove(PersonProtocol.socketName)
        } catch { throw .system(error) }
    }
}

extension FileLock {
    /// The lock on a file, which is made where it is not there.
    ///
    /// - Throws: ``KeybagError/inUse`` where another process has it.
    static func take(_ name: String, in folder: PrivateDirectory) throws(KeybagError) -> FileLock {
        let taken: FileLock?
        do throws(SystemCallError) {
            taken = try take(try folder.openFile(name, creating: true))
        } catch {
            throw .system(error)
        }
        guard let taken else { throw .inUse }
        return taken
    }
}
