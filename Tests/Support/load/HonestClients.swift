internal import Foundation
internal import KeychainModel
internal import KeychainPlatform
internal import Synchronization

/// Eight clients in one process, each with items of its own: adds, reads, updates
/// and deletes, every answer checked. What was acknowledged last is written down.
struct HonestClients: Sendable {
    static let threads = 8
    private let keychain: Keychain
    private let ledgerPath: String
    private let name: String

    private final class Tally: Sendable {
        struct Numbers {
            var calls = 0
            var slowest: Duration = .zero
            var faults: [String] = []
            var ledger: [String: String] = [:]
        }
        let numbers = Mutex(Numbers())
    }

    init(programs: String, folder: String, name: String) {
        keychain = Keychain(programs: programs, folder: folder)
        ledgerPath = "\(folder)/ledger-\(name)"
        self.name = name
    }

    func run(seconds: Int) throws {
        let tally = Tally()
        let end = Deadline(after: .seconds(seconds), on: SystemClock())
        onThreads(Self.threads) { work("\(name).\($0)", until: end, tally) }
        let numbers = tally.numbers.withLock { $0 }
        let lines = numbers.ledger.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
        try Data(lines.utf8).write(to: URL(fileURLWithPath: ledgerPath))
        print("clients \(name): \(numbers.calls) calls, slowest \(Int(numbers.slowest.seconds * 1000)) ms")
        if let fault = numbers.faults.first { throw LoadFailure("\(numbers.faults.count) faults, first: \(fault)") }
    }

    private func work(_ client: String, until end: Deadline, _ tally: Tally) {
        var ledger: [String: String] = [:]
        var round = 0
        while !end.hasPassed {
            let account = "\(client)-\(round % 40)"
            let began = SystemClock().monotonic
            let fault = step(round, account, &ledger)
            let took = SystemClock().monotonic - began
            round += 1
            tally.numbers.withLock {
                $0.calls += 1
                $0.slowest = max($0.slowest, took)
                if let fault { $0.faults.append(fault) }
            }
        }
        tally.numbers.withLock { $0.ledger.merge(ledger) { $1 } }
    }

    /// One call; nil where its answer was right.
    private func step(_ round: Int, _ account: String, _ ledger: inout [String: String]) -> String? {
        let value = "value \(round) of \(account)"
        do throws(KeychainError) {
            switch (ledger[account], round % 5) {
            case (nil, _):
                try keychain.add(account, Array(value.utf8))
                ledger[account] = value
            case (_?, 0):
                try keychain.update(account, Array(value.utf8))
                ledger[account] = value
            case (_?, 1) where round % 35 == 1:
                try keychain.delete(account)
                ledger[account] = nil
            case (let known?, _):
                guard try keychain.value(account) == Array(known.utf8) else { return "\(account) has another value" }
            }
            return nil
        } catch {
            return "\(account): \(error)"
        }
    }
}

/// The work by as many threads at once, whatever the processors are; until all are done.
func onThreads(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread {
            work(number)
            group.leave()
        }.start()
    }
    group.wait()
}
