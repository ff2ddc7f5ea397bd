import Foundation
import KeychainClient
import KeychainDaemon
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@Suite struct LimitTests {
    @Test func oneConnectionTooManyIsToldThatTheDaemonIsBusy() throws {
        let daemon = try DaemonUnderTest { $0.limits.connectionsOfOneProcess = 3 }
        let held = try (0..<3).map { _ in try DaemonFinder(daemon.configuration).connect() }
        #expect(throws: KeychainError(.notAvailable, reason: .busy)) {
            try DaemonFinder(daemon.configuration).connect()
        }
        withExtendedLifetime(held) {}
    }

    @Test func aClosedConnectionMakesRoom() throws {
        let daemon = try DaemonUnderTest { $0.limits.connectionsOfOneProcess = 2 }
        for _ in 0..<20 { _ = try connectPatiently(daemon) }
    }

    /// The daemon learns of an end from its epoll: until then the place is taken.
    private func connectPatiently(_ daemon: DaemonUnderTest) throws -> DaemonConnection {
        let deadline = Deadline(after: .seconds(10), on: SystemClock())
        while true {
            do { return try DaemonFinder(daemon.configuration).connect() } catch {
                guard error.reason == .busy, !deadline.hasPassed else { throw error }
            }
        }
    }

    @Test func daemonLeavesAfterTenIdleMinutesAndNotBefore() throws {
        let daemon = try DaemonUnderTest()
        daemon.clock.advance(by: .seconds(599))
        #expect(try daemon.serves())
        try waitUntilNobodyIsConnected(daemon)
        daemon.clock.advance(by: .seconds(300))
        #expect(try daemon.serves(), "the idle time starts with the last departure")
        try waitUntilNobodyIsConnected(daemon)
        daemon.clock.advance(by: .seconds(601))
        #expect(try daemon.hasLeft())
    }

    /// A departure is seen when the daemon's epoll reports it.
    private func waitUntilNobodyIsConnected(_ daemon: DaemonUnderTest) throws {
        let deadline = Deadline(after: .seconds(10), on: SystemClock())
        while daemon.connectionCount > 0 { try #require(!deadline.hasPassed) }
    }

    @Test func removedSocketIsMadeAnew() throws {
        let daemon = try DaemonUnderTest()
        #expect(try daemon.serves())
        let run = try PrivateDirectory(daemon.locations.runDirectory, creating: false)
        try run.remove(Rendezvous.socketName)
        let deadline = Deadline(after: .seconds(10), on: SystemClock())
        while !run.holdsSocket(Rendezvous.socketName) { try #require(!deadline.hasPassed) }
        #expect(try daemon.serves())
    }

    @Test func valueOf64MiBTravelsAndOneByteMoreIsRefused() throws {
        let daemon = try DaemonUnderTest()
        let client = daemon.client()
        let size = 64 << 20
        var value = SecretBytes(count: size)
        unsafe value.withUnsafeMutableBytes { bytes in
            unsafe bytes[0] = 7
            unsafe bytes[size - 1] = 9
        }
        let query = QueryDictionary([("class", .string("genp")), ("acct", .string("large")), ("v_Data", .secret)])
        _ = try client.perform(KeychainRequest(.add, query: query, value: SharedSecret(value)))
        let answer = try client.perform(
            KeychainRequest(
                .copy,
                query: QueryDictionary([
                    ("class", .string("genp")), ("acct", .string("large")), ("r_Data", .bool(true)),
                ])))
        let read = try #require(answer.rows.first?.value)
        #expect(read.bytes.count == size)
        #expect(unsafe read.bytes.withUnsafeBytes { unsafe ($0[0], $0[size - 1]) } == (7, 9))

        let tooLarge = SharedSecret(SecretBytes(count: size + 1))
        let more = QueryDictionary([("class", .string("genp")), ("acct", .string("more")), ("v_Data", .secret)])
        let error = #expect(throws: KeychainError.self) {
            try client.perform(KeychainRequest(.add, query: more, value: tooLarge))
        }
        #expect(error?.status == .dataTooLarge)
        #expect(try daemon.serves())
    }

    @Test func thousandRowsComeInOrderAndComplete() throws {
        let daemon = try DaemonUnderTest()
        let client = daemon.client()
        for index in 0..<1000 {
            let query = QueryDictionary([
                ("class", .string("genp")), ("svce", .string("many")), ("acct", .string("\(index)")),
                ("v_Data", .secret),
            ])
            _ = try client.perform(
                KeychainRequest(.add, query: query, value: SharedSecret(SecretBytes(copying: Array("v\(index)".utf8)))))
        }
        let answer = try client.perform(
            KeychainRequest(
                .copy,
                query: QueryDictionary([
                    ("class", .string("genp")), ("svce", .string("many")), ("m_Limit", .string("m_LimitAll")),
                    ("r_Data", .bool(true)), ("r_Attributes", .bool(true)),
                ])))
        #expect(answer.rows.map { $0.attributes[.account]?.string } == (0..<1000).map { "\($0)" })
        #expect(
            answer.rows.map { $0.value.map { String(decoding: $0.bytes.insecureArray(), as: UTF8.self) } }
                == (0..<1000).map { "v\($0)" })
    }

    /// Attributes count towards the size of a message as values do.
    @Test func manyLargeAttributesComeInSeveralMessages() throws {
        let daemon = try DaemonUnderTest()
        let client = daemon.client()
        let comment = String(repeating: "c", count: 60_000)
        for index in 0..<80 {
            let query = QueryDictionary([
                ("class", .string("genp")), ("svce", .string("large")), ("acct", .string("\(index)")),
                ("icmt", .string(comment)),
            ])
            _ = try client.perform(KeychainRequest(.add, query: query))
        }
        let answer = try client.perform(
            KeychainRequest(
                .copy,
                query: QueryDictionary([
                    ("class", .string("genp")), ("svce", .string("large")), ("m_Limit", .string("m_LimitAll")),
                    ("r_Attributes", .bool(true)),
                ])))
        #expect(answer.rows.count == 80)
        #expect(answer.rows.allSatisfy { $0.attributes["icmt"]?.byteCount == 60_000 })
    }

    /// More than any machine has, in one message: an error of its own, no end of
    /// the daemon.
    @Test(.enabled(if: Self.refusesWhatIsFarTooMuch, "this kernel promises any amount of memory"))
    func anAnswerForWhichThereIsNoMemoryIsAnError() throws {
        let value = SharedSecret(SecretBytes(count: 64 << 20))
        var encoder = AnswerEncoder(number: 1, returns: .data, many: true)
        for _ in 0..<(1 << 16) {
            encoder.add(
                AnswerRow(
                    itemClass: .genericPassword, attributes: AttributeMap(), accessControl: nil,
                    persistentReference: [], value: value))
        }
        var failure: KeychainError?
        do throws(KeychainError) { _ = try encoder.take(more: false) } catch { failure = error }
        #expect(failure == KeychainError(.allocate, reason: .busy))
        // The values are dropped: the next message is an ordinary one.
        let next = try encoder.take(more: false).tail.count
        #expect(next == 0)
    }

    /// proc_sys_vm(5): 1 never refuses.
    private static var refusesWhatIsFarTooMuch: Bool {
        (try? String(contentsOfFile: "/proc/sys/vm/overcommit_memory", encoding: .utf8))?.hasPrefix("1") == false
    }
}
