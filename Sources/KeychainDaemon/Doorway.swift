internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The socket in the run directory: a real folder of ours, mode 0700, or nothing.
struct Doorway: Sendable {
    let directory: PrivateDirectory
    let listener: PacketSocket
    let watch: RemovalWatch
    /// Which file the socket is: another one in its place leads elsewhere.
    private let socketFile: FileIdentity
    /// A service manager goes on listening when we have left.
    private let isLent: Bool

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
            socketFile = try Self.socketFile(in: directory)
        } catch {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
        isLent = false
    }

    /// The socket of a service manager, in the folder where clients look.
    ///
    /// - Throws: `errSecNotAvailable`, reason `startRefused`, where it is elsewhere.
    init(lent socket: PacketSocket, at path: String) throws(KeychainError) {
        do throws(DirectoryRefusal) { directory = try PrivateDirectory(path, creating: false) } catch {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
        listener = socket
        isLent = true
        let folder = directory
        let place: String?
        do throws(SystemCallError) {
            watch = try RemovalWatch(path)
            try socket.listenAnew()
            place = try Self.leads(folder, to: socket) ? nil : socket.boundPath()?.printable ?? "a place without a name"
            socketFile = try place == nil ? Self.socketFile(in: folder) : FileStatus(of: folder.descriptor).identity
        } catch {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
        if let place {
            throw KeychainError(
                .notAvailable,
                reason: .startRefused(
                    why: "the socket of LISTEN_FDS is \(place), clients look for \(path)/\(Rendezvous.socketName)"))
        }
    }

    /// Whether who connects in that folder comes to the socket on which this very
    /// process listens; what the socket says of its own path could have been
    /// replaced meanwhile.
    private static func leads(_ folder: PrivateDirectory, to socket: PacketSocket) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) {
            return try PacketSocket.connectNow(to: Rendezvous.socketName, in: folder.descriptor)
                .isListenedOn(by: ProcessEnvironment.processID)
        } catch {
            guard error.isRefusedConnection || error.isOtherSocketType else { throw error }
            return false
        }
    }

    private static func socketFile(in folder: PrivateDirectory) throws(SystemCallError) -> FileIdentity {
        try FileStatus(at: FilePath(Rendezvous.socketName), in: folder.descriptor, followingLink: false).identity
    }

    /// Whether somebody listens in a folder of ours.
    static func isAnswered(in path: String) -> Bool {
        do throws(DirectoryRefusal) { return isAnswered(try PrivateDirectory(path, creating: false)) } catch {
            return false
        }
    }

    private static func isAnswered(_ directory: PrivateDirectory) -> Bool {
        do throws(SystemCallError) {
            _ = try PacketSocket.connectNow(to: Rendezvous.socketName, in: directory.descriptor)
            return true
        } catch {
            // A queue that is full is somebody's.
            return error.isWouldBlock
        }
    }

    /// In the run folder, or in the data folder where another store's daemon
    /// listens in that one.
    static func first(_ configuration: DaemonConfiguration) throws(KeychainError) -> Doorway {
        let locations = configuration.locations
        if let socket = configuration.activation { return try Doorway(lent: socket, at: locations.runDirectory) }
        do throws(KeychainError) { return try Doorway(locations.runDirectory) } catch {
            guard error.reason == .storeInUse else { throw error }
            return try Doorway(locations.dataDirectory + "/run")
        }
    }

    /// The folder of a login session goes with the session (/run/user/UID at the
    /// last logout); the data folder stays.
    static func again(_ locations: KeychainLocations) throws(KeychainError) -> Doorway {
        // Who is still emptying the folder takes what was just made in it as well.
        for _ in 0..<3 {
            do throws(KeychainError) { return try Doorway(locations.runDirectory) } catch { continue }
        }
        return try Doorway(locations.dataDirectory + "/run")
    }

    /// The socket was removed or replaced (a service manager that begins to listen
    /// here does that), or its folder is no longer where clients look.
    var isGone: Bool { !holdsOurs || !directory.isInPlace }

    private var holdsOurs: Bool {
        guard directory.holdsSocket(Rendezvous.socketName) else { return false }
        do throws(SystemCallError) { return try Self.socketFile(in: directory) == socketFile } catch { return false }
    }

    /// Takes the socket away, unless somebody else goes on listening there.
    func close() {
        guard !isLent, holdsOurs else { return }
        do throws(SystemCallError) { try directory.remove(Rendezvous.socketName) } catch { return }
    }
}
