import KeychainClient
import KeychainDaemon
import KeychainMessages
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import PeerIdentity
import Puppets
import Testing

/// One client, however slow or greedy, leaves the daemon to the others. The
/// greedy one is this process; the honest one is a process of its own.
@Suite(.timeLimit(.minutes(20))) struct FairnessTests {
    @Test func eightConnectionsThatNeverReadLeaveWorkersToOthers() throws {
        let daemon = try DaemonUnderTest(rights: .fixed(Self.rights))
        try Self.fill(daemon)
        let greedy = try (0..<16).map { _ in try GreetedConnection(daemon) }
        for connection in greedy { try connection.askForEverything() }
        // The clock stands: nothing ends by its deadline.
        #expect(try ExecAttack.honestClient(of: daemon.asVictim) == "told")
        #expect(try ExecAttack.honestClient(of: daemon.asVictim) == "told")
        #expect(daemon.lines.all.allSatisfy { !$0.contains("unreachable") }, "nobody was ended for it")
    }

    /// With a share as large as the daemon: what several greedy processes together do.
    @Test func theLongestWaitingReaderEndsBeforeTheLastWorkerWaits() throws {
        let daemon = try DaemonUnderTest(rights: .fixed(Self.rights)) { $0.limits.requestsOfOneProcess = 8 }
        try Self.fill(daemon)
        let greedy = try (0..<12).map { _ in try GreetedConnection(daemon) }
        for connection in greedy { try connection.askForEverything() }
        #expect(try daemon.serves())
        #expect(try ExecAttack.honestClient(of: daemon.asVictim) == "told")
        // Of twelve that wait, six may; the clock stands, so no deadline ended the others.
        let deadline = Deadline(after: .seconds(20), on: SystemClock())
        while daemon.lines.all.count(where: { $0.contains("unreachable") }) < 12 - 6 {
            try #require(!deadline.hasPassed, "\(daemon.lines.all)")
        }
    }

    @Test func aProcessHasHalfOfTheWorkers() throws {
        let gate = try EnclaveGate()
        let daemon = try DaemonUnderTest(rights: .fixed(Self.rights), gate: gate)
        try Self.fill(daemon)
        gate.close()
        let greedy = try (0..<10).map { _ in try GreetedConnection(daemon) }
        for (number, connection) in greedy.enumerated() { try connection.add("item \(number)") }
        try gate.waitUntilHeld(4)
        // A read of another process goes by; the rest of this one's requests wait.
        #expect(try ExecAttack.honestClient(of: daemon.asVictim) == "told")
        #expect(gate.heldCount == 4)
        gate.open()
        for connection in greedy { #expect(try connection.answer().isSuccess) }
    }

    @Test func aWriteThatTakesLongIsSaidToBeAtWork() throws {
        let gate = try EnclaveGate()
        let daemon = try DaemonUnderTest(rights: .fixed(Self.rights), gate: gate)
        try Self.fill(daemon)
        gate.close()
        let writer = try GreetedConnection(daemon)
        try writer.add("slow")
        try gate.waitUntilHeld(1)
        for _ in 0..<12 {
            daemon.clock.advance(by: .seconds(1))
            let word = try writer.nextMessage()
            #expect(word.more && word.rows.isEmpty && !word.hasFailure)
        }
        gate.open()
        #expect(try writer.answer().isSuccess, "twelve seconds are no reason to give up")
    }

    /// Four of them are at work; six wait for that, unread, one of them in a memory file.
    @Test func requestsThatWaitForAWorkerAreSaidToWait() throws {
        let gate = try EnclaveGate()
        let daemon = try DaemonUnderTest(rights: .fixed(Self.rights), gate: gate)
        try Self.fill(daemon)
        gate.close()
        let writers = try (0..<10).map { _ in try GreetedConnection(daemon) }
        for (number, writer) in writers.enumerated() {
            try writer.add("item \(number)", byteCount: number == 9 ? 100 << 10 : 8)
        }
        try gate.waitUntilHeld(4)
        var words = [Int](repeating: 0, count: writers.count)
        for second in 1...12 {
            daemon.clock.advance(by: .seconds(1))
            // Those at work have heard: the housekeeper has looked.
            let deadline = Deadline(after: .seconds(20), on: SystemClock())
            while words.count(where: { $0 >= second }) < 4 {
                try #require(!deadline.hasPassed, "\(words) after \(second) s")
                for (index, writer) in writers.enumerated() { words[index] += try writer.drainWords() }
            }
        }
        #expect(gate.heldCount == 4)
        #expect(words.allSatisfy { $0 >= 10 }, "\(words): nobody is left without a word for five seconds")
        gate.open()
        for writer in writers { #expect(try writer.answer().isSuccess, "twelve seconds are no reason to give up") }
    }

    /// What the enclave is needed for comes before the shared write.
    @Test func aChangeOfAValueHoldsUpNoOtherWrite() throws {
        let gate = try EnclaveGate()
        let daemon = try DaemonUnderTest(rights: .fixed(Self.rights), gate: gate)
        try Self.fill(daemon)
        let first = try GreetedConnection(daemon)
        try first.add("a")
        #expect(try first.answer().isSuccess)
        gate.close()
        try first.changeValue("a")
        try gate.waitUntilHeld(1)
        // The same row as well: what was prepared for it does not hold any more.
        let client = daemon.client()
        for account in ["a", "a"] {
            _ = try client.perform(
                KeychainRequest(
                    .update, query: GreetedConnection.item(account),
                    changes: QueryDictionary([("labl", .string("new label"))])))
        }
        #expect(gate.heldCount == 1, "the change of the value waits still")
        gate.open()
        #expect(try first.answer().isSuccess)
        let row = try client.perform(
            KeychainRequest(
                .copy, query: GreetedConnection.item("a", [("r_Data", .bool(true)), ("r_Attributes", .bool(true))]))
        ).rows.first
        #expect(row?.value?.bytes.insecureArray() == Array("changed".utf8))
        #expect(row?.attributes[.label] == .string("new label"), "neither change is lost")
    }

    @Test func nothingIsSaidOfAWriteAfterAMinute() throws {
        let gate = try EnclaveGate()
        let daemon = try DaemonUnderTest(rights: .fixed(Self.rights), gate: gate)
        try Self.fill(daemon)
        gate.close()
        let writer = try GreetedConnection(daemon)
        try writer.add("stuck")
        try gate.waitUntilHeld(1)
        daemon.clock.advance(by: .seconds(59))
        #expect(try writer.nextMessage().more)
        daemon.clock.advance(by: .seconds(2))
        // The housekeeper has looked at the clock once a silent greeting has ended.
        let silent = try MessageChannel(try daemon.rawConnection())
        let soon = Deadline(after: .seconds(20), on: SystemClock())
        #expect(try silent.receive(until: soon)?.tail.count == 32)
        // It is greeted before it is in the table, and the clock does not go on by itself.
        while daemon.connectionCount < 2, !soon.hasPassed {}
        daemon.clock.advance(by: .seconds(6))
        while let frame = try silent.receive(until: soon) { _ = frame.header }
        #expect(try writer.hasNothingToRead())
        gate.open()
        #expect(try writer.answer().isSuccess)
    }

    /// Each answer is a memory file, which lies in the kernel's memory until it is read.
    @Test func largeAnswersThatNobodyReadsAreAtMostTwo() throws {
        let daemon = try DaemonUnderTest(rights: .fixed(Self.rights))
        try Self.fill(daemon)
        let greedy = try GreetedConnection(daemon)
        try greedy.add("large", byteCount: 1 << 20)
        #expect(try greedy.answer().isSuccess)
        try greedy.askForValue("large", times: 20)
        #expect(try ExecAttack.honestClient(of: daemon.asVictim) == "told")
        let deadline = Deadline(after: .seconds(20), on: SystemClock())
        // The first answer is there; the clock stands until then.
        while !greedy.hasSomethingToRead { try #require(!deadline.hasPassed) }
        while !daemon.lines.all.contains(where: { $0.contains("unreachable") }) {
            try #require(!deadline.hasPassed, "nobody waits for the reader")
            daemon.clock.advance(by: .seconds(1))
        }
        // It is logged before the worker lets go of it.
        var left = try greedy.drainAnswers()
        while !left.hasEnded, !deadline.hasPassed {
            let more = try greedy.drainAnswers()
            left = (left.count + more.count, more.hasEnded)
        }
        #expect((1...2).contains(left.count) && left.hasEnded, "\(left)")
    }

    /// Whoever reads gets them all, however many requests were sent ahead.
    @Test func largeAnswersThatAreReadAllCome() throws {
        let daemon = try DaemonUnderTest(rights: .fixed(Self.rights))
        let reader = try GreetedConnection(daemon)
        try reader.add("large", byteCount: 1 << 20)
        #expect(try reader.answer().isSuccess)
        try reader.askForValue("large", times: 20)
        for _ in 0..<20 { #expect(try reader.answer().isSuccess) }
    }

    @Test func tooManyBytesAtOnceAreRefusedBeforeTheyAreRead() throws {
        let gate = try EnclaveGate()
        let daemon = try DaemonUnderTest(rights: .fixed(Self.rights), gate: gate) {
            $0.limits.bytesInFlight = 1 << 20
        }
        try Self.fill(daemon)
        gate.close()
        let first = try GreetedConnection(daemon)
        try first.add("first", byteCount: 900 << 10)
        try gate.waitUntilHeld(1)
        let second = try GreetedConnection(daemon)
        try second.add("second", byteCount: 900 << 10)
        #expect(try second.answer().error == KeychainError(.notAvailable, reason: .busy))
        let small = try GreetedConnection(daemon)
        try small.add("small", byteCount: 10)
        try gate.waitUntilHeld(2)
        gate.open()
        #expect(try first.answer().isSuccess)
        #expect(try small.answer().isSuccess)
        // The room is given back once the answer has left.
        let deadline = Deadline(after: .seconds(20), on: SystemClock())
        repeat {
            try second.add("second", byteCount: 900 << 10)
        } while try second.answer().error?.reason == .busy && !deadline.hasPassed
        #expect(!deadline.hasPassed)
    }

    static var rights: Entitlements {
        var rights = Entitlements()
        rights.keychainAccessGroups = ["latchkey"]
        return rights
    }

    /// The bait, and a row of which a handful of answers fill a socket.
    static func fill(_ daemon: DaemonUnderTest) throws {
        let client = daemon.client()
        _ = try client.perform(Bait.store)
        let query = QueryDictionary([
            ("class", .string("genp")), ("svce", .string("large")), ("acct", .string("large")),
            ("icmt", .string(String(repeating: "c", count: 50_000))),
        ])
        _ = try client.perform(KeychainRequest(.add, query: query))
    }
}
