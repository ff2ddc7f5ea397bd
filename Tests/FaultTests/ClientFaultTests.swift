import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// Clients that fork, die in the middle, or leave nobody a descriptor.
@Suite(
    .timeLimit(.minutes(20)),
    .enabled(if: FaultHome.isWithinReach, "the programs are not where this user can run them"))
struct ClientFaultTests {
    private static let program = "\(FaultHome.programs)/fault-client"

    private func run(_ mode: String, _ home: FaultHome, limit: Int? = nil) throws -> (status: Int32, text: String) {
        let arguments = [mode, home.data, home.locations.runDirectory]
        guard let limit else { return try Command(Self.program, arguments).run() }
        return try Command("/usr/bin/prlimit", ["--nofile=\(limit)", Self.program] + arguments).run()
    }

    @Test func aForkedChildAndItsParentBothGoOn() throws {
        let home = try FaultHome("client")
        _ = try home.serving()
        let outcome = try run("fork", home)
        #expect(outcome.status == 0 && outcome.text == "begun\nok\n", "\(outcome.text)")
        var counts = FaultCounts()
        counts.bursts = 1
        counts.acknowledged = 33
        FaultReport.print("fork in a client", counts)
    }

    /// A secret would go to whoever has the other end, and the call would wait for ever.
    @Test func aConnectionWhoseNumberIsAnothersIsNotUsed() throws {
        let home = try FaultHome("client")
        _ = try home.serving()
        let outcome = try run("foreign", home)
        #expect(outcome.status == 0 && outcome.text == "begun\nok\n", "\(outcome.text)")
        var counts = FaultCounts()
        counts.bursts = 1
        counts.acknowledged = 1
        FaultReport.print("a client that closed the keychain's socket", counts)
    }

    @Test func moreThreadsThanConnectionsAllGetTheirTurn() throws {
        let home = try FaultHome("client")
        _ = try home.serving()
        let outcome = try run("threads", home)
        #expect(outcome.status == 0 && outcome.text == "begun\nok\n", "\(outcome.text)")
        var counts = FaultCounts()
        counts.bursts = 1
        counts.acknowledged = 300
        FaultReport.print("three hundred threads of one client", counts)
    }

    @Test func aClientWithoutDescriptorsSaysSoAndRecovers() throws {
        let home = try FaultHome("client")
        _ = try home.serving()
        let outcome = try run("descriptors", home, limit: 40)
        #expect(outcome.status == 0 && outcome.text == "begun\nok\n", "\(outcome.text)")
        var counts = FaultCounts()
        counts.bursts = 1
        counts.acknowledged = 1
        FaultReport.print("no descriptor left in a client", counts)
    }

    /// Large values in memory files, long answers to readers that go.
    @Test(arguments: ["add", "read"])
    func aClientThatDiesInTheMiddleIsNobodysLoss(_ mode: String) throws {
        let home = try FaultHome("client")
        let ledger = Ledger("client")
        let client = home.client()
        for number in 0..<30 { ledger.write(.all, "item \(number)", by: client) }
        let processes = try home.serving()
        var random = SeededRandom(seed: SeededRandom.runSeed)
        for _ in 0..<FaultScale.rounds(15, long: 100) {
            let process = TestProcess()
            process.executableURL = URL(fileURLWithPath: Self.program)
            process.arguments = [mode, home.data, home.locations.runDirectory]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            // It is connected and about to ask.
            try #require(!output.fileHandleForReading.availableData.isEmpty)
            // Calls of another client pass the time; then it dies wherever it is.
            for _ in 0..<(random.next() % 25) {
                ledger.write(.all, "item \(random.next() % 30)", by: client)
            }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            ledger.count { $0.bursts += 1 }
        }
        #expect(try home.serving() == processes)
        let large: (status: Int32, text: String) = mode == "add" ? try run("check", home) : (0, "")
        #expect(large.status == 0, "\(large.text)")
        #expect(mode != "add" || !large.text.contains("\n0 large"), "no addition came through: \(large.text)")
        try home.endAll()
        try Auditor(ledger: ledger).audit(through: home.client())
        let counted = large.text.split(separator: "\n").dropFirst().first.map(String.init) ?? ""
        FaultReport.print("death of a client (\(mode))", ledger.counts, counted)
        #expect(ledger.counts.isClean && ledger.counts.refused == 0)
    }

    /// Who is served stays served, all others hear what is the matter; nobody is
    /// taken for another program because there was no descriptor to look with.
    @Test(.enabled(if: geteuid() == 0, "only root counts the descriptors of a process that is not dumpable"))
    func aDaemonWithoutDescriptorsTurnsAwayAndRecovers() throws {
        let home = try FaultHome("client")
        let ledger = Ledger("client")
        let served = home.client(autostart: false)
        for number in 0..<3 { ledger.write(.all, "item \(number)", by: home.client()) }
        _ = try served.perform(ledger.item("item 0").read)
        let daemon = try home.serving().daemon
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon)/fd").count
        for room in 0..<12 {
            let limit = try Command("/usr/bin/prlimit", ["--pid", "\(daemon)", "--nofile=\(open + room):"]).run()
            try #require(limit.status == 0, "\(limit.text)")
            var held: [DaemonConnectionPool] = []
            for number in 0..<8 {
                ledger.count { $0.bursts += 1 }
                let client = home.client(autostart: false)
                switch client.result(of: ledger.item("item \(number % 3)").read) {
                case .success(let answer):
                    #expect(answer.rows.count == 1)
                    held.append(client)
                case .failure(let error):
                    expect(error, .notAvailable, .busy, "room for \(room) descriptors, client \(number)", ledger)
                }
            }
            #expect(ledger.write(.all, "item 0", by: served) == nil, "who is served stays served")
        }
        try #require(try Command("/usr/bin/prlimit", ["--pid", "\(daemon)", "--nofile=1024:"]).run().status == 0)
        try Auditor(ledger: ledger).audit(through: home.client(autostart: false))
        #expect(try home.serving().daemon == daemon)
        FaultReport.print("no descriptor left in the daemon", ledger.counts)
        #expect(ledger.counts.isClean)
    }
}
