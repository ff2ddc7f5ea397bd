import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

/// SIGKILL of an enclave while a person changes what opens it.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"))
struct PasscodeKillTests {
    /// Four enclaves at once, fifty kills each.
    @Test(arguments: 0..<4)
    func theOldOrTheNewOpensAfterAKillAtAnyMoment(lane: UInt64) throws {
        try kill(PasscodeHome.cheap, rounds: FaultScale.rounds(50, long: 500), lane)
    }

    /// The enclave that is shipped, where an attempt costs what it costs.
    @Test func theOldOrTheNewOpensAfterAKillOfTheShippedEnclave() throws {
        try kill(PasscodeHome.shipped, rounds: FaultScale.rounds(10, long: 100), 4)
    }

    /// Everything that a person writes, at every call that the enclave makes for it.
    @Test(
        .enabled(if: Tracer.obstacle == nil, "\(Tracer.obstacle ?? "")"),
        arguments: [
            PasscodeRequest.Kind.set, .change, .reset, .remove, .addCode, .removeCode, .changeLogin, .removeLogin,
        ])
    func theOldOrTheNewOpensAfterAKillAtAnySystemCall(kind: PasscodeRequest.Kind) throws {
        let book = try PasscodeBook(PasscodeHome.cheap)
        let calls = try book.calls(of: kind)
        var missed = 0
        for (index, call) in calls.enumerated() {
            let isAcknowledged = try book.send(book.prepare(kind), "killed at \(call)") { process in
                try Tracer(
                    of: process, ["-e", "inject=\(call.name):signal=KILL:when=\(call.number)"],
                    in: book.home.folder.path
                ).detach
            }
            if isAcknowledged, index < calls.count - 1 { missed += 1 }
        }
        FaultReport.print("kill of the enclave at each call of a passcode \(kind)", book.counts)
        // What is read may be found otherwise after a kill than before it.
        #expect(missed < calls.count / 2 && calls.count > 20)
        #expect(book.counts.isClean)
        #expect(book.counts.inFlightPresent > 0 && book.counts.inFlightAbsent > 0)
    }

    /// Loss of power: a kill leaves what was written in the kernel's hands.
    @Test(
        .enabled(if: Tracer.obstacle == nil, "\(Tracer.obstacle ?? "")"),
        arguments: [
            PasscodeRequest.Kind.set, .change, .reset, .remove, .addCode, .removeCode, .addLogin, .changeLogin,
            .removeLogin,
        ])
    func eachFileIsDurableBeforeTheNextAndBeforeTheAnswer(kind: PasscodeRequest.Kind) throws {
        let book = try PasscodeBook(PasscodeHome.cheap)
        var tracer: Tracer?
        try book.send(book.prepare(kind), "watched") { process in
            let started = try Tracer(
                of: process, ["-y", "-e", "trace=write,pwrite64,fsync,fdatasync,renameat,renameat2,sendmsg,sendto"],
                in: book.home.folder.path)
            tracer = started
            return started.detach
        }
        let order = FlushOrder(of: try #require(tracer).lines(), in: book.home.folder.path("data/enclave"))
        #expect(order.early == [])
        // Two copies of the keybag, each written, renamed and flushed.
        #expect(order.changes >= 4 && order.answers >= 1)
        #expect(book.counts.isClean)
    }

    /// Where no TPM counts: nothing for an attempt that is right, and two copies of the keybag
    /// for a change, each renamed and flushed with its folder.
    @Test(.enabled(if: Tracer.obstacle == nil, "\(Tracer.obstacle ?? "")"))
    func withoutACounterNothingMoreIsWritten() throws {
        let book = try PasscodeBook(PasscodeHome.cheap)
        func count(_ kind: PasscodeRequest.Kind, _ names: Set<String>) throws -> Int {
            try book.calls(of: kind).count { names.contains($0.name) }
        }
        #expect(try count(.unlock, ["fsync", "fdatasync", "renameat", "renameat2", "unlinkat"]) == 0)
        #expect(try count(.change, ["fsync", "fdatasync"]) == 4)
        #expect(try count(.change, ["renameat", "renameat2"]) == 2)
        #expect(book.counts.isClean)
    }

    /// The judge must be able to say no.
    @Test func theOrderOfFlushesIsJudged() {
        let write = #"7  write(9</d/.keybag.0.new>, "x", 9) = 9"#
        let flush = "7  fsync(9</d/.keybag.0.new>) = 0"
        let rename = #"7  renameat(8</d>, ".keybag.0.new", 8</d>, "keybag.0") = 0"#
        let settle = "7  fsync(8</d>) = 0"
        let other = #"7  pwrite64(6</d/effacement>, "x", 4096, 0) = 4096"#
        let answer = "7  sendmsg(5<socket:[77]>, {}, 0) = 30"
        let right = [write, flush, rename, settle, answer]
        #expect(FlushOrder(of: right, in: "/d").early == [] && FlushOrder(of: right, in: "/d").changes == 2)
        for missing in [flush, settle] {
            #expect(FlushOrder(of: right.filter { $0 != missing }, in: "/d").early.count >= 1)
        }
        #expect(FlushOrder(of: [other] + right, in: "/d").early.count == 3)
        #expect(FlushOrder(of: [write, answer, flush], in: "/d").early.count == 1)
    }

    private func kill(_ program: String, rounds: Int, _ lane: UInt64) throws {
        let seed = SeededRandom.runSeed &+ 7919 &* (lane + 1)
        var random = SeededRandom(seed: seed)
        let book = try PasscodeBook(program)
        for round in 0..<rounds {
            let kinds = PasscodeRequest.Kind.withoutDevices
            let kind = kinds[Int(random.next() % UInt64(kinds.count))]
            let request = try book.prepare(kind)
            // Within what such a request took before, or somewhat after it.
            let share = 1.2 * Double(random.next() % 1000) / 1000
            let moment = (book.durations[kind] ?? .milliseconds(10)) * share
            try book.send(request, "round \(round), seed \(seed)") { process in
                Killer(process, after: moment).finish
            }
        }
        let struck = book.struck.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key) \($0.value)" }
        FaultReport.print(
            "SIGKILL of \(program) in a passcode request", book.counts,
            "run seed \(SeededRandom.runSeed); struck: \(struck.joined(separator: ", "))")
        #expect(book.counts.isClean)
        #expect(book.counts.bursts == rounds)
        #expect(book.counts.inFlight == book.counts.inFlightPresent + book.counts.inFlightAbsent)
        #expect(book.counts.inFlight > rounds / 5)
    }
}

/// Kills a process a moment after it was told to, unless it is finished before.
private final class Killer: Sendable {
    private let isFinished = Atomic(false)
    private let done = DispatchSemaphore(value: 0)

    /// The moment may be shorter than any timer.
    init(_ process: Int32, after moment: Duration) {
        TestThread.start { [self] in
            let clock = SystemClock()
            let end = clock.monotonic + moment
            while clock.monotonic < end, !isFinished.load(ordering: .relaxed) {}
            if !isFinished.load(ordering: .relaxed) { kill(process, SIGKILL) }
            done.signal()
        }
    }

    func finish() {
        isFinished.store(true, ordering: .relaxed)
        done.wait()
    }
}
