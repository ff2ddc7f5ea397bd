import Foundation
import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import LatchkeyCommand

/// What a passcode costs: unlocking, reads of a locked keychain, and guesses.
///
/// The slot's cost is the least that a passcode is ever given (64 MiB, three
/// passes), so that floor and figure are one derivation and guesses are the most
/// that a processor makes.
struct LockRows {
    /// The largest store of the run.
    private let items: Int
    private let groups: [String]

    /// What does not depend on the number of items is seen against so few.
    private static let few = 10
    private static let unlocks = 20
    private static let readsALock = 200

    init(items: Int, groups: [String]) {
        self.items = items
        self.groups = groups
    }

    func rows() throws -> [BenchRow] {
        let small = try Figures(FilledStore(items: Self.few, groups: groups, passcode: true))
        let large = try Figures(FilledStore(items: items, groups: groups, passcode: true))
        var growth = BenchRow(
            "unlock, against \(Self.few) items", items: items, .same, measured: large.unlock.median, unit: "µs",
            .ratio)
        growth.floor = small.unlock.median
        growth.floorIs = "its own figure at \(Self.few)"
        var guesses = BenchRow(
            "passcode guesses a second, one processor", items: nil, .same, measured: 1e6 / large.derivation.median,
            unit: "1/s", .figure)
        guesses.remark = "Argon2id, 64 MiB, 3 passes: the least that a slot costs, without the enclave's delays"
        return [
            BenchRow(
                "unlock", items: Self.few, .same, small.unlock, floor: small.derivation.median, is: "one derivation"),
            BenchRow("unlock", items: items, .same, large.unlock, floor: large.derivation.median, is: "one derivation"),
            growth,
            BenchRow(
                "locked: -25308", items: items, .same, large.lockedRead, floor: large.read.median,
                is: "a read of the same item while unlocked"),
            guesses,
        ]
    }

    /// What was measured on one store, in turns.
    private struct Figures {
        let unlock: Measurement
        let derivation: Measurement
        let read: Measurement
        let lockedRead: Measurement

        init(_ store: FilledStore) throws {
            let daemon = try DaemonUnderBench(store.data)
            defer { daemon.stop() }
            try daemon.pin(.same)
            let door = try RemotePersonDoor.present(inData: store.data, clock: SystemClock())
            var samples: [String: [Double]] = [:]
            func time(_ name: String, _ body: () throws -> Void) throws {
                let start = SystemClock().monotonic
                try body()
                samples[name, default: []].append((SystemClock().monotonic - start).seconds * 1e6)
            }
            var index = 0
            for _ in 0..<LockRows.unlocks {
                try time("derivation") { try FilledStore.derive() }
                try time("unlock") { try door.unlock(with: .passcode(FilledStore.passcode())) }
                for _ in 0..<LockRows.readsALock {
                    index += 1
                    try time("read") {
                        try daemon.read(BenchItem.scattered(index, of: store.items), returning: "r_Data")
                    }
                }
                try door.lock()
                for _ in 0..<LockRows.readsALock {
                    index += 1
                    try time("locked") { try daemon.readLocked(BenchItem.scattered(index, of: store.items)) }
                }
            }
            func measurement(_ name: String) -> Measurement { Measurement(samples: samples[name] ?? []) }
            unlock = measurement("unlock")
            derivation = measurement("derivation")
            read = measurement("read")
            lockedRead = measurement("locked")
        }
    }
}
