import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

/// SIGKILL at random moments while several threads write.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"))
struct KillTests {
    enum Victim: String, CaseIterable, CustomTestStringConvertible {
        case daemon
        case enclave
        case both

        var testDescription: String { rawValue }
    }

    @Test(arguments: Victim.allCases)
    func nothingAcknowledgedIsLostByAKill(_ victim: Victim) throws {
        let seed = SeededRandom.runSeed ^ UInt64(victim.rawValue.utf8.reduce(0) { $0 * 31 + Int($1) })
        var random = SeededRandom(seed: seed)
        let home = try FaultHome("kill")
        let ledger = Ledger("kill-\(victim.rawValue)")
        for burst in 0..<FaultScale.rounds(100, long: 400) {
            let processes = try home.serving()
            let writers = Writers(ledger, home, seed: random.next())
            writers.start()
            writers.waitForCalls(1 + Int(random.next() % 60))
            spin(microseconds: Int(random.next() % 3000))
            if victim != .enclave { kill(processes.daemon, SIGKILL) }
            if victim != .daemon { kill(processes.enclave, SIGKILL) }
            writers.finish()
            ledger.count { $0.bursts += 1 }
            // Read by a daemon that has nothing in its memory.
            try home.endAll()
            try Auditor(ledger: ledger).audit(through: home.client(), "after burst \(burst), seed \(seed)")
        }
        FaultReport.print("SIGKILL of \(victim.rawValue)", ledger.counts, "run seed \(SeededRandom.runSeed)")
        let counts = ledger.counts
        #expect(counts.isClean)
        #expect(counts.inFlight == counts.inFlightPresent + counts.inFlightAbsent)
        #expect(counts.acknowledged > counts.bursts)
    }

    /// Passes a moment that is shorter than any timer.
    private func spin(microseconds: Int) {
        let clock = SystemClock()
        let end = clock.monotonic + .microseconds(microseconds)
        while clock.monotonic < end {}
    }
}

/// Threads that write, each to accounts of its own, until they are told to
/// finish; then each writes a little more, through whatever serves by then.
private final class Writers: Sendable {
    private static let threads = 4
    private static let accounts = 12

    private let ledger: Ledger
    private let client: DaemonConnectionPool
    private let seed: UInt64
    private let before: Int
    private let isFinishing = Atomic(false)
    private let group = DispatchGroup()

    init(_ ledger: Ledger, _ home: FaultHome, seed: UInt64) {
        self.ledger = ledger
        client = home.client()
        self.seed = seed
        before = ledger.calls
    }

    func start() {
        for thread in 0..<Self.threads {
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
            let account = "thread \(thread) item \(random.next() % UInt64(Self.accounts))"
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

    /// While processes die, only "not reached" and "no answer" are true.
    private func judge(_ error: KeychainError?) {
        guard let error else { return }
        let isTrue: Bool =
            switch error.reason {
            case .noAnswer, .daemonUnreachable, .enclaveUnreachable: error.status == .notAvailable
            default: false
            }
        guard !isTrue else { return }
        ledger.count { $0.wrongAnswers += 1 }
        Issue.record("wrong answer while a process dies: \(error)")
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
