import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

/// Threads that write, each to accounts of its own, until they are told to
/// finish; then each writes a little more, through whatever serves by then.
final class Writers: Sendable {
    /// Whether an answer other than success is true of what happens meanwhile.
    typealias Judge = @Sendable (KeychainError) -> Bool

    private let ledger: Ledger
    private let client: DaemonConnectionPool
    private let seed: UInt64
    private let threads: Int
    private let accounts: UInt64
    private let isTrue: Judge
    private let before: Int
    private let isFinishing = Atomic(false)
    private let group = DispatchGroup()

    /// - Parameter accounts: of each thread.
    init(
        _ ledger: Ledger, _ home: FaultHome, seed: UInt64, threads: Int = 4, accounts: UInt64 = 12,
        judge: @escaping Judge = Writers.whileProcessesDie
    ) {
        self.ledger = ledger
        self.threads = threads
        self.accounts = accounts
        isTrue = judge
        client = home.client()
        self.seed = seed
        before = ledger.calls
    }

    func start() {
        for thread in 0..<threads {
            group.enter()
            TestThread.start { [self] in
                write(thread)
                group.leave()
            }
        }
    }

    func waitForCalls(_ count: Int) {
        _ = eventually(within: 30) { ledger.calls >= before + count }
    }

    func finish() {
        isFinishing.store(true, ordering: .releasing)
        group.wait()
    }

    private func write(_ thread: Int) {
        var random = SeededRandom(seed: seed &+ UInt64(thread))
        var left = 3
        while left > 0 {
            if isFinishing.load(ordering: .acquiring) { left -= 1 }
            let account = "thread \(thread) item \(random.next() % accounts)"
            let entry = ledger[account]
            // Whether it happened is for the auditor to see.
            if entry.inFlight != nil { continue }
            switch random.next() % 10 {
            case 0...1: read(account, entry)
            case 2...3: judge(ledger.write(.delete, account, by: client))
            case 4...5: judge(ledger.write(.label, account, by: client))
            default: judge(ledger.write(.all, account, by: client))
            }
        }
    }

    /// Only "not reached" and "no answer".
    static let whileProcessesDie: Judge = { error in
        switch error.reason {
        case .noAnswer, .daemonUnreachable, .enclaveUnreachable: error.status == .notAvailable
        default: false
        }
    }

    private func judge(_ error: KeychainError?) {
        guard let error, !isTrue(error) else { return }
        ledger.count { $0.wrongAnswers += 1 }
        Issue.record("wrong answer: \(error)")
    }

    private func read(_ account: String, _ entry: Ledger.Entry) {
        let item = ledger.item(account)
        switch client.result(of: item.read) {
        case .success(let answer):
            if let settled = entry.settled, answer.rows.count == 1, item.isIn(answer.rows[0], as: settled) { return }
            ledger.count { $0.wrongAnswers += 1 }
            Issue.record("\(account) is read as another")
        case .failure(let error):
            if error.reason == .nothingMatches, entry.settled == nil { return }
            judge(error)
        }
    }
}

enum Moment {
    /// Passes one that may be shorter than any timer.
    static func pass(_ moment: Duration) {
        let clock = SystemClock()
        let end = clock.monotonic + moment
        while clock.monotonic < end {}
    }
}
