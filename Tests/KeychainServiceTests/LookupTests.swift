import Dispatch
import FuzzTargets
import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Synchronization
import Testing

/// Items that are found by any of their lookup attributes.
@Suite struct LookupTests {
    private let keychain: EngineUnderTest

    init() throws { keychain = try EngineUnderTest() }

    private func encoded(_ pairs: [String: String]) throws -> RawValue {
        let attributes = try #require(LookupAttributes(pairs.map { .init(name: $0.key, value: $0.value) }))
        return .data(attributes.encoded)
    }

    private func add(
        _ account: String, _ pairs: [String: String], class itemClass: String = "genp", group: String = "group.a"
    ) throws {
        let service = itemClass == "genp" ? "svce" : "srvr"
        _ = try keychain.call(
            .add,
            [
                ("class", .string(itemClass)), (service, .string("service")), ("acct", .string(account)),
                ("agrp", .string(group)), ("look", try encoded(pairs)),
            ], value: "value of \(account)")
    }

    private func found(_ pairs: [String: String], class itemClass: String = "genp") throws -> [String] {
        do throws(KeychainError) {
            let query: [(String, RawValue)] = [
                ("class", .string(itemClass)), ("m_Limit", .string("m_LimitAll")), ("r_Attributes", .bool(true)),
            ]
            let wanted = pairs.map { LookupAttributes.Pair(name: $0.key, value: $0.value) }
            let look = RawValue.data(LookupAttributes(wanted)?.encoded ?? [])
            let answer = try keychain.call(.copy, query + (pairs.isEmpty ? [] : [("look", look)]))
            return answer.rows.compactMap { $0.attributes[.account]?.string }.sorted()
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return []
        }
    }

    @Test func anItemAnswersToEverySubset() throws {
        try add("one", ["server": "a", "user": "x", "port": "1"])
        try add("two", ["server": "a", "user": "y"])
        try add("three", ["server": "b", "user": "x"], group: "group.b")
        #expect(try found(["server": "a"]) == ["one", "two"])
        #expect(try found(["user": "x"]) == ["one", "three"])
        #expect(try found(["server": "a", "user": "x"]) == ["one"])
        #expect(try found(["server": "a", "user": "x", "port": "1"]) == ["one"])
        #expect(try found(["server": "a", "user": "z"]) == [])
        // Names and values do not run into each other.
        #expect(try found(["serve": "ra"]) == [] && found(["server": ""]) == [])
        #expect(try found([:]) == ["one", "three", "two"])
        // A class of its own, and a group of somebody else's.
        try add("four", ["server": "a"], class: "inet")
        #expect(try found(["server": "a"]) == ["one", "two"])
        #expect(try found(["server": "a"], class: "inet") == ["four"])
        keychain.entitlements.keychainAccessGroups = ["group.b"]
        #expect(try found(["user": "x"]) == ["three"])
    }

    @Test func changesAndDeletionsAreFollowed() throws {
        try add("one", ["server": "a", "user": "x"])
        _ = try keychain.call(.update, keychain.item("one"), changes: [("look", try encoded(["server": "b"]))])
        #expect(try found(["server": "a"]) == [] && found(["user": "x"]) == [])
        #expect(try found(["server": "b"]) == ["one"])
        // Other changes leave them alone, whether or not the secret is sealed anew.
        _ = try keychain.call(.update, keychain.item("one"), changes: [("labl", .string("label"))])
        _ = try keychain.call(.update, keychain.item("one"), value: "another")
        _ = try keychain.call(.update, keychain.item("one"), changes: [("agrp", .string("group.b"))])
        #expect(try found(["server": "b"]) == ["one"])
        try keychain.reopen()
        #expect(try found(["server": "b"]) == ["one"])
        _ = try keychain.call(.delete, keychain.item("one"))
        #expect(try found(["server": "b"]) == [])
        #expect(try keychain.number("SELECT count(*) FROM genp_lookups") == 0)
    }

    @Test func whatIsNotTheOneEncodingIsRefused() throws {
        let right = try #require(LookupAttributes([.init(name: "b", value: "1"), .init(name: "a", value: "2")])).encoded
        #expect(LookupAttributes(encoded: right)?.pairs.map(\.name) == ["a", "b"])
        let half = right.count / 2
        let wrong: [[UInt8]] = [
            Array(right.dropLast()), right + [0], Array(right[half...] + right[..<half]),
            Array(right[..<half] + right[..<half]), [0, 0, 0, 1, 0xFF, 0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF],
        ]
        for bytes in wrong {
            #expect(LookupAttributes(encoded: bytes) == nil)
            #expect(throws: KeychainError.parameter(.malformed(key: "kSecAttrLatchkeyLookupAttributes"))) {
                _ = try keychain.call(.add, keychain.item("a") + [("look", .data(bytes))], value: "v")
            }
        }
        #expect(LookupAttributes([.init(name: "a", value: "1"), .init(name: "a", value: "2")]) == nil)
        let most = (0...LookupAttributes.most).map { LookupAttributes.Pair(name: "\($0)", value: "") }
        #expect(LookupAttributes(most) == nil && LookupAttributes(Array(most.dropLast())) != nil)
    }

    /// Against what is meant, over random adds, changes, deletions and searches.
    @Test(arguments: [1, 2, 3]) func aThousandRandomItemsAnswerAsTheyShould(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var model: [String: [String: String]] = [:]
        func attributes(_ most: Int) -> [String: String] {
            var pairs: [String: String] = [:]
            for _ in 0..<Int(random.next() % UInt64(most + 1)) {
                pairs["name\(random.next() % 5)"] = "value\(random.next() % 4)"
            }
            return pairs
        }
        for step in 0..<340 {
            let pairs = attributes(4)
            switch random.next() % 8 {
            case 0 where !model.isEmpty:
                let name = model.keys.sorted()[Int(random.next() % UInt64(model.count))]
                _ = try keychain.call(.delete, keychain.item(name))
                model[name] = nil
            case 1 where !model.isEmpty:
                let name = model.keys.sorted()[Int(random.next() % UInt64(model.count))]
                _ = try keychain.call(.update, keychain.item(name), changes: [("look", try encoded(pairs))])
                model[name] = pairs
            default:
                try add("item\(step)", pairs)
                model["item\(step)"] = pairs
            }
            let wanted = attributes(3)
            let expected = model.filter { item in wanted.allSatisfy { item.value[$0.key] == $0.value } }
            #expect(try found(wanted) == expected.keys.sorted())
        }
        #expect(try keychain.engine.doctor(.verify).isIntact == true)
    }

    /// What many items have is not what a search begins with.
    @Test func aSearchLooksAtWhatIsRare() throws {
        let blind = BlindIndex(SecretBytes(count: BlindingKey.byteCount))
        let query = try QueryParser.parse(
            QueryDictionary([
                ("class", .string("genp")), ("look", try encoded(["schema": "s", "server": "1", "user": "u"])),
            ]),
            for: .copy, entitlements: keychain.entitlements)
        let selection = Selection(
            AuthorizedQuery(query, reach: .only([AccessGroup("group.a")])), blind: blind, withSecrets: false)
        let steps = try keychain.engine.store.read { reader throws(KeychainError) in try reader.plan(of: selection) }
        #expect(steps.contains { $0.contains("genp USING INTEGER PRIMARY KEY (rowid=?)") }, "\(steps)")
        #expect(
            steps.count {
                $0.contains("genp_lookups USING PRIMARY KEY (pair=?") || $0.contains("first USING PRIMARY KEY (pair=?")
            } == 3, "\(steps)")
        #expect(!steps.contains { $0.contains("SCAN") || $0.contains("TEMP B-TREE FOR ORDER") }, "\(steps)")
    }

    /// A row that was set aside comes back with what it is found by.
    @Test func whatIsSalvagedIsFoundAgain() throws {
        try add("one", ["server": "a"])
        try add("two", ["server": "b"])
        try keychain.reopen {
            try EngineUnderTest.execute(
                """
                INSERT INTO damaged (class, cause, moved, rowid_was, uuid, persistref, fmt, gen, pdmn, sync, tomb, pkey, \
                metadata, wrapped_key, secret) SELECT 'genp', 'metadata', 0, rowid, uuid, persistref, fmt, gen, pdmn, \
                sync, tomb, pkey, metadata, wrapped_key, secret FROM genp LIMIT 1
                """, in: keychain.databasePath)
            try EngineUnderTest.execute(
                "DELETE FROM genp WHERE rowid = (SELECT min(rowid) FROM genp)", in: keychain.databasePath)
        }
        #expect(try keychain.number("SELECT count(*) FROM genp_lookups") == 1)
        _ = try keychain.engine.doctor(.salvage)
        #expect(try found(["server": "a"]) == ["one"] && found(["server": "b"]) == ["two"])
    }

    // MARK: Damage

    /// What a row is found by, and what its sealed attributes say.
    @Test(arguments: [
        "DELETE FROM genp_lookups WHERE item = 1",
        "DELETE FROM genp_lookups WHERE pair = (SELECT min(pair) FROM genp_lookups WHERE item = 1)",
        "INSERT INTO genp_lookups VALUES (randomblob(16), 1)",
        "INSERT INTO genp_lookups SELECT pair, 1 FROM genp_lookups WHERE item = 2",
        "UPDATE genp_lookups SET pair = randomblob(16) WHERE item = 1",
        "INSERT INTO genp_lookups SELECT pair, 999 FROM genp_lookups WHERE item = 2",
    ])
    func verifySeesLookupsThatLieAndSalvageMendsThem(_ lie: String) throws {
        try add("one", ["server": "a", "user": "x"])
        try add("two", ["server": "b"])
        try add("three", [:])
        #expect(try keychain.engine.doctor(.verify).inspection?.sound == 3)
        try keychain.sql(lie)
        let report = try keychain.engine.doctor(.verify)
        #expect(report.inspection?.mismatched == 1 && report.inspection?.unopened == 0)
        #expect(try keychain.engine.doctor(.salvage).inspection?.mended == 1)
        #expect(try found(["server": "a"]) == ["one"] && found(["user": "x"]) == ["one"])
        #expect(try found(["server": "b"]) == ["two"])
        #expect(try keychain.number("SELECT count(*) FROM genp_lookups") == 3)
        let after = try keychain.engine.doctor(.verify).inspection
        #expect(after?.sound == 3 && after?.mismatched == 0)
    }

    /// A row and its lookups are read one after the other, and written meanwhile.
    @Test func whatIsWrittenMeanwhileDoesNotLie() throws {
        for account in ["one", "two", "three"] { try add(account, ["server": "a"]) }
        let engine = keychain.engine
        let authorization = Authorization(keychain.entitlements)
        let updates = try (0..<2).map { number in
            KeychainRequest(
                .update, query: QueryDictionary(keychain.item("two")),
                changes: QueryDictionary([("look", try encoded(["server": "\(number)", "user": "\(number)"]))]))
        }
        let isOver = Mutex(false)
        let ended = DispatchSemaphore(value: 0)
        TestThread.start {
            var count = 0
            while !isOver.withLock({ $0 }) {
                do { _ = try engine.answer(updates[count % 2], for: authorization) } catch { Issue.record(error) }
                count += 1
            }
            ended.signal()
        }
        defer {
            isOver.withLock { $0 = true }
            ended.wait()
        }
        for _ in 0..<60 {
            let found = try #require(try engine.doctor(.verify).inspection)
            #expect(found.mismatched == 0 && found.unopened == 0 && found.sound == 3)
        }
    }

    /// Whoever can name the root of collections can name each; it is never searched by itself.
    @Test func collectionsAreNamedAndNeverSearched() throws {
        keychain.entitlements.nameableGroups = [AccessGroup.secretService.name]
        try add("one", ["server": "a"], group: "secret-service.work")
        #expect(try found(["server": "a"]) == [])
        #expect(throws: KeychainError.self) { try add("two", [:], group: "secret-servicex.work") }
        keychain.entitlements.nameableGroups = ["latchkey"]
        #expect(throws: KeychainError(.missingEntitlement, reason: .groupNotEntitled(group: "secret-service.work"))) {
            try add("two", [:], group: "secret-service.work")
        }
    }
}
