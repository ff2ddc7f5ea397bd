import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

@testable import KeychainClient
@testable import KeychainDaemon

/// One prompt after the other, and no program that stands in the way of all others.
@Suite struct PromptShareTests {
    private let person = PersonAtHand()
    private let decided: EventSignal

    init() throws {
        decided = try EventSignal()
        person.answer(.hesitates(decided))
    }

    /// Calls of this process that wait for a person, and what came of them.
    private final class Calls: Sendable {
        private let outcomes = Mutex<[KeychainError?]>([])

        var ended: [KeychainError?] { outcomes.withLock { $0 } }

        func begin(_ daemon: DaemonUnderTest) {
            let client = daemon.client()
            TestThread.start { [self] in
                var outcome: KeychainError?
                do throws(KeychainError) {
                    try client.authenticationSession().evaluate(
                        AuthenticationDemand(.policy(.deviceOwner), reason: "a test"))
                } catch { outcome = error }
                outcomes.withLock { $0.append(outcome) }
            }
        }
    }

    private func wait(_ what: String, until condition: () throws -> Bool) throws {
        let deadline = Deadline(after: .seconds(30), on: SystemClock())
        while try !condition() {
            try #require(!deadline.hasPassed, "\(what)")
            sched_yield()
        }
    }

    private static func stranger(_ daemon: DaemonUnderTest) -> String {
        let programs = ProcessEnvironment.executableDirectory ?? "."
        // Without a terminal each asks for itself.
        return "setsid -w \(programs)/fault-client deputy \(daemon.locations.dataDirectory) "
            + daemon.locations.runDirectory
    }

    private func decide() {
        person.answer(.agrees)
        decided.signal()
    }

    /// Five calls of one process: two wait, and the place of others is theirs.
    @Test func aProcessHasTwoPlaces() throws {
        let daemon = try person.daemon()
        let calls = Calls()
        for _ in 0..<5 { calls.begin(daemon) }
        try wait("three are turned away") { calls.ended.count == 3 }
        #expect(calls.ended.allSatisfy { $0?.status == .interactionNotAllowed })
        // Who is at work on it may not have come to the person yet.
        try wait("one is asked") { person.asked.count == 1 }
        #expect(daemon.promptCount == 2 && person.asked.count == 1)
        let shell = try TerminalShell()
        let done = daemon.folder.path("done")
        #expect(try shell.run("(\(Self.stranger(daemon)); touch \(done)) &") == 0)
        try wait("another program has a place") { daemon.promptCount == 3 }
        decide()
        try wait("the others come to their turn") {
            calls.ended.count == 5 && FileManager.default.fileExists(atPath: done)
        }
        #expect(person.asked == [.agree, .agree, .deputyOnce])
        // The first was dismissed.
        #expect(calls.ended.filter { $0 == nil }.count == 1)
        #expect(calls.ended.filter { $0?.status == .userCanceled }.count == 1)
    }

    /// Five processes of one program have all places; a program without one gets one.
    @Test func aProgramOfManyProcessesMakesRoom() throws {
        let daemon = try person.daemon()
        let shell = try TerminalShell()
        let refused = { (number: Int) in daemon.folder.path("refused.\(number)") }
        for number in 0..<5 {
            #expect(try shell.run("(\(Self.stranger(daemon)) || touch \(refused(number))) &") == 0)
            try wait("each has a place") { daemon.promptCount == number + 1 }
        }
        let calls = Calls()
        calls.begin(daemon)
        try wait("the last to come makes room") { FileManager.default.fileExists(atPath: refused(4)) }
        #expect(daemon.promptCount == 5 && calls.ended.isEmpty)
        decide()
        try wait("it is asked for") { calls.ended.count == 1 }
        #expect(calls.ended == [nil])
        try wait("all were asked for") { daemon.promptCount == 0 }
        #expect(person.asked.count == 5 && person.asked.last == .agree)
    }

    /// Neither the call that is before the person nor the one behind it was decided.
    @Test func asTheDaemonEndsNothingThatWaitsIsInDoubt() throws {
        let daemon = try person.daemon()
        let finder = DaemonFinder(daemon.configuration)
        let outcomes = Mutex<[DaemonConnection.Interruption?]>([])
        for number in 1...2 {
            let connection = try finder.connect()
            TestThread.start {
                var outcome: DaemonConnection.Interruption?
                let demand = AuthenticationDemand(.policy(.deviceOwner), reason: "a test")
                do throws(DaemonConnection.Interruption) {
                    _ = try connection.perform(KeychainRequest(.evaluate(demand)))
                } catch { outcome = error }
                outcomes.withLock { $0.append(outcome) }
            }
            try wait("it waits") { daemon.promptCount == number }
        }
        try wait("one is asked") { person.asked.count == 1 }
        daemon.stop()
        try wait("both hear") { outcomes.withLock { $0.count } == 2 }
        for outcome in outcomes.withLock({ $0 }) {
            let outcome = try #require(outcome)
            #expect(!outcome.requestWasSent && outcome.isWorthRetrying(isWrite: true), "\(outcome.error)")
        }
        #expect(person.asked.count == 1)
    }

    // MARK: The queue alone

    private static func place(_ number: UInt64, _ program: String, process: Int32? = nil) -> PromptQueue<UInt64>.Place {
        .init(connection: number, process: process ?? Int32(number), program: program, call: number)
    }

    @Test func programsThatHaveEqualSharesKeepThem() {
        var queue = PromptQueue<UInt64>()
        for (number, program) in ["a", "a", "b", "b"].enumerated() {
            _ = queue.add(Self.place(UInt64(number), program))
        }
        guard case .full = queue.add(Self.place(4, "a")) else { return #expect(Bool(false), "a has its share") }
        guard case .takenInPlaceOf(3) = queue.add(Self.place(5, "c")) else {
            return #expect(Bool(false), "the newest of those that have two makes room")
        }
        // One place each is nobody's to give.
        guard case .takenInPlaceOf(1) = queue.add(Self.place(6, "d")) else { return #expect(Bool(false), "a had two") }
        guard case .full = queue.add(Self.place(7, "e")) else { return #expect(Bool(false), "one each") }
        #expect(queue.takeNext() == 0 && queue.takeNext() == 2 && queue.count == 3)
        #expect(queue.remove(5) == [5] && queue.takeNext() == 6 && queue.takeNext() == nil && queue.count == 0)
    }
}
