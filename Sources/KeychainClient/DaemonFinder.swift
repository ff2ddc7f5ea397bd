package import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// Finds a store's daemon by its lock file, starts one where none listens, and
/// connects.
package struct DaemonFinder: Sendable {
    private let configuration: ClientConfiguration

    package init(_ configuration: ClientConfiguration) { self.configuration = configuration }

    package func connect() throws(KeychainError) -> DaemonConnection {
        switch configuration.target {
        case .store(let locations, let autostart): return try connect(to: locations, autostart: autostart)
        case .temporary(let socket): return try connectToTemporary(socket)
        case .system:
            let socket = try Self.reaching { () throws(SystemCallError) in
                try PacketSocket.connect(to: "\(ClientConfiguration.systemDirectory)/\(Rendezvous.socketName)")
            }
            return try hello(socket, .systemDaemon)
        case .nowhere:
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "this user has no home")
        }
    }

    private func hello(_ socket: PacketSocket, _ trust: ServerTrust) throws(KeychainError) -> DaemonConnection {
        try DaemonConnection(
            socket, trust: trust, clock: configuration.clock, patience: configuration.patience,
            version: LatchkeyVersion.text)
    }

    private func connectToTemporary(_ path: String) throws(KeychainError) -> DaemonConnection {
        let socket = try Self.reaching { () throws(SystemCallError) in try PacketSocket.connect(to: path) }
        let connection = try hello(socket, .ownDaemon)
        guard connection.session.isTemporary else {
            throw KeychainError(
                .notAvailable, reason: .serverUntrusted, underlying: "LATCHKEY_TEMP names a lasting keychain")
        }
        return connection
    }

    private func connect(to locations: KeychainLocations, autostart: Bool) throws(KeychainError) -> DaemonConnection {
        if let socket = try Self.listening(for: locations) {
            do throws(KeychainError) { return try hello(socket, .ownDaemon) } catch {
                // It may have been about to leave (ten minutes without a
                // connection): nothing was asked yet, so ask a new one.
                guard autostart, error.reason == .daemonUnreachable else { throw error }
            }
        }
        guard autostart else { throw KeychainError(.notAvailable, reason: .daemonUnreachable) }
        try start(locations)
        guard let socket = try Self.listening(for: locations) else {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "it started and does not listen")
        }
        return try hello(socket, .ownDaemon)
    }

    /// The socket that the lock file names, or nil where nothing listens there.
    private static func listening(for locations: KeychainLocations) throws(KeychainError) -> PacketSocket? {
        do throws(DirectoryRefusal) {
            let data = try PrivateDirectory(locations.dataDirectory, creating: false)
            let rendezvous: Rendezvous?
            do throws(SystemCallError) { rendezvous = try Rendezvous.read(in: data) } catch {
                throw DirectoryRefusal.system(path: locations.dataDirectory, error)
            }
            guard let rendezvous else { return nil }
            let run = try PrivateDirectory(rendezvous.runDirectory, creating: false)
            return try connect(in: run, to: rendezvous.processID)
        } catch {
            if case .system(_, let below) = error, below.isNoSuchFile { return nil }
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
    }

    /// nil where the process that has the store does not listen; another one that
    /// listens there is another store's.
    private static func connect(
        in run: PrivateDirectory, to process: Int32
    ) throws(DirectoryRefusal) -> PacketSocket? {
        do throws(SystemCallError) {
            let socket = try PacketSocket.connect(to: Rendezvous.socketName, in: run.descriptor)
            // Another user's listener is not another store's: the hello says so.
            guard try socket.peerCredentials().uid == ProcessEnvironment.effectiveUserID else { return socket }
            return try socket.isListenedOn(by: process) ? socket : nil
        } catch {
            if error.isRefusedConnection { return nil }
            throw .system(path: run.path, error)
        }
    }

    private static func reaching(
        _ connect: () throws(SystemCallError) -> PacketSocket
    ) throws(KeychainError) -> PacketSocket {
        do throws(SystemCallError) { return try connect() } catch {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
    }

    // MARK: Starting

    /// Starts a daemon and waits until it (or the winner of a race) listens.
    private func start(_ locations: KeychainLocations) throws(KeychainError) {
        let program = try DaemonProgram.find(in: configuration.programDirectories)
        var pair = try Self.reporting { () throws(SystemCallError) in try PacketSocket.pair() }
        let ours = pair.0
        var theirs: PacketSocket? = pair.1
        pair = (ours, ours)
        try Self.reporting { () throws(SystemCallError) in
            try DaemonStarter.start(
                program,
                arguments: ["--data-dir", locations.dataDirectory, "--run-dir", locations.runDirectory, "--report"],
                environment: ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"], keeping: theirs?.descriptor)
        }
        // Only the daemon may hold its end now: when it dies, ours reads the end.
        theirs = nil
        try DaemonReport.wait(on: ours, until: Deadline(after: configuration.patience, on: configuration.clock))
    }

    private static func reporting<R>(_ body: () throws(SystemCallError) -> R) throws(KeychainError) -> R {
        do throws(SystemCallError) { return try body() } catch {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
    }
}
