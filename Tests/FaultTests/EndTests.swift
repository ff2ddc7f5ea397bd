import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import Testing

/// SIGTERM, as of an upgrade or `systemctl restart`, in the midst of calls.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"))
struct EndTests {
    /// What the daemon has begun it ends, and what it has not begun the next one does: no caller
    /// notices.
    @Test func noCallNoticesThatTheDaemonIsEnded() throws {
        let home = try FaultHome("end")
        let ledger = Ledger("end")
        var random = SeededRandom(seed: SeededRandom.runSeed)
        let writers = Writers(ledger, home, seed: random.next()) { _ in false }
        writers.start()
        for _ in 0..<FaultScale.rounds(10, long: 100) {
            writers.waitForCalls(ledger.calls + 20 + Int(random.next() % 40))
            try FaultHome.end(try home.serving().daemon, SIGTERM)
            ledger.count { $0.bursts += 1 }
        }
        writers.finish()
        try home.endAll()
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("SIGTERM of the daemon", ledger.counts, "run seed \(SeededRandom.runSeed)")
        #expect(ledger.counts.isClean)
        #expect(ledger.counts.inFlight == 0)
    }
}
