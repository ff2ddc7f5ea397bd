import Enclave
import Foundation
import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore

/// A store with a number of items, filled once and kept in bench-results/stores.
///
/// Filled by the engine in this process, from many threads so that they share
/// commits: every item goes the way of SecItemAdd, but for the socket. It is
/// filled in memory, where no commit waits for a disk, and then copied.
struct FilledStore {
    let items: Int
    let folder: String
    let groups: [String]
    private let hasPasscode: Bool

    var data: String { folder + "/data" }
    /// A copy of the database, for the floor.
    var floor: String { folder + "/floor.db" }

    /// - Parameters:
    ///   - groups: whose items they are: those of the program that reads.
    ///   - passcode: whether ``passcode()`` was set before the first item.
    init(items: Int, groups: [String], passcode: Bool = false) throws {
        self.items = items
        self.groups = groups
        hasPasscode = passcode
        let owner = groups.joined(separator: ",").utf8.reduce(5381) { ($0 << 5 &+ $0 &+ UInt64($1)) & 0xFFFF_FFFF }
        folder =
            BenchFolder.results
            + "/stores/\(items)-\(StoreSchema.format).\(StoreSchema.rowFormat)-\(String(owner, radix: 16))"
            + (passcode ? "-passcode" : "")
        let complete = folder + "/complete"
        if FileManager.default.fileExists(atPath: complete) {
            try warm()
            return
        }
        try? FileManager.default.removeItem(atPath: folder)
        let start = SystemClock().monotonic
        try fill()
        try FileManager.default.copyItem(atPath: data + "/keychain.db", toPath: floor)
        try Data().write(to: URL(fileURLWithPath: complete))
        let seconds = (SystemClock().monotonic - start).seconds
        BenchLog.say("filled a store with \(items) items in \(String(format: "%.1f", seconds)) s: \(folder)")
    }

    /// Reads both files once, so that neither is measured against a cold disk.
    private func warm() throws {
        for path in [data + "/keychain.db", floor] {
            guard let file = FileHandle(forReadingAtPath: path) else { throw BenchFailure("reading \(path)") }
            while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty { continue }
            try file.close()
        }
    }

    /// Where it is filled: in memory if there is room.
    private var scratch: String {
        let memory = "/dev/shm"
        let free = (try? FileManager.default.attributesOfFileSystem(forPath: memory))?[.systemFreeSize] as? Int64
        guard let free, free > Int64(items) * 4096 else { return data }
        return memory + "/latchkey-bench-\(ProcessEnvironment.processID)"
    }

    private func fill() throws {
        let place = scratch
        _ = try PrivateDirectory(place, creating: true)
        defer { if place != data { try? FileManager.default.removeItem(atPath: place) } }
        try fill(place)
        guard place != data else { return }
        _ = try PrivateDirectory(folder, creating: true)
        try FileManager.default.copyItem(atPath: place, toPath: data)
    }

    private func fill(_ place: String) throws {
        let engine = try KeychainEngine.open(dataDirectory: place, clock: SystemClock()) {
            expected throws(KeychainError) in
            try enclave(place, expected)
        }
        var entitlements = Entitlements()
        entitlements.keychainAccessGroups = groups
        let keychain = EmbeddedKeychain(engine, entitlements: entitlements)
        let threads = 16
        try InParallel.run(threads) { [items] thread in
            for index in stride(from: thread, to: items, by: threads) {
                _ = try keychain.perform(BenchItem.add(index))
            }
        }
        try engine.close()
    }

    // MARK: A passcode

    static func passcode() -> SharedSecret { SharedSecret(SecretBytes(copying: Array("correct horse".utf8))) }

    /// The least that a slot costs (``PasscodeCost``).
    private static let (passes, kibibytes): (UInt32, UInt32) = (3, 65_536)

    /// What one attempt at the passcode costs, without anything around it.
    static func derive() throws {
        guard let cost = PassphraseCost(passes: passes, kibibytes: kibibytes) else { throw BenchFailure("the cost") }
        _ = try PassphraseKey.derive(
            from: passcode().bytes, salt: [UInt8](repeating: 1, count: PassphraseKey.saltByteCount), cost: cost)
    }

    private func enclave(_ place: String, _ expected: ExpectedStore) throws(KeychainError) -> InProcessEnclave {
        guard hasPasscode, let cost = PasscodeCost.fixed(passes: Self.passes, kibibytes: Self.kibibytes) else {
            return try InProcessEnclave(dataDirectory: place, expecting: expected)
        }
        let enclave = try InProcessEnclave(dataDirectory: place, expecting: expected, passcodeCost: cost)
        try enclave.setPasscode(Self.passcode())
        return enclave
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
