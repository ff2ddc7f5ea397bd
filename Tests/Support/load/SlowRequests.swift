internal import Foundation
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// One process with as many requests at once as a process may have connections at work,
/// each of which opens all of a thousand items: it has half of the workers at the most.
struct SlowRequests: Sendable {
    static let items = 1_000
    static let threads = 32
    let keychain: Keychain

    /// What the requests read, stored before anything else goes on.
    func fill() throws {
        for number in 0..<Self.items {
            let item: [(String, RawValue)] = [
                ("class", .string("genp")), ("svce", .string("heap")), ("acct", .string("\(number)")),
                ("icmt", .string(String(repeating: "c", count: 200))),
            ]
            _ = try keychain.pool.perform(KeychainRequest(.add, query: QueryDictionary(item)))
        }
    }

    func run(seconds: Int) throws {
        let end = Deadline(after: .seconds(seconds), on: SystemClock())
        let tally = Tally()
        onThreads(Self.threads) { [self] _ in
            while !end.hasPassed { tally.note(ask()) }
        }
        let (calls, faults) = tally.numbers.withLock { $0 }
        print("\(Self.threads) slow requests at once: \(calls), each of \(Self.items) items")
        if let fault = faults.first { throw LoadFailure("\(faults.count) slow requests failed, first: \(fault)") }
    }

    private final class Tally: Sendable {
        let numbers = Mutex((calls: 0, faults: [String]()))

        func note(_ fault: String?) {
            numbers.withLock {
                $0.calls += 1
                if let fault { $0.faults.append(fault) }
            }
        }
    }

    /// One request; nil where every item came.
    private func ask() -> String? {
        let query = QueryDictionary([
            ("class", .string("genp")), ("svce", .string("heap")), ("m_Limit", .string("m_LimitAll")),
            ("r_Attributes", .bool(true)),
        ])
        do throws(KeychainError) {
            let count = try keychain.pool.perform(KeychainRequest(.copy, query: query)).rows.count
            return count == Self.items ? nil : "\(count) items in place of \(Self.items)"
        } catch { return "\(error)" }
    }
}
