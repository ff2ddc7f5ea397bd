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
        // We have our store's lock: who answers here is the daemon of another.
        guard !Self.isAnswered(directory) else {
            throw KeychainError(
                .notAvailable, reason: .storeInUse, underlying: "the daemon of another store listens in \(path)")
        }
        do throws(SystemCallError) {
            // Nobody listens: what lies there is stale.
            try directory.remove(Rendezvous.socketName)
            try directory.remove(Rendezvous.socketName + ".new")
            watch = try RemovalWatch(path)
            listener = try PacketSocket.listen(at: Rendezvous.socketName, in: directory.descriptor)
            try listener.setNonBlocking(true)
        } catch {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
    }

    private static func isAnswered(_ directory: PrivateDirectory) -> Bool {
        do throws(SystemCallError) {
            _ = try PacketSocket.connectNow(to: Rendezvous.socketName, in: directory.descriptor)
            return true
        } catch {
            return false
        }
    }

    /// In the run folder, or in the data folder where another store's daemon
    /// listens in that one.
    static func first(_ locations: KeychainLocations) throws(KeychainError) -> Doorway {
        do throws(KeychainError) { return try Doorway(locations.runDirectory) } catch {
            guard error.reason == .storeInUse else { throw error }
            return try Doorway(locations.dataDirectory + "/run")
        }
    }

    /// The folder of a login session goes with the session (/run/user/UID at the
    /// last logout); the data folder stays.
    static func again(_ locations: KeychainLocations) throws(KeychainError) -> Doorway {
        do throws(KeychainError) { return try Doorway(locations.runDirectory) } catch {
            return try Doorway(locations.dataDirectory + "/run")
        }
    }

    /// The socket was removed, or its folder is no longer where clients look.
    var isGone: Bool { !directory.holdsSocket(Rendezvous.socketName) || !directory.isInPlace }

    func close() {
        do throws(SystemCallError) { try directory.remove(Rendezvous.socketName) } catch { return }
    }
}
