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

    func rows() throws -> [BenchRow] {
        let embedded = try EmbeddedStore(size.store.data, groups: size.store.groups)
        defer { embedded.close() }
        try Pinning.same.pinClient()
        let items = size.store.items
        let measured = try Measurements(
            of: size.floors + [
                size.decoding,
                Work("read", count: BenchSize.reads) {
                    try BenchItem.readThroughDoor(BenchItem.scattered($0, of: items))
                },
            ])
        return [
            BenchRow(
                "embedded read by primary key", items: items, .same, measured["read"],
                floor: measured["select"].median + measured["open three"].median + measured["decode"].median,
                is: "select + 3 opens + decode")
        ]
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
            BenchItem.add(DaemonUnderBench.addedService, "item \(Random.bytes(8))"))
    }

    func tidy() throws {
        _ = try CurrentKeychain.transport().perform(BenchItem.deleteAll(DaemonUnderBench.addedService))
    }

    func close() {
        CurrentKeychain.install(nil)
        do throws(KeychainError) { try engine.close() } catch { BenchLog.say("closing the store: \(error)") }
    }
}
