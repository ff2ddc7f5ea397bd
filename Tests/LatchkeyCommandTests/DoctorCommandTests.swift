import KeychainModel
import KeychainProtocol
import LatchkeyCommand
import Synchronization
import Testing

@Suite struct DoctorCommandTests {
    func run(_ arguments: [String], _ change: (inout DoctorReport) -> Void) -> CommandRun {
        let keychain = FakeKeychain()
        keychain.state.withLock { change(&$0.doctor) }
        return arguments.isEmpty ? CommandRun("doctor", on: keychain) : CommandRun("doctor", arguments[0], on: keychain)
    }

    @Test func theBrakeIsDamageAndNamesTheCommandsThatGoOn() {
        let outcome = run([]) { report in
            report.brakeIsOn = true
            report.brakeSince = 0
        }
        #expect(outcome.status == .damaged)
        #expect(outcome.text.contains("stopped since 2001-01-01T00:00:00Z"))
        #expect(outcome.text.contains("--salvage") && outcome.text.contains("--accept-damage"))
    }

    @Test func whatSomebodyAcceptedIsNoDamageAnyMore() {
        #expect(run([]) { $0.damaged = 3 }.status == .done)
        let fresh = run([]) { report in
            report.damaged = 3
            report.hasNewDamage = true
        }
        #expect(fresh.status == .damaged && fresh.text.contains("3 set aside"))
    }

    @Test func rowsThatDoNotOpenAndColumnsThatLieAreDamage() {
        var counts = InspectionCounts()
        counts.rows = 2
        counts.unopened = 1
        #expect(run(["--verify"]) { $0.inspection = counts }.status == .damaged)
        counts.unopened = 0
        counts.mismatched = 1
        #expect(run(["--verify"]) { $0.inspection = counts }.status == .damaged)
        #expect(run(["--verify"]) { $0.isIntact = false }.status == .damaged)
    }

    @Test(arguments: PlaceFault.allCases)
    func whatIsNotInItsPlaceIsDamageAndSaysWhatCanBeSaved(_ fault: PlaceFault) {
        for arguments in [[], ["--verify"]] {
            for change in [\DoctorReport.databaseFault, \.keysFault] {
                let outcome = run(arguments) { $0[keyPath: change] = fault }
                #expect(outcome.status == .damaged)
                #expect(outcome.text.contains("latchkey export FILE") && !outcome.text.contains("Nothing to do"))
                #expect(!outcome.text.contains("Writing       possible"))
            }
        }
    }

    @Test func aFileNameCannotMoveTheTerminal() {
        let outcome = run([]) { $0.setAsideFiles = ["keychain.db.damaged-\u{1b}[2J"] }
        #expect(!outcome.text.contains("\u{1b}"))
    }

    @Test func eachTaskIsAskedForByItsOption() {
        for (option, task) in [
            ("--verify", DoctorTask.verify), ("--salvage", .salvage), ("--accept-damage", .acceptDamage),
        ] {
            let keychain = FakeKeychain()
            _ = CommandRun("doctor", option, on: keychain)
            #expect(keychain.requests.map(\.operation) == [.doctor(task)])
        }
    }

    @Test func aKeychainOfNobodysOwnIsNotBackedUp() {
        #expect(CommandRun("backup", "/x", on: FakeKeychain()).status == .usage)
        #expect(CommandRun("restore", "/x", on: FakeKeychain()).status == .usage)
    }
}
