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
    .timeLimit(.minutes(20)),
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
        try stop(daemon)
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
        try stop(processes.enclave)
        defer { kill(processes.enclave, SIGCONT) }
        ledger.count { $0.bursts += 1 }

        let calls = [
            Call { ledger.write(.all, "new", by: clients[0]) },
            Call { clients[1].failure(of: ledger.item("item 1").read) },
            Call { ledger.write(.all, "item 2", by: clients[2]) },
        ]
        // Meanwhile whatever needs no key goes on: counted is what ended while every
        // one of those calls still waited, which nothing does that waits for the enclave.
        var served = 0
        while !calls.allSatisfy(\.hasEnded) {
            let rows = try clients[3].perform(ledger.item("item 3").readLabel).rows
            #expect(rows.count == 1)
            let missing = clients[3].failure(of: ledger.item("never there").readLabel)
            expect(missing, .itemNotFound, .nothingMatches, "an item that is not there", ledger)
            if !calls.contains(where: \.hasEnded) { served += 1 }
        }
        #expect(served > 0, "reads without the enclave waited for it")
        for call in calls { expect(try call.end(), .notAvailable, .enclaveUnreachable, "a stopped enclave", ledger) }
        kill(processes.enclave, SIGCONT)
        // The next call is let through within a second.
        try #require(eventually { ledger.write(.all, "new", by: home.client(autostart: false)) == nil })
        try Auditor(ledger: ledger).audit(through: home.client(autostart: false))
        #expect(try home.serving() == processes)
        try home.endAll()
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("SIGSTOP of the enclave", ledger.counts, "\(served) reads without it meanwhile")
        #expect(ledger.counts.isClean)
    }

    /// More programs than the daemon has workers, three calls each: whoever comes
    /// behind those that wait does not wait as long again.
    @Test func manyProgramsHearOfAStoppedEnclaveInTime() throws {
        let home = try FaultHome("stop")
        let ledger = Ledger("stop")
        for number in 0..<2 { ledger.write(.all, "item \(number)", by: home.client()) }
        let processes = try home.serving()
        let programs = try (0..<20).map { _ in try WaitingProgram(home) }
        for program in programs { try program.waitUntilReady() }
        try stop(processes.enclave)
        defer { kill(processes.enclave, SIGCONT) }
        ledger.count { $0.bursts += 1 }

        for program in programs { program.begin() }
        // As a program has it: five seconds without a word are the end of a call.
        let client = home.client(autostart: false, patience: nil)
        var served = 0
        while programs.contains(where: \.isRunning) {
            #expect(ledger.write(.label, "item 1", by: client) == nil, "a label waits for the enclave")
            #expect(try client.perform(ledger.item("item 0").readLabel).rows.count == 1)
            served += 1
        }
        var slowest = 0
        for program in programs {
            let calls = program.calls()
            #expect(calls.count == 3, "\(calls)")
            for call in calls {
                ledger.count { $0.refused += 1 }
                if call.outcome != "-25291 enclaveUnreachable" {
                    ledger.count { $0.wrongAnswers += 1 }
                    Issue.record("after \(call.milliseconds) ms: \(call.outcome)")
                }
                slowest = max(slowest, call.milliseconds)
            }
        }
        #expect(slowest < 6500, "four seconds, and what a busy machine adds; twice that without memory")
        kill(processes.enclave, SIGCONT)
        // The next call is let through within a second.
        try #require(eventually { client.failure(of: ledger.item("item 0").read) == nil })
        try Auditor(ledger: ledger).audit(through: home.client(autostart: false))
        #expect(try home.serving() == processes)
        FaultReport.print(
            "SIGSTOP of the enclave, 20 programs", ledger.counts,
            "slowest call \(slowest) ms, \(served) label changes and reads meanwhile")
        #expect(ledger.counts.isClean)
    }
}

/// A program of its own that waits for a word to make its calls.
private final class WaitingProgram {
    private let process = TestProcess()
    private let input = Pipe()
    private let output: URL

    init(_ home: FaultHome) throws {
        output = URL(fileURLWithPath: home.folder.path("program-\(UUID().uuidString)"))
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        process.executableURL = URL(fileURLWithPath: "\(FaultHome.programs)/fault-client")
        process.arguments = ["stopped", home.data, home.locations.runDirectory]
        process.standardInput = input
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
    }

    private var lines: [Substring] {
        ((try? String(contentsOf: output, encoding: .utf8)) ?? "").split(separator: "\n")
    }

    func waitUntilReady() throws {
        try #require(eventually(within: 30) { lines.contains("ready") || !process.isRunning }, "\(lines)")
        try #require(process.isRunning, "\(lines)")
    }

    func begin() { input.fileHandleForWriting.write(Data("now\n".utf8)) }

    var isRunning: Bool { process.isRunning }

    func calls() -> [(milliseconds: Int, outcome: String)] {
        lines.compactMap { line in
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let milliseconds = Int(words[0]) else { return nil }
            return (milliseconds, String(words[1]))
        }
    }
}
