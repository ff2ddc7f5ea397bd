import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Synchronization
import Testing

/// Rows that move under new class keys: while programs write, while processes die,
/// and many of them.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"))
struct RenewalFaultTests {
    /// Items of a class that stays open, and of those that a passcode protects.
    private static let protections: [String?] = [nil, "ck", "aku", "cku", "dk"]

    /// Several batches of a renewal.
    private func fill(_ ledger: Ledger, _ home: FaultHome, _ count: Int) {
        let client = home.client()
        for number in 0..<count { ledger.write(.all, "still \(number)", by: client) }
    }

    // MARK: Under load

    @Test func underLoadEveryItemMovesAndNoCallNoticesIt() throws {
        let keychain = try RenewalHome("renewal-load")
        let ledger = Ledger("load", protections: Self.protections)
        fill(ledger, keychain.home, 800)
        let writers = Writers(ledger, keychain.home, seed: SeededRandom.runSeed) { _ in false }
        writers.start()
        for round in 0..<FaultScale.rounds(4, long: 40) {
            try keychain.renewKeys()
            // With and without waiting for the rows: one generation overtakes the other.
            if round % 2 == 0 { try keychain.waitUntilRenewed("in round \(round)") }
            if keychain.hasPasscode {
                try keychain.changePasscode()
                try keychain.renewKeysByCode()
            }
            writers.waitForCalls(ledger.calls + 50)
        }
        writers.finish()
        try keychain.waitUntilRenewed()
        try Auditor(ledger: ledger).audit(through: keychain.home.client(), "under load")
        try keychain.home.endAll()
        try keychain.open()
        try Auditor(ledger: ledger).audit(through: keychain.home.client(), "under load, by another daemon")
        ledger.count { $0.bursts += Int(keychain.generation) - 1 }
        FaultReport.print(
            "class keys renewed under load", ledger.counts, "\(keychain.generation) generations, no call refused")
        #expect(ledger.counts.isClean)
        #expect(ledger.counts.refused == 0 && ledger.counts.inFlight == 0)
        #expect(ledger.counts.acknowledged > 1000)
    }

    // MARK: Under kills

    @Test(arguments: KillTests.Victim.allCases)
    func aRenewalThatIsKilledGoesOnToItsEnd(_ victim: KillTests.Victim) throws {
        let seed = SeededRandom.runSeed ^ 0x6E65_7721 ^ UInt64(victim.rawValue.utf8.count)
        var random = SeededRandom(seed: seed)
        let keychain = try RenewalHome("renewal-kill")
        let ledger = Ledger("kill-renewal-\(victim.rawValue)", protections: Self.protections)
        fill(ledger, keychain.home, 800)
        var length = try undisturbed(keychain)
        var struck = 0
        for round in 0..<FaultScale.rounds(12, long: 150) {
            let processes = try keychain.home.serving()
            let writers = Writers(
                ledger, keychain.home, seed: random.next(), threads: 2, judge: Self.whileLockedOrDying)
            writers.start()
            let door = try keychain.door()
            // The rows move once the enclave has answered.
            try keychain.renewKeys(at: door)
            Moment.pass(length * (Double(random.next() % 1000) / 1000))
            if victim != .enclave { kill(processes.daemon, SIGKILL) }
            if victim != .daemon { kill(processes.enclave, SIGKILL) }
            if try keychain.hasOldRows() { struck += 1 } else { length = length * 0.8 }
            writers.finish()
            ledger.count { $0.bursts += 1 }
            try keychain.open()
            try keychain.waitUntilRenewed("after round \(round), seed \(seed)")
            try Auditor(ledger: ledger).audit(through: keychain.home.client(), "after round \(round), seed \(seed)")
        }
        // A daemon that starts beside open keys forgets those that nothing is under.
        if !keychain.hasPasscode { try keychain.renewKeys() }
        try keychain.waitUntilRenewed()
        for process in keychain.home.processes("latchkeyd") { try FaultHome.end(process) }
        try Auditor(ledger: ledger).audit(through: keychain.home.client(), "after the old keys went")
        #expect(try !keychain.hasOldKeys())
        FaultReport.print(
            "SIGKILL of \(victim.rawValue) while rows move", ledger.counts,
            "\(struck) fell while rows were under old keys; run seed \(SeededRandom.runSeed)")
        #expect(ledger.counts.isClean)
        #expect(ledger.counts.inFlight == ledger.counts.inFlightPresent + ledger.counts.inFlightAbsent)
        #expect(struck > ledger.counts.bursts / 3)
    }

    /// After the death of an enclave that has a passcode everything is locked as well.
    private static let whileLockedOrDying: Writers.Judge = { error in
        if case .locked = error.reason { return error.status == .interactionNotAllowed }
        return Writers.whileProcessesDie(error)
    }

    /// How long the rows move when nothing disturbs it.
    private func undisturbed(_ keychain: RenewalHome) throws -> Duration {
        try keychain.renewKeys()
        let began = SystemClock().monotonic
        try keychain.waitUntilRenewed("undisturbed")
        return SystemClock().monotonic - began
    }

    // MARK: Many rows

    /// Neither the daemon's memory nor other calls hear how many rows there are.
    @Test func manyRowsMoveInLittleMemoryAndNobodyWaitsForThem() throws {
        let count = FaultScale.rounds(20_000, long: 100_000)
        let keychain = try RenewalHome("renewal-many")
        try fillTogether(keychain.home, count)
        let daemon = try keychain.home.serving().daemon
        let ledger = Ledger("beside")
        fill(ledger, keychain.home, 8)
        let before = try residentKilobytes(of: daemon)
        let writers = Writers(ledger, keychain.home, seed: SeededRandom.runSeed, threads: 2) { _ in false }
        try keychain.renewKeys()
        let began = ledger.calls
        writers.start()
        var most = before
        var looks = 0
        let isDone = try eventually(within: 600) {
            most = max(most, try residentKilobytes(of: daemon))
            looks += 1
            return try !keychain.hasOldRows()
        }
        let served = ledger.calls - began
        writers.finish()
        #expect(isDone && looks > 1)
        // The sealed values alone are ten times that.
        #expect(most - before < Self.roomKilobytes)
        // One for each transaction of the renewal, at the least.
        #expect(served > count / 256)
        try Auditor(ledger: ledger).audit(through: keychain.home.client(), "beside \(count) rows")
        #expect(try keychain.home.client().perform(Self.counted).rows.count == count)
        ledger.count { $0.bursts += 1 }
        FaultReport.print(
            "\(count) rows move", ledger.counts,
            "\(served) writes of others meanwhile; daemon \(before >> 10) MiB before, at most \(most >> 10) MiB")
        #expect(ledger.counts.isClean && ledger.counts.refused == 0)
    }

    private static let roomKilobytes = 24 << 10
    private static let valueBytes = 8 << 10

    private static let counted = KeychainRequest(
        .copy,
        query: QueryDictionary([
            ("class", .string("genp")), ("svce", .string("many")), ("m_Limit", .string("m_LimitAll")),
            ("r_PersistentRef", .bool(true)),
        ]))

    private func fillTogether(_ home: FaultHome, _ count: Int) throws {
        let client = home.client()
        let value = [UInt8](repeating: 0x5A, count: Self.valueBytes)
        for start in stride(from: 0, to: count, by: 128) {
            let items = (start..<min(start + 128, count)).map { number in
                NewItem(
                    QueryDictionary([
                        ("class", .string("genp")), ("svce", .string("many")), ("acct", .string("\(number)")),
                        ("v_Data", .secret),
                    ]), value: SharedSecret(SecretBytes(copying: value)))
            }
            let outcomes = try client.perform(KeychainRequest(.addItems, items: items)).outcomes
            try #require(outcomes.allSatisfy { $0 == nil })
        }
    }

    private func residentKilobytes(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }
}

/// Daemon and enclave killed at each system call that they make for one batch of rows.
@Suite(
    .serialized, .timeLimit(.minutes(30)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"),
    .enabled(if: Tracer.obstacle == nil, "\(Tracer.obstacle ?? "")"))
struct RenewalCallTests {
    enum Victim: String, CaseIterable, CustomTestStringConvertible {
        case daemon
        case enclave
        var testDescription: String { rawValue }
    }

    @Test(arguments: Victim.allCases)
    func killedAtAnyCallOfABatchTheNextGoesOn(_ victim: Victim) throws {
        let keychain = try RenewalHome("renewal-calls")
        let ledger = Ledger("calls", protections: [nil, "ck", "aku"])
        for number in 0..<9 { ledger.write(.all, "item \(number)", by: keychain.home.client()) }
        let calls = try self.calls(of: victim, keychain)
        #expect(calls.count > 20)
        var struck = 0
        let step = FaultScale.rounds(10, long: 1)
        for call in calls.enumerated().filter({ $0.offset % step == 0 }).map(\.element) {
            let isKilled = try renew(keychain, victim) { process in
                try Tracer(
                    of: process, ["-e", "inject=\(call.name):signal=KILL:when=\(call.number)"],
                    in: keychain.home.folder.path)
            }.isKilled
            if isKilled { struck += 1 }
            ledger.count { $0.bursts += 1 }
            try keychain.open()
            try keychain.waitUntilRenewed("after a kill of the \(victim) at \(call)")
            try Auditor(ledger: ledger).audit(
                through: keychain.home.client(), sample: 2, "after a kill of the \(victim) at \(call)")
        }
        FaultReport.print(
            "kill of the \(victim) at each call of a renewal", ledger.counts,
            "of \(calls.count) calls every \(step); \(struck) struck")
        #expect(struck > ledger.counts.bursts / 2)
        #expect(ledger.counts.isClean)
    }

    /// What it calls for a renewal that nothing disturbs: the thread of the daemon that
    /// writes the rows, the loop of the enclave.
    private func calls(of victim: Victim, _ keychain: RenewalHome) throws -> [TracedCall] {
        let traced = try renew(keychain, victim) { process in
            try Tracer(of: process, ["-y"], in: keychain.home.folder.path)
        }
        let lines = try traced.tracer.lines()
        let thread: String
        switch victim {
        case .enclave: thread = "\(traced.process)"
        case .daemon:
            let frames = try #require(lines.last { $0.contains("pwrite64(") && $0.contains("keychain.db-wal>") })
            thread = String(frames.prefix { $0 != " " })
        }
        return TracedCall.all(of: thread, in: lines)
    }

    /// New keys, and whether the traced process lived until all rows were under them.
    private func renew(
        _ keychain: RenewalHome, _ victim: Victim, traced trace: (Int32) throws -> Tracer
    ) throws -> (isKilled: Bool, process: Int32, tracer: Tracer) {
        let processes = try keychain.home.serving()
        let process = victim == .daemon ? processes.daemon : processes.enclave
        let tracer: Tracer
        switch victim {
        case .daemon:
            let door = try keychain.door()
            tracer = try trace(process)
            try keychain.renewKeys(at: door)
        case .enclave:
            // Without a daemon nothing moves before the tracer is there.
            let door = try keychain.door()
            try FaultHome.end(processes.daemon)
            try keychain.renewKeys(at: door)
            tracer = try trace(process)
            _ = keychain.home.client().failure(of: KeychainRequest(.status))
        }
        defer { tracer.detach() }
        var isKilled = false
        _ = try eventually(within: 30) {
            isKilled = !FaultHome.isAlive(process)
            return try isKilled || !keychain.hasOldRows()
        }
        return (isKilled, process, tracer)
    }
}
