internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The socket in the run directory: a real folder of ours, mode 0700, or nothing.
struct Doorway: Sendable {
    let directory: PrivateDirectory
    let listener: PacketSocket
    let watch: RemovalWatch

    /// - Throws: `errSecNotAvailable` with what is wrong with the folder.
    init(_ path: String) throws(KeychainError) {
        do throws(DirectoryRefusal) {
            directory = try PrivateDirectory(path, creating: true)
        } catch {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
        do throws(SystemCallError) {
            // Whoever has the store's lock owns the name; what lies there is stale.
            try directory.remove(Rendezvous.socketName)
            try directory.remove(Rendezvous.socketName + ".new")
            watch = try RemovalWatch(path)
            listener = try PacketSocket.listen(at: Rendezvous.socketName, in: directory.descriptor)
            try listener.setNonBlocking(true)
        } catch {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
    }

    var isGone: Bool { !directory.holdsSocket(Rendezvous.socketName) }

    func close() {
        do throws(SystemCallError) { try directory.remove(Rendezvous.socketName) } catch { return }
    }
}
