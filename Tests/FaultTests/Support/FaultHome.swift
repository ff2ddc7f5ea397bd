import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// A store of a test's own, with the programs that are shipped, as a client
/// starts them. What was started ends with this object.
final class FaultHome: Sendable {
    static let programs = ProcessEnvironment.executableDirectory ?? "."

    /// scripts/test-unprivileged may have to run a copy of the tests alone.
    static let isWithinReach =
        geteuid() == 0 || FileManager.default.isExecutableFile(atPath: "\(programs)/latchkeyd")

    let folder: TemporaryDirectory
    let locations: KeychainLocations

    /// - Parameter runsInData: as where nothing says where programs listen.
    init(_ purpose: String = "fault", runDirectory: String? = nil, runsInData: Bool = false) throws {
        folder = try TemporaryDirectory(purpose)
        locations = KeychainLocations(
            dataDirectory: folder.path("data"),
            runDirectory: runDirectory ?? folder.path(runsInData ? "data/run" : "run"))
    }

    deinit { for process in processes("latchkeyd") + processes("latchkey-enclave") { kill(process, SIGKILL) } }

    var data: String { locations.dataDirectory }
    var database: String { "\(data)/keychain.db" }
    var socket: String { "\(locations.runDirectory)/\(Rendezvous.socketName)" }

    /// - Parameter patience: longer than a program's five seconds, because these
    ///   tests keep two cores and the disk busy for minutes; nil where the
    ///   deadline itself is what is tested.
    func configuration(
        autostart: Bool = true, clock: any KeychainClock = SystemClock(), programs: String = FaultHome.programs,
        patience: Duration? = .seconds(30)
    ) -> ClientConfiguration {
        var configuration = ClientConfiguration(
            target: .store(locations, autostart: autostart), clock: clock, programDirectories: [programs])
        if let patience { configuration.patience = patience }
        return configuration
    }

    /// A new client, as another program would be.
    func client(
        autostart: Bool = true, clock: any KeychainClock = SystemClock(), programs: String = FaultHome.programs,
        patience: Duration? = .seconds(30)
    ) -> DaemonConnectionPool {
        DaemonConnectionPool(
            configuration(autostart: autostart, clock: clock, programs: programs, patience: patience))
    }

    func log() -> String {
        (try? String(contentsOfFile: "\(data)/latchkeyd.log", encoding: .utf8)) ?? ""
    }

    // MARK: Processes

    /// A daemon for which, and for whose enclave, the kernel does not have these calls.
    ///
    /// - Parameter programs: the folder that has them.
    func start(without calls: String, of programs: String = FaultHome.programs) throws {
        let (ours, theirs) = try PacketSocket.pair()
        _ = try ChildProcess.start(
            "\(Self.programs)/confinement-probe",
            arguments: [
                "without", calls, "\(programs)/latchkeyd", "--data-dir", locations.dataDirectory,
                "--run-dir", locations.runDirectory, "--report",
            ], environment: [], third: theirs.descriptor, fourth: EventSignal().descriptor)
        let deadline = Deadline(after: .seconds(60), on: SystemClock())
        try #require(try wait(for: ours.descriptor.raw, to: .receive, until: deadline) == .ready)
    }

    /// The daemon and the enclave that serve now; both are started where they do not run.
    func serving() throws -> (daemon: Int32, enclave: Int32) {
        let status = try #require(try client().perform(KeychainRequest(.status)).status)
        return (status.daemonProcess, status.enclaveProcess)
    }

    /// Processes that run a program of ours on this home.
    func processes(_ name: String) -> [Int32] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        return all.filter { process in
            guard let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline"), !line.isEmpty else {
                return false
            }
            let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            return words.first?.hasSuffix("/\(name)") == true && words.contains(data)
        }
    }

    static func end(_ process: Int32, _ signal: Int32 = SIGKILL) throws {
        kill(process, signal)
        try waitForEnd(of: process)
    }

    /// Whether it runs: a zombie does not.
    static func isAlive(_ process: Int32) -> Bool {
        guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = stat.lastIndex(of: ")")
        else { return false }
        return !stat[end...].hasPrefix(") Z") && !stat[end...].hasPrefix(") X")
    }

    static func waitForEnd(of process: Int32) throws {
        let deadline = Deadline(after: .seconds(20), on: SystemClock())
        try #require(try ProcessHandle.waitForEnd(of: process, until: deadline) == .ready, "\(process) does not end")
    }

    /// Ends daemon and enclave; what is started next is fresh.
    func endAll(_ signal: Int32 = SIGKILL) throws {
        for name in ["latchkeyd", "latchkey-enclave"] {
            for process in processes(name) { try Self.end(process, signal) }
        }
    }
}
