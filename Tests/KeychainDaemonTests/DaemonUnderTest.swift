import Enclave
import KeychainClient
import KeychainDaemon
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
import Logging
import PeerIdentity
import Puppets
import Synchronization

/// The real daemon, on real sockets and a real store, in threads of the test's
/// process, so that a clock moved by hand reaches it.
final class DaemonUnderTest: Sendable {
    let folder: TemporaryDirectory
    let clock: ManualClock
    let locations: KeychainLocations
    let lines = LogLines()
    /// The keys, as a person reaches them.
    let enclave: InProcessEnclave
    private let daemon: Daemon
    private let engine: KeychainEngine
    private let terminated: EventSignal
    private let ended: EventSignal

    init(
        rights: ClientRights = .byIdentity, features: KernelFeatures? = nil,
        gate: EnclaveGate? = nil,
        _ change: (inout DaemonConfiguration) -> Void = { _ in }
    ) throws {
        folder = try TemporaryDirectory()
        clock = ManualClock()
        locations = KeychainLocations(dataDirectory: folder.path + "/data", runDirectory: folder.path + "/run")
        var configuration = DaemonConfiguration(
            locations: locations, features: try features ?? KernelFeatures.probed(), clock: clock,
            programDirectories: [])
        configuration.rights = rights
        // The tests beside it need what this process has in memory.
        configuration.rest = ServerRest { _ in }
        change(&configuration)
        let data = locations.dataDirectory
        var opened: InProcessEnclave?
        engine = try KeychainEngine.open(dataDirectory: data, clock: clock) { expected throws(KeychainError) in
            let enclave = try InProcessEnclave(
                dataDirectory: data, expecting: expected, passcodeCost: .fixed(passes: 1, kibibytes: 8) ?? .calibrated)
            opened = enclave
            return gate?.wrap(enclave) ?? enclave
        }
        guard let opened else { preconditionFailure("a store was opened without its keys") }
        enclave = opened
        let lines = lines
        daemon = try Daemon(configuration, engine: engine, logger: Logger(label: "test") { _ in lines })
        terminated = try EventSignal()
        ended = try EventSignal()
        let (daemon, terminated, ended) = (daemon, terminated, ended)
        TestThread.start {
            daemon.run(until: terminated)
            ended.signal()
        }
    }

    deinit { stop() }

    func stop() {
        terminated.signal()
        _ = try? wait(for: ended.descriptor.raw, to: .receive, until: Deadline(after: .seconds(10), on: SystemClock()))
    }

    /// True where the daemon left by itself.
    func hasLeft(within limit: Duration = .seconds(10)) throws -> Bool {
        try wait(for: ended.descriptor.raw, to: .receive, until: Deadline(after: limit, on: SystemClock())) == .ready
    }

    /// A client as programs have it, on the machine's own clock.
    func client() -> DaemonConnectionPool {
        DaemonConnectionPool(configuration)
    }

    var configuration: ClientConfiguration { ClientConfiguration(target: .store(locations, autostart: false)) }
    var connectionCount: Int { daemon.connectionCount }
    var observerCount: Int { daemon.observerCount }
    var promptCount: Int { daemon.promptCount }
    var deviceObserverCount: Int { daemon.deviceObserverCount }

    /// A bare connection, for conversations that no client of ours would hold.
    func rawConnection() throws -> PacketSocket {
        let run = try PrivateDirectory(locations.runDirectory, creating: false)
        return try PacketSocket.connect(to: Rendezvous.socketName, in: run.descriptor)
    }

    /// As an attack, or an honest client of another process, sees it.
    var asVictim: some Victim { DaemonAsVictim(socketPath: "\(locations.runDirectory)/\(Rendezvous.socketName)") }

    /// Whether an ordinary client is served now.
    func serves() throws -> Bool {
        try client().perform(KeychainRequest(.status)).status != nil
    }
}

/// Collects what the daemon logs.
final class LogLines: LogHandler, Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    var metadata: Logger.Metadata {
        get { [:] }
        set { _ = newValue }
    }
    var logLevel: Logger.Level {
        get { .trace }
        set { _ = newValue }
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set { _ = newValue }
    }
    func log(event: LogEvent) {
        let tail = (event.metadata ?? [:]).map { " \($0.key)=\($0.value)" }.joined()
        lines.withLock { $0.append("\(event.message)\(tail)") }
    }
}

private struct DaemonAsVictim: Victim {
    let socketPath: String
    func whileItLooksAway(_ body: () throws -> Void) throws { try body() }
}
