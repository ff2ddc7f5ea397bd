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
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: ClientConfiguration.noHome)
        }
    }

    /// Whether something that began then has stood for longer than an answer may take.
    func hasLasted(since began: Duration) -> Bool { configuration.clock.monotonic - began > configuration.patience }
    var now: Duration { configuration.clock.monotonic }

    /// True where `cancelled` was signalled before the time was over.
    func pause(_ duration: Duration, orUntil cancelled: EventSignal) throws(KeychainError) -> Bool {
        try Self.reaching { () throws(SystemCallError) in
            try waitForAny(of: [cancelled.descriptor], until: Deadline(after: duration, on: configuration.clock)) != nil
        }
    }

    private func hello(_ socket: PacketSocket, _ trust: ServerTrust) throws(KeychainError) -> DaemonConnection {
        try DaemonConnection(
            socket, trust: trust, clock: configuration.clock, patience: configuration.patience,
            version: LatchkeyVersion.text)
    }

    private func connectToTemporary(_ path: String) throws(KeychainError) -> DaemonConnection {
        guard path.hasPrefix("/") else {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: ClientConfiguration.noTemporary)
        }
        let socket = try Self.reaching { () throws(SystemCallError) in try PacketSocket.connect(to: path) }
        let connection = try hello(socket, .ownDaemon)
        guard connection.session.isTemporary else {
            throw KeychainError(
                .notAvailable, reason: .serverUntrusted, underlying: "LATCHKEY_TEMP names a lasting keychain")
        }
        return connection
    }

    private func connect(to locations: KeychainLocations, autostart: Bool) throws(KeychainError) -> DaemonConnection {
        var found = try Self.listening(for: locations)
        if found == nil, autostart, knock(at: Self.places(of: locations)) {
            found = try Self.listening(for: locations)
        }
        if let socket = found {
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
            guard let rendezvous = try rendezvous(of: locations, by: Rendezvous.present) else { return nil }
            let run = try PrivateDirectory(rendezvous.runDirectory, creating: false)
            return try connect(in: run, to: rendezvous.processID)
        } catch {
            if case .system(_, let below) = error {
                if below.isNoSuchFile { return nil }
                if below.isInputOutput { throw KeychainError(.io, reason: .inputOutput, underlying: "\(error)") }
            }
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
    }

    private static func rendezvous(
        of locations: KeychainLocations, by read: (PrivateDirectory) throws(SystemCallError) -> Rendezvous?
    ) throws(DirectoryRefusal) -> Rendezvous? {
        let data = try PrivateDirectory(locations.dataDirectory, creating: false)
        do throws(SystemCallError) { return try read(data) } catch {
            throw DirectoryRefusal.system(path: locations.dataDirectory, error)
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
            guard try socket.isListenedOn(by: process) else { return nil }
            // A service manager holds the socket of one that has gone; which store
            // the next one will serve is not known before it does.
            // One beyond our pid namespace has no number here: the hello finds out.
            return try socket.peerCredentials().pid != 0 && ProcessHandle.isGone(process) ? nil : socket
        } catch {
            if error.isRefusedConnection || error.isOtherSocketType { return nil }
            throw .system(path: run.path, error)
        }
    }

    // MARK: Waking

    /// Where a service manager may listen for a daemon that does not run yet.
    private static func places(of locations: KeychainLocations) -> [String] {
        var places = [locations.runDirectory]
        do throws(DirectoryRefusal) {
            if let last = try rendezvous(of: locations, by: Rendezvous.read),
                last.runDirectory != locations.runDirectory
            {
                places.insert(last.runDirectory, at: 0)
            }
        } catch {
            // Nothing is known of a store that cannot be read; its daemon says so.
        }
        return places
    }

    /// Has a service manager start the daemon, by connecting to its socket, and
    /// waits for the daemon's first word or its end; false where nobody listens.
    ///
    /// Only the lock file tells whether it was the daemon of this store, so what
    /// came is not read. Less than the whole patience: where no word comes, a
    /// daemon that we start ourselves finds out what is in the way.
    private func knock(at places: [String]) -> Bool {
        let deadline = Deadline(after: configuration.patience * 2 / 5, on: configuration.clock)
        for place in places {
            do throws(DirectoryRefusal) {
                let run = try PrivateDirectory(place, creating: false)
                do throws(SystemCallError) {
                    let socket = try PacketSocket.connectNow(to: Rendezvous.socketName, in: run.descriptor)
                    guard try socket.peerCredentials().uid == ProcessEnvironment.effectiveUserID else { continue }
                    _ = try KeychainPlatform.wait(for: socket.descriptor.raw, to: .receive, until: deadline)
                    return true
                } catch { continue }
            } catch { continue }
        }
        return false
    }

    private static func reaching<R>(
        _ connect: () throws(SystemCallError) -> R
    ) throws(KeychainError) -> R {
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
