internal import KeychainPlatform
internal import KeychainProtocol

/// A folder in which an enclave listens: `enclave.sock` for the daemon, `person.sock` for
/// a person, whom the daemon has no part in.
struct EnclaveDoor {
    let listener: PacketSocket
    let personListener: PacketSocket
    let path: String
    private let folder: PrivateDirectory
    private let lock: FileLock

    init(in path: String) throws(KeybagError) {
        self.path = path
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

    /// What is left of the folder to a confined enclave: to give the sockets up.
    var reach: Confinement.Folder { Confinement.Folder(folder, for: .removal) }

    /// Whether somebody could still find it.
    var isThere: Bool {
        folder.isInPlace && folder.holdsSocket(EnclaveProtocol.socketName)
            && folder.holdsSocket(PersonProtocol.socketName)
    }

    func remove() throws(KeybagError) {
        do throws(SystemCallError) {
            try folder.remove(EnclaveProtocol.socketName)
            try folder.remove(PersonProtocol.socketName)
        } catch { throw .system(error) }
    }
}
