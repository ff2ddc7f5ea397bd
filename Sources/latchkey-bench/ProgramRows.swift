import Foundation
import KeychainClient
import KeychainPlatform
import KeychainProtocol

/// Whole processes: the command line, and a first call that has to start the daemon.
struct ProgramRows {
    private let store: FilledStore

    init(_ store: FilledStore) { self.store = store }

    func rows() throws -> [BenchRow] {
        var rows = try firstCall()
        let daemon = try DaemonUnderBench(store.data)
        defer { daemon.stop() }
        let get = try get(daemon)
        for pinning in Pinning.possible {
            try daemon.pin(pinning)
            rows.append(try row(get, pinning))
        }
        try daemon.pin(.free)
        return rows
    }

    private static let service = "bench command line"

    /// `latchkey get` of an item in the command line's own group, which every
    /// program may name.
    func get(_ daemon: DaemonUnderBench) throws -> SpawnedProgram {
        // It is there already where the store was used before.
        _ = try? daemon.transport.perform(BenchItem.add(Self.service, "alice", group: "latchkey"))
        return SpawnedProgram([
            BenchFolder.programs + "/latchkey", "get", "--data-dir", store.data, Self.service, "alice",
        ])
    }

    private func row(_ get: SpawnedProgram, _ pinning: Pinning) throws -> BenchRow {
        let empty = SpawnedProgram([BenchFolder.programs + "/empty"])
        let measured = try Measurements(of: [
            Work("get", count: 200) { _ in try get.run() }, Work("empty", count: 200) { _ in try empty.run() },
        ])
        return BenchRow(
            "latchkey get, whole process", items: store.items, pinning, measured["get"],
            floor: measured["empty"].median, is: "an empty static Swift executable")
    }

    /// Ten starts of daemon and enclave, each by the call of a client that finds none.
    private func firstCall() throws -> [BenchRow] {
        try Pinning.free.pinClient()
        let clock = SystemClock()
        var samples: [Double] = []
        for index in 0..<10 {
            let transport = DaemonUnderBench.pool(store.data)
            let start = clock.monotonic
            _ = try transport.perform(BenchItem.read(index, returning: "r_Data"))
            samples.append((clock.monotonic - start).seconds * 1000)
            try DaemonUnderBench(store.data).stop()
        }
        let measured = Measurement(samples: samples)
        var row = BenchRow(
            "first call, no daemon running", items: store.items, .free, measured: measured.median, unit: "ms", .figure)
        row.p99 = measured.percentile(0.99)
        return [row]
    }
}
