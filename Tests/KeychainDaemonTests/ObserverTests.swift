import KeychainClient
import KeychainDaemon
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import PeerIdentity
import Synchronization
import Testing

/// Clients of the daemon that wait for changes.
@Suite struct ObserverTests {
    /// One who waits on a thread of its own.
    final class Waiting: Sendable {
        private let outcome = Mutex<Result<ChangeBatch?, KeychainError>?>(nil)
        private let done: EventSignal
        let cancelled: EventSignal

        init(on keychain: DaemonConnectionPool, after position: ChangePosition) throws {
            let (done, cancelled) = (try EventSignal(), try EventSignal())
            self.done = done
            self.cancelled = cancelled
            TestThread.start { [self] in
                let result = Result { () throws(KeychainError) in
                    try keychain.changes(after: position, in: .searched, orUntil: cancelled)
                }
                outcome.withLock { $0 = result }
                done.signal()
            }
        }

        func batch() throws -> ChangeBatch? {
            let deadline = Deadline(after: .seconds(30), on: SystemClock())
            try #require(try waitForAny(of: [done.descriptor], until: deadline) == 0)
            return try outcome.withLock { $0 }?.get()
        }
    }

    private func position(_ keychain: DaemonConnectionPool) throws -> ChangePosition {
        try #require(try keychain.perform(KeychainRequest(.changePosition(.searched))).changes).position
    }

    private func add(_ account: String, _ keychain: DaemonConnectionPool) throws {
        _ = try keychain.perform(
            KeychainRequest(
                .add,
                query: QueryDictionary([
                    ("class", .string("genp")), ("svce", .string("s")), ("acct", .string(account)),
                    ("v_Data", .secret),
                ]), value: SharedSecret(SecretBytes(copying: [1]))))
    }

    /// More observers than workers: none of them keeps a worker.
    @Test func manyObserversHearOfAChangeAndKeepNobodyWaiting() throws {
        let daemon = try DaemonUnderTest()
        let keychain = daemon.client()
        let start = try position(keychain)
        let waiting = try (0..<20).map { _ in try Waiting(on: daemon.client(), after: start) }
        #expect(try daemon.serves())
        try add("a", keychain)
        for observer in waiting {
            let batch = try observer.batch()
            #expect(batch?.changes.count == 1)
            #expect(batch?.position == (try position(keychain)))
        }
        // Each connection serves on.
        #expect(try daemon.serves())
        withExtendedLifetime(daemon) {}
    }

    @Test func whatHappenedBeforeTheQuestionIsAnsweredAtOnce() throws {
        let daemon = try DaemonUnderTest()
        let keychain = daemon.client()
        let start = try position(keychain)
        try add("a", keychain)
        try add("b", keychain)
        #expect(try Waiting(on: keychain, after: start).batch()?.changes.count == 2)
        withExtendedLifetime(daemon) {}
    }

    /// Whether it comes true; the other threads are asked again until then.
    private func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
        let deadline = Deadline(after: .seconds(20), on: SystemClock())
        while !deadline.hasPassed { if try condition() { return true } }
        return false
    }

    @Test func anObserverMayEndWhileItWaits() throws {
        let daemon = try DaemonUnderTest()
        let keychain = daemon.client()
        let observer = try Waiting(on: daemon.client(), after: try position(keychain))
        #expect(eventually { daemon.observerCount == 1 })
        observer.cancelled.signal()
        #expect(try observer.batch() == nil)
        try add("a", keychain)
        #expect(try daemon.serves())
    }

    /// A client that goes away, while it waits or just before, leaves nothing behind.
    @Test func anObserverThatGoesAwayIsForgotten() throws {
        let daemon = try DaemonUnderTest()
        let keychain = daemon.client()
        let before = try position(keychain)
        let baseline = daemon.connectionCount
        for round in 0..<20 {
            let observer = try Waiting(on: daemon.client(), after: before)
            if round % 2 == 0 { #expect(eventually { daemon.observerCount == 1 }) }
            observer.cancelled.signal()
            #expect(try observer.batch() == nil)
        }
        #expect(eventually { daemon.observerCount == 0 && daemon.connectionCount == baseline })
    }

    /// No more groups than a program has.
    @Test func aQuestionOfManyGroupsIsRefused() throws {
        let daemon = try DaemonUnderTest()
        let groups = (0..<300).map { AccessGroup("g\($0)") }
        #expect(throws: KeychainError.self) {
            _ = try daemon.client().perform(KeychainRequest(.changePosition(.named(groups))))
        }
        #expect(try daemon.serves())
    }

    /// Where there is no room for the values the request is refused, and the
    /// connection goes on.
    @Test func severalLargeItemsWithoutRoomAreRefused() throws {
        let daemon = try DaemonUnderTest { $0.limits.bytesInFlight = 1 << 20 }
        let keychain = daemon.client()
        let value = SharedSecret(SecretBytes(count: 300_000))
        let items = (0..<4).map { index in
            NewItem(
                QueryDictionary([("class", .string("genp")), ("acct", .string("\(index)")), ("v_Data", .secret)]),
                value: value)
        }
        // Alone it is admitted whatever its size.
        #expect(try keychain.perform(KeychainRequest(.addItems, items: items)).outcomes.allSatisfy { $0 == nil })
        let (other, done) = (daemon.client(), try EventSignal())
        let large = SharedSecret(SecretBytes(count: 8 << 20))
        TestThread.start {
            for _ in 0..<20 {
                let query = QueryDictionary([("class", .string("genp")), ("acct", .string("l")), ("v_Data", .secret)])
                _ = try? other.perform(KeychainRequest(.add, query: query, value: large))
            }
            done.signal()
        }
        var refusals = Set<Reason>()
        let deadline = Deadline(after: .seconds(30), on: SystemClock())
        while try waitForAny(of: [done.descriptor], until: Deadline(after: .zero, on: SystemClock())) == nil,
            !deadline.hasPassed
        {
            do throws(KeychainError) {
                _ = try keychain.perform(KeychainRequest(.addItems, items: items))
            } catch {
                refusals.insert(error.reason)
            }
        }
        // Never that an answer did not come.
        #expect(refusals.isSubset(of: [.busy]), "\(refusals)")
        #expect(try daemon.serves())
    }

    @Test func severalItemsAreAddedByOneRequest() throws {
        let daemon = try DaemonUnderTest()
        let keychain = daemon.client()
        let items = (0..<NewItem.mostTogether).map { index in
            NewItem(
                QueryDictionary([
                    ("class", .string("genp")), ("svce", .string("s")), ("acct", .string("\(index % 100)")),
                    ("v_Data", .secret),
                ]), value: SharedSecret(SecretBytes(copying: Array("value \(index)".utf8))), created: 7)
        }
        let outcomes = try keychain.perform(KeychainRequest(.addItems, items: items)).outcomes
        #expect(outcomes.prefix(100).allSatisfy { $0 == nil })
        #expect(outcomes.dropFirst(100).map { $0?.status } == Array(repeating: .duplicateItem, count: 28))
        let query = QueryDictionary([
            ("class", .string("genp")), ("acct", .string("99")), ("r_Data", .bool(true)),
            ("r_Attributes", .bool(true)),
        ])
        let row = try #require(try keychain.perform(KeychainRequest(.copy, query: query)).rows.first)
        #expect(row.attributes["cdat"] == .date(7))
        #expect(row.value.map { $0.bytes.insecureArray() } == Array("value 99".utf8))
        withExtendedLifetime(daemon) {}
    }
}
