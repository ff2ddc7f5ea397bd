import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Puppets
import Testing

/// The real `latchkeyd` and `latchkey-enclave` that were built beside the tests,
/// started as a client starts them, on a store of the test's own.
final class ShippedDaemon: Victim {
    static let programs = ProcessEnvironment.executableDirectory ?? "."

    /// scripts/test-unprivileged may have to run a copy of the tests alone.
    static let isWithinReach =
        geteuid() == 0 || FileManager.default.isExecutableFile(atPath: "\(programs)/latchkeyd")

    let folder: TemporaryDirectory
    let locations: KeychainLocations
    let client: DaemonConnectionPool
    let daemonProcess: Int32
    let enclaveProcess: Int32

    init() throws {
        folder = try TemporaryDirectory("shipped")
        locations = KeychainLocations(dataDirectory: folder.path("data"), runDirectory: folder.path("run"))
        client = DaemonConnectionPool(Self.configuration(locations))
        let status = try #require(try client.perform(KeychainRequest(.status)).status)
        daemonProcess = status.daemonProcess
        enclaveProcess = status.enclaveProcess
    }

    deinit {
        for process in [daemonProcess, enclaveProcess] where process > 1 { kill(process, SIGKILL) }
    }

    static func configuration(_ locations: KeychainLocations, autostart: Bool = true) -> ClientConfiguration {
        ClientConfiguration(target: .store(locations, autostart: autostart), programDirectories: [programs])
    }

    var socketPath: String { "\(locations.runDirectory)/\(Rendezvous.socketName)" }

    /// A new client, as another program would be.
    func newClient() -> DaemonConnectionPool { DaemonConnectionPool(Self.configuration(locations, autostart: false)) }

    func whileItLooksAway(_ body: () throws -> Void) throws {
        try stop(daemonProcess)
        defer { kill(daemonProcess, SIGCONT) }
        try body()
    }

    func log() throws -> String {
        try String(contentsOfFile: "\(locations.dataDirectory)/latchkeyd.log", encoding: .utf8)
    }

    /// SIGTERM to both, and the wait for their end.
    func end() throws {
        for process in [daemonProcess, enclaveProcess] {
            kill(process, SIGTERM)
            let end = try ProcessHandle.waitForEnd(of: process, until: Deadline(after: .seconds(20), on: SystemClock()))
            try #require(end == .ready, "process \(process) does not end")
        }
    }
}
