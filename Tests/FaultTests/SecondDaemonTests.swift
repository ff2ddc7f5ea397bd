import Enclave
import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
import Synchronization
import Testing

/// Whoever comes second to a store that is open.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"))
struct SecondDaemonTests {
    @Test func aSecondDaemonLeavesAndTheFirstServesOn() throws {
        let home = try FaultHome("second")
        let ledger = Ledger("second")
        ledger.write(.all, "item", by: home.client())
        let processes = try home.serving()
        for run in [home.locations.runDirectory, home.folder.path("elsewhere")] {
            ledger.count { $0.bursts += 1 }
            let second = try Command(
                "\(FaultHome.programs)/latchkeyd", ["--data-dir", home.data, "--run-dir", run]
            ).run()
            #expect(second.status == 0, "\(second.text)")
            let configuration = ClientConfiguration(
                target: .store(KeychainLocations(dataDirectory: home.data, runDirectory: run), autostart: true),
                programDirectories: [FaultHome.programs])
            let status = try DaemonConnectionPool(configuration).perform(KeychainRequest(.status)).status
            #expect(status?.daemonProcess == processes.daemon)
        }
        #expect(home.processes("latchkeyd") == [processes.daemon])
        ledger.write(.all, "item", by: home.client())
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("a second daemon", ledger.counts)
        #expect(ledger.counts.isClean)
    }

    @Test func aSecondEnclaveIsRefused() throws {
        let home = try FaultHome("second")
        let ledger = Ledger("second")
        ledger.write(.all, "item", by: home.client())
        let processes = try home.serving()
        for run in [home.locations.runDirectory, home.folder.path("elsewhere")] {
            ledger.count { $0.bursts += 1 }
            let second = try Command(
                "\(FaultHome.programs)/latchkey-enclave", ["--data", home.data, "--run", run]
            ).run()
            #expect(second.status != 0 && second.text.contains("another process has this store open"), "\(second.text)")
        }
        #expect(home.processes("latchkey-enclave") == [processes.enclave])
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("a second enclave", ledger.counts)
        #expect(ledger.counts.isClean)
    }

    @Test func anEngineInAnotherProcessIsRefused() throws {
        let home = try FaultHome("second")
        let ledger = Ledger("second")
        ledger.write(.all, "item", by: home.client())
        ledger.count { $0.bursts += 1 }
        let data = home.data
        do throws(KeychainError) {
            _ = try KeychainEngine.open(dataDirectory: data, clock: SystemClock()) { expected throws(KeychainError) in
                try InProcessEnclave(dataDirectory: data, expecting: expected)
            }
            Issue.record("one store is open twice")
        } catch {
            expect(error, .notAvailable, .storeInUse, "an embedded engine", ledger)
        }
        // And the other way round: a daemon whose store is held by somebody who does not listen.
        try home.endAll()
        try holding(data) {
            let error = home.client().failure(of: ledger.item("item").read)
            expect(error, .notAvailable, .storeInUse, "a store that an engine holds", ledger)
        }
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("an engine in another process", ledger.counts)
        #expect(ledger.counts.isClean)
    }

    /// With the store open in an engine of this process, which has gone at the end.
    private func holding(_ data: String, _ body: () throws -> Void) throws {
        let engine = try KeychainEngine.open(dataDirectory: data, clock: SystemClock()) { expected throws(KeychainError) in
            try InProcessEnclave(dataDirectory: data, expecting: expected)
        }
        try body()
        try engine.close()
    }

    /// Everybody starts at once, none waits for another's word.
    @Test func eightColdStartsAtOnceMeetOneDaemon() throws {
        let home = try FaultHome("second")
        let ledger = Ledger("second")
        let group = DispatchGroup()
        for number in 0..<8 {
            group.enter()
            TestThread.start {
                let refusal = ledger.write(.all, "item \(number)", by: home.client())
                #expect(refusal == nil, "start \(number)")
                group.leave()
            }
        }
        group.wait()
        ledger.count { $0.bursts += 1 }
        // Those that came second have told their starters, and leave.
        let processes = try home.serving()
        for daemon in home.processes("latchkeyd") where daemon != processes.daemon {
            try FaultHome.waitForEnd(of: daemon)
        }
        #expect(home.processes("latchkeyd") == [processes.daemon])
        #expect(home.processes("latchkey-enclave") == [processes.enclave])
        #expect(ledger.counts.acknowledged == 8)
        try Auditor(ledger: ledger).audit(through: home.client(autostart: false))
        FaultReport.print("eight first starts at once", ledger.counts)
        #expect(ledger.counts.isClean)
    }
}
