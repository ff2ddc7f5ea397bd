import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// Daemon and enclave, killed at each system call that a write makes, and
/// watched while they make it.
@Suite(
    .serialized, .timeLimit(.minutes(30)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"),
    .enabled(if: Tracer.obstacle == nil, "\(Tracer.obstacle ?? "")"))
struct SystemCallTests {
    enum Victim: String, CaseIterable, CustomTestStringConvertible {
        case daemon
        case enclave
        var testDescription: String { rawValue }
    }

    @Test(arguments: Victim.allCases, [Ledger.Change.all, .delete])
    func killedAtAnyCallOfAWriteNothingIsHalfThere(_ victim: Victim, _ change: Ledger.Change) throws {
        let home = try FaultHome("calls")
        let ledger = Ledger("calls")
        ledger.write(.all, "another", by: home.client())
        var number = 1
        while number < 600 {
            // A delete needs something to delete; an add and a change are both `all`.
            let account = "item \(number / 6)"
            if change == .delete, ledger[account].settled == nil { ledger.write(.all, account, by: home.client()) }
            let processes = try home.serving()
            let client = home.client(autostart: false)
            _ = try client.perform(KeychainRequest(.status))
            let victimProcess = victim == .daemon ? processes.daemon : processes.enclave
            let tracer = try Tracer(
                of: victimProcess, ["-e", "inject=all:signal=KILL:when=\(number)"],
                in: home.folder.path)
            let error = ledger.write(change, account, by: client)
            tracer.detach()
            judge(error)
            ledger.count { $0.bursts += 1 }
            try home.endAll()
            try Auditor(ledger: ledger).audit(through: home.client(), sample: 2, "killed at call \(number)")
            if error == nil, victim == .daemon { break }
            // An enclave that dies is replaced within the call: it is over when it lives.
            if error == nil, victim == .enclave, number > 20 { break }
            number += 1
        }
        #expect(number < 600, "the write never came to its end")
        FaultReport.print(
            "kill of the \(victim.rawValue) at each call of \(change)", ledger.counts, "last call \(number)")
        #expect(ledger.counts.isClean)
    }

    private func judge(_ error: KeychainError?) {
        switch error?.reason {
        case nil, .noAnswer, .daemonUnreachable, .enclaveUnreachable: return
        default: Issue.record("wrong answer while a process dies: \(String(describing: error))")
        }
    }

    /// The first start makes keybag, database and metadata key.
    @Test func killedAtAnyCallOfTheFirstStartTheNextOneMakesAStore() throws {
        let counted = try FaultHome("first")
        let whole = try firstStart(of: counted, options: "-e trace=all")
        #expect(whole == nil)
        try counted.endAll()
        let trace = try String(contentsOfFile: counted.folder.path("traced.output"), encoding: .utf8)
        let calls = trace.split(separator: "\n")
        let start = try #require(calls.firstIndex { $0.contains(counted.data) && $0.contains("mkdir") })
        let end = try #require(calls.lastIndex { $0.contains("sendmsg") || $0.contains("sendto") })
        var counts = FaultCounts()
        let step = FaultScale.isLong ? 1 : max(1, (end - start) / 60)
        for number in Swift.stride(from: start + 1, through: end + 1, by: step) {
            let home = try FaultHome("first")
            let ledger = Ledger("first")
            let failure = try firstStart(of: home, options: "-e inject=all:signal=KILL:when=\(number)")
            if let failure {
                switch failure.reason {
                case .daemonUnreachable, .noAnswer: break
                default: Issue.record("call \(number): \(failure)")
                }
            }
            try home.endAll()
            ledger.write(.all, "first", by: home.client())
            ledger.count { $0.bursts += 1 }
            #expect(ledger.counts.acknowledged == 1, "after a kill at call \(number)")
            try home.endAll()
            try Auditor(ledger: ledger).audit(through: home.client(), "first start killed at call \(number)")
            counts = counts + ledger.counts
        }
        FaultReport.print("kill of the daemon at its first start", counts, "calls \(start)...\(end), every \(step)")
        #expect(counts.isClean)
    }

    /// A client that starts the daemon under the tracer; why it got no answer.
    private func firstStart(of home: FaultHome, options: String) throws -> KeychainError? {
        let programs = home.folder.path("programs")
        try FileManager.default.createDirectory(
            atPath: programs, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        let script = """
            #!/bin/sh
            exec \(Tracer.path) -o \(home.folder.path("traced.output")) \(options) \(FaultHome.programs)/latchkeyd "$@"
            """
        try Data(script.utf8).write(to: URL(fileURLWithPath: "\(programs)/latchkeyd"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(programs)/latchkeyd")
        return home.client(programs: programs).failure(of: KeychainRequest(.status))
    }

    /// Power loss: what is acknowledged was flushed before it was acknowledged.
    @Test func noAcknowledgementPrecedesTheFlushOfItsFrames() throws {
        let home = try FaultHome("order")
        let ledger = Ledger("order")
        let client = home.client()
        ledger.write(.all, "before", by: client)
        let tracer = try Tracer(
            of: try home.serving().daemon, ["-y", "-e", "trace=pwrite64,write,fdatasync,fsync,sendmsg,sendto"],
            in: home.folder.path)
        for number in 0..<30 {
            ledger.write([.all, .label, .delete][number % 3], "item \(number % 7)", by: client)
        }
        tracer.detach()
        let verdict = Self.verdict(on: try tracer.lines())
        #expect(ledger.counts.acknowledged == 31)
        #expect(verdict.unflushed == [])
        #expect(verdict.acknowledgements >= 30)
        ledger.count { $0.bursts += verdict.acknowledgements }
        try home.endAll()
        try Auditor(ledger: ledger).audit(through: home.client())
        FaultReport.print("an answer before the flush of what it says", ledger.counts)
        #expect(ledger.counts.isClean)
    }

    /// The judge must be able to say no.
    @Test func theOrderOfATraceIsJudged() {
        let frames = #"7  pwrite64(12</d/keychain.db-wal>, "x", 4096, 0) = 4096"#
        let flush = "7  fdatasync(12</d/keychain.db-wal>) = 0"
        let answer = "7  sendmsg(15<socket:[77]>, {}, 0) = 30"
        #expect(Self.verdict(on: [frames, flush, answer]).acknowledgements == 1)
        #expect(Self.verdict(on: [frames, flush, answer]).unflushed == [])
        #expect(Self.verdict(on: [frames, answer, flush]).unflushed.count == 1)
        #expect(Self.verdict(on: [frames, flush, frames, answer]).unflushed.count == 1)
        let seal =
            #"7  sendmsg(17<socket:[78]>, {msg_iov=[{iov_base="L\0", iov_len=8}, {iov_base="\10\31\242\1\205\t\n", iov_len=9}]}, 0) = 17"#
        #expect(Self.verdict(on: [frames, seal, flush, answer]).unflushed == [])
        #expect(Self.verdict(on: [frames, seal, answer, flush]).unflushed.count == 1)
    }

    /// Whether a message is of the audit record (latchkey_enclave.proto, fields 20 to 23
    /// behind the number of the request), as strace shows its bytes.
    private static func isOfAudit(_ call: Substring) -> Bool {
        call.contains(/iov_base="\\10(?:\\[0-7]{1,3}|[^\\"]){1,3}\\2(?:42|52|60|72)\\1[^0-9]/)
    }

    /// Counts messages that left after frames were written, and names those that
    /// left before the log was flushed.
    ///
    /// A write of the daemon asks the enclave before it writes frames, never
    /// between them and the commit, so the next message is the answer: but for what the
    /// thread of the audit record says to the enclave, each second.
    private static func verdict(on lines: [String]) -> (acknowledgements: Int, unflushed: [String]) {
        var isDirty = false
        var isPending = false
        var acknowledgements = 0
        var unflushed: [String] = []
        for line in lines {
            let call = line.drop { $0.isNumber || $0 == " " }
            let isLog = call.contains("keychain.db-wal>")
            if isLog, call.hasPrefix("pwrite64") || call.hasPrefix("write") {
                isDirty = true
                isPending = true
            } else if isLog, call.hasPrefix("fdatasync") || call.hasPrefix("fsync") {
                isDirty = false
            } else if call.hasPrefix("sendmsg") || call.hasPrefix("sendto"), isPending, !Self.isOfAudit(call) {
                acknowledgements += 1
                isPending = false
                if isDirty { unflushed.append(String(call)) }
            }
        }
        return (acknowledgements, unflushed)
    }
}
