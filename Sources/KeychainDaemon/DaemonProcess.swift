internal import Enclave
internal import KeychainMessages
package import KeychainModel
package import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import KeychainStore
package import Logging

/// A daemon from start to end: one starter at a time, the store's lock, the
/// enclave, the socket, the word to whoever started it, and serving.
package struct DaemonProcess {
    private let configuration: DaemonConfiguration
    private let logger: Logger
    /// Hears that the daemon listens, or why it cannot.
    private let report: PacketSocket?

    package init(_ configuration: DaemonConfiguration, logger: Logger, report: PacketSocket?) {
        self.configuration = configuration
        self.logger = logger
        self.report = report
    }

    /// How a daemon ended.
    package enum Outcome: Sendable {
        case served
        /// Another daemon has this store and listens.
        case notNeeded
        case failed(KeychainError)
    }

    /// Blocks until the daemon leaves.
    package func run() -> Outcome {
        do throws(KeychainError) {
            try Self.check(configuration.locations)
            let data = try privateDirectory(configuration.locations.dataDirectory)
            let patience = Deadline(after: startPatience, on: SystemClock())
            var turn: FileLock? = try takeTurn(data, until: patience)
            guard let engine = try openEngine(data, until: patience) else {
                tellStarter(nil)
                turnAway(nil)
                return .notNeeded
            }
            let daemon = try Daemon(configuration, engine: engine, logger: logger)
            let terminated = try terminationSignal()
            // The next starter finds us listening from here on.
            withExtendedLifetime(turn) {}
            turn = nil
            return serve(daemon, engine, data, until: terminated)
        } catch {
            logger.error("cannot start", metadata: ["cause": "\(error)"])
            tellStarter(error)
            turnAway(error)
            return .failed(error)
        }
    }

    /// Whoever waits at a service manager's socket hears at once that nobody comes,
    /// and why; the manager would start us again and again for them. Who hears
    /// nothing but the end looks for the daemon that has the store.
    private func turnAway(_ error: KeychainError?) {
        guard let socket = configuration.activation else { return }
        do throws(SystemCallError) {
            while let waiting = try socket.accept() {
                guard let error else { continue }
                do throws(FrameError) {
                    try StarterReport.send(
                        error, on: waiting, until: Deadline(after: .zero, on: configuration.clock))
                } catch { continue }
            }
        } catch {
            logger.notice("nobody can be turned away", metadata: ["cause": "\(error)"])
        }
    }

    private func serve(
        _ daemon: Daemon, _ engine: KeychainEngine, _ data: PrivateDirectory,
        until terminated: EventSignal
    ) -> Outcome {
        if let event = engine.openingEvent { logger.error("\(event)") }
        engine.tellMended { [logger] event in logger.error("\(event)") }
        tellStarter(nil)
        ProgramMemory.letGoOfCode()
        let salvage = goOnSalvaging(engine)
        daemon.run(until: terminated)
        withExtendedLifetime(salvage) {}
        // What a person opened stays open for the next daemon, and so do keys that lie nowhere else.
        if configuration.isTemporary || !daemon.leavesEnclave && !engine.isLastPlace {
            EnclaveKeeping.dismiss(configuration)
        }
        do throws(KeychainError) { try engine.close() } catch {
            logger.error("closing failed", metadata: ["cause": "\(error)"])
        }
        if configuration.isTemporary { wipe(data) }
        return .served
    }

    /// What the time at opening was too short for; ends with the engine.
    private func goOnSalvaging(_ engine: KeychainEngine) -> DoctorCall? {
        guard engine.needsSalvage else { return nil }
        do throws(SystemCallError) { return try DoctorCall(.salvage, on: engine) } catch {
            logger.error("salvage cannot go on", metadata: ["cause": "\(error)"])
            return nil
        }
    }

    /// What the folder's path may have, so that with "/keychain.db" and the eight bytes of a
    /// journal's name it fits into SQLite's 512 (os_unix.c, MAX_PATHNAME; pager.c), which
    /// takes more for a broken file.
    private static let longestPath = 492

    /// Open files that daemon and enclave need for themselves and for a few clients: with fewer
    /// a database that is well is told as one that cannot be read.
    private static let leastDescriptors: Int64 = 64

    /// Lock files say paths in lines.
    private static func check(_ locations: KeychainLocations) throws(KeychainError) {
        guard ![locations.dataDirectory, locations.runDirectory].contains(where: { $0.utf8.contains(0x0A) }) else {
            throw KeychainError(.notAvailable, reason: .startRefused(why: "the path of a folder has a line end"))
        }
        guard locations.dataDirectory.utf8.count <= longestPath else {
            throw KeychainError(
                .notAvailable, reason: .startRefused(why: "the path of its folder has more than \(longestPath) bytes"))
        }
        if let most = Hardening.descriptorLimit, most < leastDescriptors {
            throw KeychainError(
                .notAvailable,
                reason: .startRefused(
                    why: "\(most) files may be open here, and it needs \(leastDescriptors) (ulimit -n)"))
        }
    }

    private func privateDirectory(_ path: String) throws(KeychainError) -> PrivateDirectory {
        do throws(DirectoryRefusal) { return try PrivateDirectory(path, creating: true) } catch {
            throw KeychainError(folder: error)
        }
    }

    /// Starters of one store take turns, so the loser of a race finds the winner
    /// listening.
    private func takeTurn(_ data: PrivateDirectory, until deadline: Deadline) throws(KeychainError) -> FileLock {
        do throws(SystemCallError) {
            let file = try data.openFile(Rendezvous.startFile, creating: true)
            guard let turn = try FileLock.take(file, until: deadline) else {
                throw SystemCallError("another start of this store hangs", errno: 0)
            }
            return turn
        } catch {
            guard error.errno != 0 else { throw KeychainError(.notAvailable, reason: .busy, underlying: error.call) }
            throw KeychainError(
                .notAvailable, reason: error.isDiskFull ? .diskFull : .folderUnusable(why: "\(data.path): \(error)"))
        }
    }

    /// nil where another daemon has the store and listens. One that is about to
    /// leave gives the store up within the patience; we take it then.
    private func openEngine(
        _ data: PrivateDirectory, until deadline: Deadline
    ) throws(KeychainError) -> KeychainEngine? {
        try LostLock.wait(in: data, for: configuration, until: deadline)
        do throws(KeychainError) { return try open(data) } catch {
            guard error.reason == .storeInUse else { throw error }
            guard try waitForHolder(data, until: deadline) == .left else { return nil }
            return try open(data)
        }
    }

    /// For the turn and the store together, and less than a starter waits, which
    /// then hears what is in the way.
    private var startPatience: Duration { configuration.limits.patience * 4 / 5 }

    /// What became of another daemon that had the store.
    private enum Holder {
        case listens
        case left
    }

    /// How often it is looked for: one whose socket was removed is about to make it anew.
    private static let holderPause: Duration = .milliseconds(50)

    private func waitForHolder(_ data: PrivateDirectory, until deadline: Deadline) throws(KeychainError) -> Holder {
        do throws(SystemCallError) {
            let file = try data.openFile(Rendezvous.lockFile, creating: true)
            let never = try EventSignal()
            while true {
                if holderListens(data) { return .listens }
                if let free = try FileLock.take(file) {
                    free.release()
                    return .left
                }
                guard !deadline.hasPassed else { break }
                let soon = Deadline(after: min(Self.holderPause, deadline.remaining), on: SystemClock())
                _ = try waitForAny(of: [never.descriptor], until: soon)
            }
        } catch {
            throw KeychainError(.notAvailable, reason: .storeInUse, underlying: "\(error)")
        }
        throw KeychainError(.notAvailable, reason: .storeInUse, underlying: Self.name(ofHolder: data))
    }

    /// Who has the store, as its lock file says.
    private static func name(ofHolder data: PrivateDirectory) -> String? {
        do throws(SystemCallError) {
            return try Rendezvous.present(in: data).map { "latchkeyd, process \($0.processID), which nobody reaches" }
        } catch { return nil }
    }

    private func open(_ data: PrivateDirectory) throws(KeychainError) -> KeychainEngine {
        try KeychainEngine.open(dataDirectory: data.path, clock: configuration.clock) {
            expected throws(KeychainError) in
            try EnclaveKeeping.launcher(configuration, expected)
        }
    }

    private func holderListens(_ data: PrivateDirectory) -> Bool {
        do throws(SystemCallError) {
            guard let rendezvous = try Rendezvous.read(in: data) else { return false }
            let run: PrivateDirectory
            do throws(DirectoryRefusal) {
                run = try PrivateDirectory(rendezvous.runDirectory, creating: false)
            } catch { return false }
            return try PacketSocket.connectNow(to: Rendezvous.socketName, in: run.descriptor)
                .isListenedOn(by: rendezvous.processID)
        } catch {
            return false
        }
    }

    private func terminationSignal() throws(KeychainError) -> EventSignal {
        do throws(SystemCallError) {
            let signal = try EventSignal()
            try TerminationSignals.notify(signal)
            return signal
        } catch {
            throw KeychainError(
                .internalComponent, reason: .internalFault(what: "signals"), underlying: "\(error)")
        }
    }

    /// The starter may have gone; it is told all the same.
    private func tellStarter(_ error: KeychainError?) {
        guard let report else { return }
        do throws(FrameError) {
            try StarterReport.send(
                error, on: report, until: Deadline(after: configuration.limits.patience, on: configuration.clock))
        } catch {
            logger.notice("the starter is gone", metadata: ["cause": "\(error)"])
        }
    }

    private func wipe(_ data: PrivateDirectory) {
        do throws(SystemCallError) { try data.removeWithContents() } catch {
            logger.error("the temporary keychain is left behind", metadata: ["cause": "\(error)"])
        }
    }
}

/// The daemon's enclave: found where it runs, started where it does not, so that
/// the death of either does not take the other along.
enum EnclaveKeeping {
    static let program = "latchkey-enclave"

    static func launcher(
        _ configuration: DaemonConfiguration, _ expected: ExpectedStore
    ) throws(KeychainError) -> EnclaveLauncher {
        let found = configuration.programDirectories.map { "\($0)/\(program)" }.first {
            TrustedPath.isExecutableOfOurs($0)
        }
        guard let found else {
            throw KeychainError(
                .notAvailable, reason: .startRefused(why: "\(program) is not installed beside it"))
        }
        return EnclaveLauncher(
            executable: found, dataDirectory: configuration.locations.dataDirectory,
            runDirectory: configuration.locations.runDirectory, expecting: expected,
            clock: configuration.clock, by: configuration.spawner)
    }

    /// With no passcode the enclave goes with its daemon.
    static func dismiss(_ configuration: DaemonConfiguration) {
        do throws(KeychainError) { try launcher(configuration, .anyOrNew).dismiss() } catch { return }
    }
}
