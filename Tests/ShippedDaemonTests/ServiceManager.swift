import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization

/// What systemd does for a socket unit with `Accept=no`: listens, starts the
/// service for whoever connects, and does so again once the service has ended.
final class ServiceManager: Sendable {
    let folder: TemporaryDirectory
    let locations: KeychainLocations
    private let listener: PacketSocket
    private let stop: EventSignal
    private let started = Started()
    private let ended: EventSignal
    /// Clients begin a daemon of their own after two fifths of it, which on a machine
    /// that is busy with other tests must not be what is tested.
    private let patience: Duration

    /// What the thread and the test both look at.
    private final class Started: Sendable {
        let processes = Mutex<[Int32]>([])
    }

    static let latchkeyd = "\(ShippedDaemon.programs)/latchkeyd"

    /// - Parameter program: in place of latchkeyd; nil where nothing is ever started.
    init(program: String? = latchkeyd) throws {
        patience = .seconds(program == Self.latchkeyd ? 60 : 5)
        folder = try TemporaryDirectory("manager")
        locations = KeychainLocations(dataDirectory: folder.path("data"), runDirectory: folder.path("run"))
        listener = try PacketSocket.listen(at: Rendezvous.socketName, in: folder.folder("run").descriptor)
        try listener.setNonBlocking(true)
        stop = try EventSignal()
        ended = try EventSignal()
        let (listener, stop, ended, locations) = (listener, stop, ended, locations)
        TestThread.start { [started] in
            defer { ended.signal() }
            while let program {
                do {
                    // A manager waits for clients as long as there is one; tests of other
                    // suites may go first for minutes.
                    let deadline = Deadline(after: .seconds(3600), on: SystemClock())
                    guard try waitForAny(of: [stop.descriptor, listener.descriptor], until: deadline) == 1 else {
                        return
                    }
                    let service = try Self.activate(program, listener, locations)
                    started.processes.withLock { $0.append(service.processID) }
                    _ = try service.status(until: deadline)
                } catch { return }
            }
        }
    }

    /// sd_listen_fds(3): descriptor 3, LISTEN_PID is the program's own number. What
    /// it says goes to a file.
    static func activate(
        _ program: String, _ listener: PacketSocket, _ locations: KeychainLocations,
        process: String = "$$", count: String = "1"
    ) throws -> ChildProcess {
        let script = "export LISTEN_PID=\(process) LISTEN_FDS=\(count); exec \"$@\" 2>\(locations.runDirectory)/said"
        return try ChildProcess.start(
            "/bin/sh",
            arguments: [
                "-c", script, "sh", program, "--data-dir", locations.dataDirectory, "--run-dir", locations.runDirectory,
            ], environment: ["PATH=/usr/bin:/bin"], third: listener.descriptor, fourth: EventSignal().descriptor)
    }

    /// Ends what was started, and waits for that.
    deinit {
        stop.signal()
        for process in services { kill(process, SIGTERM) }
        _ = try? wait(for: ended.descriptor.raw, to: .receive, until: Deadline(after: .seconds(10), on: SystemClock()))
        for process in services { kill(process, SIGKILL) }
    }

    /// The processes that were started, in order.
    var services: [Int32] { started.processes.withLock { $0 } }

    var socketFile: FileIdentity? {
        try? FileStatus(at: FilePath("\(locations.runDirectory)/\(Rendezvous.socketName)"), followingLink: false)
            .identity
    }

    /// A new client, as another program would be.
    func newClient() -> DaemonConnectionPool {
        var configuration = ShippedDaemon.configuration(locations)
        configuration.patience = patience
        return DaemonConnectionPool(configuration)
    }

    func servedBy() throws -> Int32? { try newClient().perform(KeychainRequest(.status)).status?.daemonProcess }
}
