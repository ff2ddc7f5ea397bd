import Foundation
import KeychainPlatform
import KeychainTestSupport
import Testing

/// The process that starts programs for a daemon or an enclave that may not: tried through the probe,
/// which forks one before it confines itself and asks from within (a test's process has
/// threads and must not fork).
@Suite struct ProgramSpawnerTests {
    private static let probe = "\(ProcessEnvironment.executableDirectory ?? ".")/confinement-probe"

    /// The probe's exit status: 0 where all that it expects came true.
    private func status(_ what: String) throws -> Int32 {
        let folder = try TemporaryDirectory("spawner")
        let unused = try EventSignal()
        let child = try ChildProcess.start(
            Self.probe, arguments: ["spawner", what, folder.path], environment: [], third: unused.descriptor,
            fourth: unused.descriptor)
        return try child.status(until: Deadline(after: .seconds(60), on: SystemClock()))
    }

    @Test func aProgramOfTheListIsStartedWithItsArgumentsAndEnvironment() throws { #expect(try status("listed") == 0) }

    @Test func nothingElseIsStarted() throws { #expect(try status("unlisted") == 0) }

    @Test func aProgramThatIsNotThereIsAnError() throws { #expect(try status("absent") == 0) }

    @Test func aChildIsAskedToEndAndEnds() throws { #expect(try status("ended") == 0) }

    @Test func aChildThatDoesNotEndIsKilled() throws { #expect(try status("killed") == 0) }

    @Test func itEndsWithItsOwner() throws { #expect(try status("orphaned") == 0) }

    /// For an enclave, which any call of its own for a socket would end.
    @Test func anEnclaveGetsItsPeersSocketFromIt() throws { #expect(try status("peer of an enclave") == 0) }

    @Test func peersAreApartAndHaveNothingElse() throws { #expect(try status("peer") == 0) }

    @Test func aPeerEndsWithItsSocketAndIsReaped() throws { #expect(try status("peer ends") == 0) }

    @Test func anAnswerThatNobodyWaitsForIsNotTakenForAnothers() throws { #expect(try status("late") == 0) }

    @Test(.enabled(if: RunningKernel.hasFilters, "no filters of calls"))
    func whatItStartsMayNotLookIntoOthers() throws {
        #expect(try status("refused") == 0)
        #expect(try tried("process_vm_readv") != EPERM, "so that this can fail")
    }

    private func tried(_ call: String) throws -> Int32 {
        let unused = try EventSignal()
        let child = try ChildProcess.start(
            Self.probe, arguments: ["try", call], environment: [], third: unused.descriptor,
            fourth: unused.descriptor)
        return try child.status(until: Deadline(after: .seconds(60), on: SystemClock()))
    }

    @Test func aSpareTakesItsPlaceAsOftenAsItIsKilled() throws { #expect(try status("replaced") == 0) }

    @Test func itsEndIsSeen() throws { #expect(try status("gone") == 0) }
}
