import Enclave
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService

/// The engine in this process, through SecItemCopyMatching.
struct EmbeddedRows {
    private let size: BenchSize

    init(_ size: BenchSize) { self.size = size }

    private var items: Int { size.store.items }

    /// The first has a budget. The others say what the daemon's rows would take if its processes,
    /// and what lies between them, cost nothing.
    func rows() throws -> [BenchRow] {
        let embedded = try EmbeddedStore(size.store.data, groups: size.store.groups)
        defer { embedded.close() }
        try Pinning.same.pinClient()
        return try reads(embedded) + (try adds(embedded)) + [try all(embedded)]
    }

    private func reads(_ embedded: EmbeddedStore) throws -> [BenchRow] {
        let items = items
        let measured = try Measurements(
            of: size.floors + [
                size.decoding,
                Work("read", count: BenchSize.reads) {
                    try BenchItem.readThroughDoor(BenchItem.scattered($0, of: items))
                },
                Work("attributes", count: BenchSize.reads) {
                    try embedded.readAttributes(BenchItem.scattered($0, of: items))
                },
            ])
        return [
            row(
                "embedded read by primary key", measured["read"],
                measured["select"].median + measured["open three"].median + measured["decode"].median,
                "select + 3 opens + decode"),
            row(
                "embedded read, attributes only", measured["attributes"],
                measured["select"].median + measured["open one"].median, "select + 1 open"),
        ]
    }

    /// The second row is what no engine could leave out: the line in the log of changes, three
    /// seals and the blind values. Between it and the budget of the daemon's adds lie two hops
    /// and everything else.
    private func adds(_ embedded: EmbeddedStore) throws -> [BenchRow] {
        let size = size
        let measured = try Measurements(of: [
            Work("insert", count: BenchSize.adds) { _ in try size.floor.insert() },
            Work("demanded", count: BenchSize.adds) { _ in
                try size.crypto.sealThree(size.floor.blindCount)
                try size.floor.insertWithLine()
            },
            Work("add", count: BenchSize.adds) { _ in try embedded.add() },
        ])
        try embedded.tidy()
        try size.floor.tidy()
        let insert = measured["insert"].median
        return [
            row("embedded add, durable", measured["add"], insert, "raw insert"),
            row("raw insert, line, seals and blind values", measured["demanded"], insert, "raw insert"),
        ]
    }

    private func all(_ embedded: EmbeddedStore) throws -> BenchRow {
        let size = size
        let matching = Double(min(items, BenchItem.perService))
        let measured = try Measurements(
            of: size.floors + [
                Work("listing", count: 20) { _ in _ = try size.floor.list() },
                Work("all", count: 20) { _ in
                    guard try embedded.readAll() == Int(matching) else { throw BenchFailure("reading all") }
                },
            ])
        var row = BenchRow(
            "embedded limit-all with values, a row", items: items, .same, measured: measured["all"].median / matching,
            unit: "µs", .excess)
        row.floor = measured["listing"].median / matching + measured["open three"].median
        row.floorIs = "select of 1 000 rows + 3 opens, a row"
        return row
    }

    private func row(_ name: String, _ measured: Measurement, _ floor: Double, _ floorIs: String) -> BenchRow {
        BenchRow(name, items: items, .same, measured, floor: floor, is: floorIs)
    }
}

/// The engine over a store, in this process, as the keychain of this process.
final class EmbeddedStore {
    private let engine: KeychainEngine

    init(_ data: String, groups: [String]) throws {
        engine = try KeychainEngine.open(dataDirectory: data, clock: SystemClock()) { expected throws(KeychainError) in
            try InProcessEnclave(dataDirectory: data, expecting: expected)
        }
        var entitlements = Entitlements()
        entitlements.keychainAccessGroups = groups
        CurrentKeychain.install(EmbeddedKeychain(engine, entitlements: entitlements))
    }

    func add() throws {
        _ = try CurrentKeychain.transport().perform(
            BenchItem.add(DaemonUnderBench.addedService, BenchItem.freshAccount()))
    }

    func readAttributes(_ index: Int) throws {
        let request = BenchItem.read(index, returning: "r_Attributes")
        guard try CurrentKeychain.transport().perform(request).rows.count == 1 else { throw BenchFailure("a read") }
    }

    /// How many items one service has, each read with its value.
    func readAll() throws -> Int { try CurrentKeychain.transport().perform(BenchItem.readAll).rows.count }

    func tidy() throws {
        _ = try CurrentKeychain.transport().perform(BenchItem.deleteAll(DaemonUnderBench.addedService))
    }

    func close() {
        CurrentKeychain.install(nil)
        do throws(KeychainError) { try engine.close() } catch { BenchLog.say("closing the store: \(error)") }
    }
}
