import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import Synchronization
import Testing

/// Several searches in one call, of a daemon that knows it and of one that does not.
@Suite struct SeveralSearchesTests {
    private let keychain: EngineUnderTest

    init() throws {
        keychain = try EngineUnderTest()
        for account in ["one", "two"] {
            _ = try keychain.call(
                .add,
                [
                    ("class", .string("genp")), ("svce", .string("service")), ("acct", .string(account)),
                    ("agrp", .string("group.a")),
                ], value: "value of \(account)")
        }
    }

    private func search(_ account: String, _ more: [(String, RawValue)] = []) -> QueryDictionary {
        QueryDictionary(
            [
                ("class", .string("genp")), ("svce", .string("service")), ("acct", .string(account)),
                ("r_Attributes", .bool(true)),
            ] + more)
    }

    private func accounts(_ found: [[AnswerRow]]) -> [[String?]] {
        found.map { $0.map { $0.attributes[.account]?.string } }
    }

    @Test(arguments: [ProtocolVersion.deputies, ProtocolVersion.severalSearches])
    func eachIsAnswered(_ version: UInt32) throws {
        let daemon = PlayedDaemon(keychain, speaking: version)
        let found = try daemon.copyEach([search("two"), search("nobody"), search("one")])
        #expect(accounts(found) == [["two"], [], ["one"]])
        #expect(daemon.calls == (version == ProtocolVersion.severalSearches ? 1 : 3))
    }

    @Test func whatFailsIsTheCallsFailure() throws {
        for version in [ProtocolVersion.deputies, ProtocolVersion.severalSearches] {
            let daemon = PlayedDaemon(keychain, speaking: version)
            let notMine = search("one", [("agrp", .string("group.of.another"))])
            let refused = #expect(throws: KeychainError.self) { try daemon.copyEach([search("one"), notMine]) }
            #expect(refused?.status == .missingEntitlement)
        }
    }

    /// Beside what is found something may be missing because it is damaged: git, told that
    /// there is nothing, would ask for the password and erase what may come back.
    @Test(arguments: [ProtocolVersion.deputies, ProtocolVersion.severalSearches])
    func whatMayBeSetAsideIsNotMissing(_ version: UInt32) throws {
        let daemon = PlayedDaemon(keychain, speaking: version)
        let searches = [search("one"), search("two")]
        #expect(accounts(try daemon.copyEach([searches[0], search("nobody").certain])) == [["one"], []])
        try keychain.sql("UPDATE genp SET metadata = randomblob(length(metadata)) WHERE rowid = 2")
        #expect(accounts(try daemon.copyEach(searches)) == [["one"], []])
        let refused = #expect(throws: KeychainError.self) { try daemon.copyEach(searches.map(\.certain)) }
        #expect(refused?.status == .itemNotFound && refused?.reason != .nothingMatches)
        #expect(accounts(try daemon.copyEach([searches[0].certain])) == [["one"]])
    }

    /// Of the Secret Service: the same rows, whatever the daemon knows.
    @Test(arguments: [ProtocolVersion.deputies, ProtocolVersion.severalSearches, ProtocolVersion.itemSearches])
    func eachSearchOfItemsIsAnswered(_ version: UInt32) throws {
        let daemon = PlayedDaemon(keychain, speaking: version)
        var wanted = AttributeMap()
        wanted.append(.service, .string("service"))
        let group = AccessGroup("group.a")
        let all = try #require(
            ItemSearch(
                .genericPassword, having: wanted, in: group, telling: .description, excludingLookups: true))
        let none = try #require(
            ItemSearch(.internetPassword, having: AttributeMap(), in: group, telling: .presence))
        let found = try daemon.searchEach([none, all])
        #expect(accounts(found) == [[], ["one", "two"]] && found[1].allSatisfy { !$0.isClosed })
        let last = try #require(found[1].last)
        let reference = try #require(PersistentReference(bytes: last.persistentReference))
        let named = try daemon.searchEach([ItemSearch(reference, in: group, telling: .value)])
        #expect(named.map { $0.map { $0.value?.bytes.insecureArray() } } == [[Array("value of two".utf8)]])
        let elsewhere = ItemSearch(reference, in: AccessGroup("group.b"), telling: .value)
        #expect(try daemon.searchEach([elsewhere]).map(\.count) == [0])
        #expect(daemon.calls == (version == ProtocolVersion.deputies ? 4 : 3))
        let many = try daemon.searchEach(Array(repeating: all, count: KeychainRequest.mostSearches + 1))
        #expect(many.count == KeychainRequest.mostSearches + 1 && many.allSatisfy { $0.count == 2 })
    }

    /// What one item may be found by, in so many collections: a request's header holds 4 MiB.
    @Test func longOnesAreSeveralRequests() throws {
        let daemon = PlayedDaemon(keychain, speaking: ProtocolVersion.highest)
        let long = String(repeating: "x", count: 300 << 10)
        let found = try daemon.copyEach((0..<20).map { search($0 == 19 ? "one" : long) })
        #expect(accounts(found) == Array(repeating: [], count: 19) + [["one"]])
        #expect(daemon.calls == 4)
        var wanted = AttributeMap()
        wanted.append(.service, .string(long))
        let group = AccessGroup("group.a")
        let each = try #require(ItemSearch(.genericPassword, having: wanted, in: group, telling: .presence))
        #expect(try daemon.searchEach(Array(repeating: each, count: 20)).map(\.count) == Array(repeating: 0, count: 20))
        #expect(daemon.calls == 8)
        // One alone is asked for, whatever its length.
        wanted.append(.account, .string(String(repeating: "y", count: KeychainRequest.mostSearchBytes)))
        let longest = try #require(ItemSearch(.genericPassword, having: wanted, in: group, telling: .presence))
        #expect(try daemon.searchEach([longest, each, longest]).count == 3)
        #expect(daemon.calls == 11)
    }

    @Test func manyAreSeveralRequests() throws {
        let daemon = PlayedDaemon(keychain, speaking: ProtocolVersion.highest)
        let count = KeychainRequest.mostSearches + 1
        let found = try daemon.copyEach((0..<count).map { search($0 == count - 1 ? "two" : "one") })
        #expect(accounts(found) == Array(repeating: ["one"], count: count - 1) + [["two"]])
        #expect(daemon.calls == 2)
    }
}

/// A daemon of that protocol: it ends a connection on what it does not know.
private final class PlayedDaemon: KeychainTransport {
    private let engine: EmbeddedKeychain
    private let version: UInt32
    private let count = Mutex(0)

    init(_ keychain: EngineUnderTest, speaking version: UInt32) {
        engine = EmbeddedKeychain(keychain.engine, entitlements: keychain.entitlements)
        self.version = version
    }

    var calls: Int { count.withLock { $0 } }

    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        count.withLock { $0 += 1 }
        if case .copyEach = request.operation, version < ProtocolVersion.severalSearches {
            throw KeychainError(.notAvailable, reason: .noAnswer(mayHaveHappened: false))
        }
        if case .searchEach = request.operation, version < ProtocolVersion.itemSearches {
            throw KeychainError(.notAvailable, reason: .noAnswer(mayHaveHappened: false))
        }
        return try engine.perform(request)
    }

    func session() throws(KeychainError) -> SessionInformation {
        var session = try engine.session()
        session.protocolVersion = version
        return session
    }

    func changes(
        after position: ChangePosition, in scope: ChangeScope, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch? {
        try engine.changes(after: position, in: scope, orUntil: cancelled)
    }

    func authenticationSession() throws(KeychainError) -> any AuthenticationSession {
        engine.authenticationSession()
    }

    func deviceStates() throws(KeychainError) -> any DeviceStates { try engine.deviceStates() }
}
