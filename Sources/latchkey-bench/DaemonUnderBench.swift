import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainServices

/// The real daemon with its real enclave over one store, and a client of it.
final class DaemonUnderBench {
    let transport: DaemonConnectionPool
    let locations: KeychainLocations
    let process: Int32
    let enclave: Int32

    /// Starts both, as a first call does.
    init(_ data: String) throws {
        locations = Self.locations(data)
        transport = Self.pool(data)
        guard let status = try transport.perform(KeychainRequest(.status)).status else { throw BenchFailure("status") }
        process = status.daemonProcess
        enclave = status.enclaveProcess
        CurrentKeychain.install(transport)
    }

    private static func locations(_ data: String) -> KeychainLocations {
        KeychainLocations(dataDirectory: data, runDirectory: BenchFolder.run + "/run")
    }

    /// A new client that knows no daemon yet.
    static func pool(_ data: String) -> DaemonConnectionPool {
        DaemonConnectionPool(
            ClientConfiguration(
                target: .store(locations(data), autostart: true), programDirectories: [BenchFolder.programs]))
    }

    /// The groups in which this program's items lie, wherever they are stored.
    static func groups() throws -> [String] {
        let data = BenchFolder.run + "/empty"
        let daemon = try DaemonUnderBench(data)
        defer { daemon.stop() }
        return try daemon.transport.session().groups
    }

    func pin(_ pinning: Pinning) throws {
        try pinning.pinClient()
        for server in [process, enclave] { try pinning.pinServer(server) }
    }

    /// Seconds on a processor so far, of daemon and enclave.
    var processorTime: Double {
        ProcessFigures.processorTime(of: process) + ProcessFigures.processorTime(of: enclave)
    }

    // MARK: Calls

    func read(_ index: Int, returning: String) throws {
        guard try transport.perform(BenchItem.read(index, returning: returning)).rows.count == 1 else {
            throw BenchFailure("a read")
        }
    }

    func readLocked(_ index: Int) throws {
        do throws(KeychainError) { _ = try transport.perform(BenchItem.read(index, returning: "r_Data")) } catch {
            guard error.status == .interactionNotAllowed else { throw error }
            return
        }
        throw BenchFailure("a locked read")
    }

    /// An item of a service that has items, and an account that none of them has.
    func readMissing(_ index: Int, of items: Int) throws {
        do throws(KeychainError) {
            _ = try transport.perform(BenchItem.missing(BenchItem.scattered(index, of: items)))
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return
        }
        throw BenchFailure("a read of what is not there")
    }

    static let addedService = "bench added"

    func add() throws {
        _ = try transport.perform(BenchItem.add(Self.addedService, BenchItem.freshAccount()))
    }

    /// Takes away what was added.
    func tidy() throws { _ = try transport.perform(BenchItem.deleteAll(Self.addedService)) }

    /// All items of one service with their values; returns how many.
    func readAll() throws -> Int { try transport.perform(BenchItem.readAll).rows.count }

    /// Both have ended when this returns. The signal is that of a session's end.
    func stop() {
        for server in [process, enclave] {
            kill(server, SIGTERM)
            _ = try? ProcessHandle.waitForEnd(of: server, until: Deadline(after: .seconds(10), on: SystemClock()))
        }
    }
}
