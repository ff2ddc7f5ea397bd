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
            Moment.pass(.microseconds(random.next() % 3000))
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
}
