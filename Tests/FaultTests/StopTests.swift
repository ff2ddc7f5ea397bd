import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

/// Processes that are there and do not answer (SIGSTOP).
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"))
struct StopTests {
    /// A call in a thread of its own, whose end is waited for.
    private final class Call: Sendable {
        private let outcome = Mutex<KeychainError??>(nil)

        init(_ body: @escaping @Sendable () -> KeychainError?) {
            TestThread.start { [self] in
                let error = body()
                outcome.withLock { $0 = .some(error) }
            }
        }

        var hasEnded: Bool { outcome.withLock { $0 != nil } }

        func end() throws -> KeychainError? {
            try #require(eventually(within: 30) { hasEnded }, "the call never ends")
            return outcome.withLock { $0 ?? nil }
        }
    }

    @Test func aStoppedDaemonEndsTheCallAtItsDeadline() throws {
        let home = try FaultHome("stop")
        let ledger = Ledger("stop")
        for number in 0..<4 { ledger.write(.all, "item \(number)", by: home.client()) }
        let daemon = try home.serving().daemon
        let clock = ManualClock()
        let client = home.client(autostart: false, clock: clock, patience: nil)
        _ = try client.perform(ledger.item("item 0").read)
        kill(daemon, SIGSTOP)
        defer { kill(daemon, SIGCONT) }
        ledger.count { $0.bursts += 1 }

        let calls: [(String, Reason, @Sendable () -> KeychainError?)] = [
            ("a change", .noAnswer(mayHaveHappened: true), { ledger.write(.all, "item 0", by: client) }),
            ("a deletion", .noAnswer(mayHaveHappened: true), { ledger.write(.delete, "item 1", by: client) }),
            ("an addition", .noAnswer(mayHaveHappened: true), { ledger.write(.all, "new", by: client) }),
            ("a read", .noAnswer(mayHaveHappened: false), { client.failure(of: ledger.item("item 2").read) }),
        ]
        for (name, reason, body) in calls {
            // Each needs a connection that has said hello: only the first has one.
            let isConnected = name == "a change"
            let call = Call(body)
            try #require(eventually { clock.waiterCount > 0 })
            clock.advance(by: .milliseconds(4900))
            try #require(eventually { clock.waiterCount > 0 })
            #expect(!call.hasEnded, "\(name) ends before its deadline")
            clock.advance(by: .milliseconds(200))
            expect(
                try call.end(), .notAvailable, isConnected ? reason : .noAnswer(mayHaveHappened: false), name, ledger)
        }
        kill(daemon, SIGCONT)
        ledger.write(.all, "afterwards", by: home.client(autostart: false))
        let rows = try home.client(autostart: false).perform(ledger.item("item 2").read).rows
        #expect(rows.count == 1)
        #expect(try home.serving().daemon == daemon)
        // What it was asked before may still happen until it has ended.
        try home.endAll(SIGTERM)
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("SIGSTOP of the daemon", ledger.counts)
        #expect(ledger.counts.isClean && ledger.counts.acknowledged == 5)
    }

    /// By the machine's own time: the daemon's clock is not ours to move.
    @Test func aStoppedEnclaveIsSaidToBeOutOfReach() throws {
        let home = try FaultHome("stop")
        let ledger = Ledger("stop")
        for number in 0..<4 { ledger.write(.all, "item \(number)", by: home.client()) }
        let processes = try home.serving()
        let clients = (0..<4).map { _ in home.client(autostart: false) }
        for client in clients { _ = try client.perform(ledger.item("item 0").read) }
        kill(processes.enclave, SIGSTOP)
        defer { kill(processes.enclave, SIGCONT) }
        ledger.count { $0.bursts += 1 }

        let calls = [
            Call { ledger.write(.all, "new", by: clients[0]) },
            Call { clients[1].failure(of: ledger.item("item 1").read) },
            Call { ledger.write(.all, "item 2", by: clients[2]) },
        ]
        // Meanwhile whatever needs no key goes on.
        var served = 0
        while !calls.allSatisfy(\.hasEnded) {
            let rows = try clients[3].perform(ledger.item("item 3").readLabel).rows
            #expect(rows.count == 1)
            let missing = clients[3].failure(of: ledger.item("never there").readLabel)
            expect(missing, .itemNotFound, .nothingMatches, "an item that is not there", ledger)
            served += 1
        }
        #expect(served > 10, "reads without the enclave waited for it")
        for call in calls { expect(try call.end(), .notAvailable, .enclaveUnreachable, "a stopped enclave", ledger) }
        kill(processes.enclave, SIGCONT)
        ledger.write(.all, "new", by: home.client(autostart: false))
        try Auditor(ledger: ledger).audit(through: home.client(autostart: false))
        #expect(try home.serving() == processes)
        try home.endAll()
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("SIGSTOP of the enclave", ledger.counts, "\(served) reads without it meanwhile")
        #expect(ledger.counts.isClean)
    }
}
