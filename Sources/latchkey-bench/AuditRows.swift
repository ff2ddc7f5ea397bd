import Foundation
import KeychainClient
import KeychainDaemon
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Logging
import PeerIdentity

/// What the audit record costs a read: two daemons over copies of one store, one of
/// which keeps none, read in turns. Both are this program, because no program that is
/// installed can be told to keep none.
struct AuditRows {
    private let store: FilledStore

    init(_ store: FilledStore) { self.store = store }

    func rows() throws -> [BenchRow] {
        let kept = try RecordingDaemon(store, isKept: true)
        defer { kept.stop() }
        let unkept = try RecordingDaemon(store, isKept: false)
        defer { unkept.stop() }
        return try Pinning.possible.flatMap { try measured(kept, unkept, $0) }
    }

    private func measured(_ kept: RecordingDaemon, _ unkept: RecordingDaemon, _ pinning: Pinning) throws -> [BenchRow] {
        for daemon in [kept, unkept] { try daemon.pin(pinning) }
        let items = store.items
        func read(_ name: String, _ daemon: RecordingDaemon) -> Work {
            Work(name, count: BenchSize.reads * 2) { try daemon.read(BenchItem.scattered($0, of: items)) }
        }
        let measured = try Measurements(of: [read("kept", kept), read("unkept", unkept)], rounds: 40)
        var whole = BenchRow(
            "daemon read, value, with the audit record, mean", items: items, pinning, measured: measured["kept"].mean,
            unit: "µs", .ratio)
        whole.floor = measured["unkept"].mean
        whole.floorIs = "the mean without; writing each second is in it"
        return [
            BenchRow(
                "daemon read, value, with the audit record", items: items, pinning, measured["kept"],
                floor: measured["unkept"].median, is: "the same read without a record"),
            whole,
        ]
    }
}

extension Measurement {
    fileprivate var mean: Double { samples.reduce(0, +) / Double(max(1, samples.count)) }
}

/// A daemon in a process of this program, over a copy of a store.
final class RecordingDaemon {
    private let process: Process
    private let transport: DaemonConnectionPool
    private let servers: [Int32]

    init(_ store: FilledStore, isKept: Bool) throws {
        let folder = BenchFolder.run + (isKept ? "/kept" : "/unkept")
        _ = try PrivateDirectory(folder, creating: true)
        try FileManager.default.copyItem(atPath: store.data, toPath: folder + "/data")
        process = Process()
        process.executableURL = URL(fileURLWithPath: BenchFolder.program)
        process.arguments = ["daemon", folder, isKept ? "kept" : "unkept"]
        try process.run()
        transport = DaemonConnectionPool(
            ClientConfiguration(
                target: .store(Self.locations(folder), autostart: false), programDirectories: [BenchFolder.programs]))
        let deadline = Deadline(after: .seconds(20), on: SystemClock())
        while true {
            do throws(KeychainError) {
                guard let status = try transport.perform(KeychainRequest(.status)).status else { continue }
                servers = [status.daemonProcess, status.enclaveProcess]
                return
            } catch {
                // It does not listen yet.
                if deadline.hasPassed { throw error }
            }
        }
    }

    private static func locations(_ folder: String) -> KeychainLocations {
        KeychainLocations(dataDirectory: folder + "/data", runDirectory: folder + "/run")
    }

    /// `daemon FOLDER kept|unkept`: serves until it is told to end.
    static func serve(_ arguments: [String]) throws {
        guard arguments.count == 2 else { throw BenchFailure("the arguments of daemon") }
        var configuration = DaemonConfiguration(
            locations: locations(arguments[0]), features: try KernelFeatures.probed(), clock: SystemClock(),
            programDirectories: [BenchFolder.programs])
        configuration.insecureWithoutRecord = arguments[1] == "unkept"
        let logger = Logger(label: "latchkey-bench") { _ in SwiftLogNoOpLogHandler() }
        guard case .served = DaemonProcess(configuration, logger: logger, report: nil).run() else {
            throw BenchFailure("serving")
        }
    }

    func pin(_ pinning: Pinning) throws {
        try pinning.pinClient()
        for server in servers { try pinning.pinServer(server) }
    }

    func read(_ index: Int) throws {
        guard try transport.perform(BenchItem.read(index, returning: "r_Data")).rows.count == 1 else {
            throw BenchFailure("a read")
        }
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
        _ = try? ProcessHandle.waitForEnd(of: servers[1], until: Deadline(after: .seconds(10), on: SystemClock()))
    }
}
