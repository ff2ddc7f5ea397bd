import Enclave
import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore

/// A store with a number of items, filled once and kept in bench-results/stores.
///
/// Filled by the engine in this process, from many threads so that they share
/// commits: every item goes the way of SecItemAdd, but for the socket.
struct FilledStore {
    let items: Int
    let folder: String
    let groups: [String]

    var data: String { folder + "/data" }
    /// A copy of the database, for the floor.
    var floor: String { folder + "/floor.db" }

    /// - Parameter groups: whose items they are: those of the program that reads.
    init(items: Int, groups: [String]) throws {
        self.items = items
        self.groups = groups
        let owner = groups.joined(separator: ",").utf8.reduce(5381) { ($0 << 5 &+ $0 &+ UInt64($1)) & 0xFFFF_FFFF }
        folder = BenchFolder.results + "/stores/\(items)-\(StoreSchema.format).\(StoreSchema.rowFormat)-\(String(owner, radix: 16))"
        let complete = folder + "/complete"
        if FileManager.default.fileExists(atPath: complete) { return }
        try? FileManager.default.removeItem(atPath: folder)
        _ = try PrivateDirectory(data, creating: true)
        let start = SystemClock().monotonic
        try fill()
        try FileManager.default.copyItem(atPath: data + "/keychain.db", toPath: floor)
        try Data().write(to: URL(fileURLWithPath: complete))
        let seconds = (SystemClock().monotonic - start).seconds
        BenchLog.say("filled a store with \(items) items in \(String(format: "%.1f", seconds)) s: \(folder)")
    }

    private func fill() throws {
        let data = data
        let engine = try KeychainEngine.open(dataDirectory: data, clock: SystemClock()) { expected throws(KeychainError) in
            try InProcessEnclave(dataDirectory: data, expecting: expected)
        }
        var entitlements = Entitlements()
        entitlements.keychainAccessGroups = groups
        let keychain = EmbeddedKeychain(engine, entitlements: entitlements)
        let threads = 32
        try InParallel.run(threads) { [items] thread in
            for index in stride(from: thread, to: items, by: threads) {
                _ = try keychain.perform(BenchItem.add(index))
            }
        }
        try engine.close()
    }
}

/// Runs the same work on many threads and waits for all.
enum InParallel {
    static func run(_ threads: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let group = DispatchGroup()
        let failures = FailureList()
        for number in 0..<threads {
            group.enter()
            Thread {
                do { try body(number) } catch { failures.append(error) }
                group.leave()
            }.start()
        }
        group.wait()
        if let first = failures.first { throw first }
    }
}
