internal import KeychainPlatform

/// `enclave.sock` in the run folder, listened on by the one process that holds
/// `enclave.lock` beside it: a socket that is there without that lock is dead.
struct EnclaveSocket {
    let listener: PacketSocket
    private let folder: PrivateDirectory
    private let lock: FileLock

    init(inRun path: String) throws(KeybagError) {
        do throws(DirectoryRefusal) {
            folder = try PrivateDirectory(path, creating: true)
        } catch {
            throw .directory(error)
        }
        let taken: FileLock?
        do throws(SystemCallError) {
            taken = try FileLock.take(try folder.openFile(EnclaveProtocol.socketLockName, creating: true))
        } catch {
            throw .system(error)
        }
        guard let taken else { throw .inUse }
        lock = taken
        do throws(SystemCallError) {
            try folder.remove(EnclaveProtocol.socketName)
            listener = try PacketSocket.listen(at: EnclaveProtocol.socketName, in: folder.descriptor)
        } catch {
            throw .system(error)
        }
    }

    /// Whether somebody could still find us.
    var isThere: Bool { folder.holdsSocket(EnclaveProtocol.socketName) }

    func remove() throws(SystemCallError) { try folder.remove(EnclaveProtocol.socketName) }
}
