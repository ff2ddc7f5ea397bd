import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

/// The wall clock is anybody's to set: by years, backwards and forwards.
@Suite struct ClockJumpTests {
    private let daemon: DaemonUnderTest
    private let client: DaemonConnectionPool
    private let selection: [(String, RawValue)] = [("class", .string("genp")), ("svce", .string("clock"))]

    private static let year = 31_557_600.0

    init() throws {
        daemon = try DaemonUnderTest()
        client = daemon.client()
    }

    private func add() throws {
        _ = try client.perform(
            KeychainRequest(
                .add, query: QueryDictionary(selection + [("v_Data", .secret)]),
                value: SharedSecret(SecretBytes(copying: [1, 2, 3]))))
    }

    private func update(_ label: String) throws {
        _ = try client.perform(
            KeychainRequest(
                .update, query: QueryDictionary(selection), changes: QueryDictionary([("labl", .string(label))])))
    }

    private func dates() throws -> (created: Double, modified: Double) {
        let query = QueryDictionary(selection + [("r_Attributes", .bool(true))])
        let row = try #require(try client.perform(KeychainRequest(.copy, query: query)).rows.first)
        guard case .date(let created)? = row.attributes[.creationDate],
            case .date(let modified)? = row.attributes[.modificationDate]
        else { throw KeychainError(.internal, reason: .internalFault(what: "no dates")) }
        return (created, modified)
    }

    @Test func modificationDatesGrowWhateverTheClockSays() throws {
        let start = daemon.clock.wallClock
        try add()
        var last = try dates()
        #expect(last.created == start && last.modified == start)
        for jump in [-10.0, -30, 20, -0.1, 100, -100] {
            daemon.clock.setWallClock(start + jump * Self.year)
            try update("after \(jump)")
            let now = try dates()
            #expect(now.created == start)
            #expect(now.modified > last.modified, "after a jump of \(jump) years")
            last = now
        }
    }

    /// Deadlines are measured by the time that never jumps.
    @Test func noDeadlineHearsOfTheWallClock() throws {
        try add()
        let silent = try daemon.rawConnection()
        #expect(try wait(for: silent.descriptor.raw, to: .receive, until: Deadline(after: .seconds(10), on: SystemClock())) == .ready)
        // Counted just after the nonce has left.
        let soon = Deadline(after: .seconds(10), on: SystemClock())
        while daemon.connectionCount < 2, !soon.hasPassed {}
        #expect(daemon.connectionCount == 2)
        for jump in [-50.0, 50] {
            daemon.clock.setWallClock(daemon.clock.wallClock + jump * Self.year)
            _ = try dates()
            #expect(daemon.connectionCount == 2, "a greeting ended with the wall clock")
        }
        // And by that one they hold.
        daemon.clock.advance(by: .seconds(6))
        let end = Deadline(after: .seconds(10), on: SystemClock())
        while daemon.connectionCount > 1, !end.hasPassed {}
        #expect(daemon.connectionCount == 1)
        _ = try dates()
    }
}
