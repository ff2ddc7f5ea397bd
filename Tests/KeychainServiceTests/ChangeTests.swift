import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Synchronization
import Testing

/// What observers hear of the store's changes.
@Suite struct ChangeTests {
    let keychain: EngineUnderTest
    let start: ChangePosition

    init() throws {
        keychain = try EngineUnderTest()
        start = try Self.ask(keychain, after: nil).position
    }

    static func ask(
        _ keychain: EngineUnderTest, after position: ChangePosition?, groups: [String] = ["group.a", "group.b"],
        named: [AccessGroup]? = nil
    ) throws -> ChangeBatch {
        var observer = Entitlements()
        observer.keychainAccessGroups = groups
        let scope = named.map { ChangeScope.named($0) } ?? .searched
        guard let position else { return try keychain.engine.changePosition(in: scope, for: Authorization(observer)) }
        return try keychain.engine.changes(after: position, in: scope, for: Authorization(observer))
    }

    /// Everything since the beginning, as "kind class group count".
    func heard(groups: [String] = ["group.a", "group.b"]) throws -> [String] {
        try Self.ask(keychain, after: start, groups: groups).changes.map(Self.words)
    }

    static func words(_ change: KeychainChange) -> String {
        func say(_ kind: String, _ items: KeychainChange.Items) -> String {
            "\(kind) \(items.itemClass.rawValue) \(items.group?.name ?? "?") \(items.count)"
        }
        return switch change.event {
        case .added(let items): say("added", items)
        case .changed(let items): say("changed", items)
        case .removed(let items): say("removed", items)
        case .setAside(let items): say("setAside", items)
        case .unknown: "unknown"
        }
    }

    @Test func eachKindOfChangeIsTold() throws {
        try keychain.add("a", "1")
        _ = try keychain.call(.update, keychain.item("a"), changes: [("labl", .string("new"))])
        _ = try keychain.call(.update, keychain.item("a"), value: "2")
        _ = try keychain.call(.update, keychain.item("a"), changes: [("agrp", .string("group.b"))])
        _ = try keychain.call(.delete, keychain.item("a"))
        #expect(
            try heard() == [
                "added genp group.a 1", "changed genp group.a 1", "changed genp group.a 1", "removed genp group.a 1",
                "added genp group.b 1", "removed genp group.b 1",
            ])
        #expect(try heard(groups: ["group.b"]) == ["added genp group.b 1", "removed genp group.b 1"])
    }

    @Test func itemsThatOneCallChangesAreOneChange() throws {
        for account in ["a", "b", "c"] { try keychain.add(account, "1") }
        _ = try keychain.call(.update, [("class", .string("genp"))], changes: [("icmt", .string("x"))])
        _ = try keychain.call(.delete, [("class", .string("genp")), ("m_Limit", .string("m_LimitAll"))])
        #expect(try heard().suffix(2) == ["changed genp group.a 3", "removed genp group.a 3"])
    }

    /// A tombstone is no item: what it stands for was removed, and what takes its
    /// place is added.
    @Test func tombstonesAreNotTold() throws {
        try keychain.add("a", "1", [("sync", .bool(true))])
        _ = try keychain.call(.delete, keychain.item("a") + [("sync", .bool(true))])
        try keychain.add("a", "2", [("sync", .bool(true))])
        #expect(try heard() == ["added genp group.a 1", "removed genp group.a 1", "added genp group.a 1"])
    }

    @Test func whatDidNotHappenIsNotTold() throws {
        try keychain.add("a", "1")
        let before = try heard()
        #expect(throws: KeychainError.self) { try keychain.add("a", "2") }
        #expect(throws: KeychainError.self) { try keychain.call(.delete, keychain.item("nobody")) }
        #expect(try keychain.value("a") == "1")
        #expect(try heard() == before)
    }

    @Test func damagedItemsAreSetAside() throws {
        try keychain.add("a", "1")
        try keychain.reopen { [self] in try keychain.sql("UPDATE genp SET metadata = x'00'") }
        #expect(try keychain.value("a") == nil)
        #expect(try heard() == ["added genp group.a 1", "setAside genp group.a 1"])
    }

    /// Whoever has nothing to hear of moves on, so that it neither reads the same
    /// lines again nor falls behind what is kept.
    @Test func anObserverMovesOnPastOthersChanges() throws {
        for account in ["a", "b", "c"] { try keychain.add(account, "1") }
        let batch = try Self.ask(keychain, after: start, groups: ["group.c"])
        #expect(batch.changes.isEmpty)
        #expect(try batch.position == Self.ask(keychain, after: nil).position && batch.position != start)
    }

    /// Lines that no version of ours wrote tell nothing and stop nobody.
    @Test func linesThatAreNotUnderstoodArePassed() throws {
        try keychain.reopen { [self] in
            try keychain.sql(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO changes (class, agrp, kind, items) SELECT 'what', NULL, 77, 1 FROM n
                """)
        }
        try keychain.add("a", "1")
        #expect(try heard() == ["added genp group.a 1"])
    }

    @Test func noGroupHearsOfAnother() throws {
        try keychain.add("a", "1")
        #expect(try heard(groups: ["group.c"]).isEmpty)
        let refusal = #expect(throws: KeychainError.self) {
            try Self.ask(keychain, after: nil, groups: ["group.c"], named: [AccessGroup("group.a")])
        }
        #expect(refusal?.status == .missingEntitlement)
        let empty = #expect(throws: KeychainError.self) { try Self.ask(keychain, after: nil, groups: []) }
        #expect(empty?.status == .missingEntitlement)
        // No group is not every group.
        let none = #expect(throws: KeychainError.self) { try Self.ask(keychain, after: start, named: []) }
        #expect(none?.status == .missingEntitlement)
    }

    /// The entitlement for all groups sees changes of every group, without the names
    /// that it has not given.
    @Test func theEntitlementForAllGroupsSeesAll() throws {
        try keychain.add("a", "1")
        #expect(try heard(groups: ["*"]) == ["added genp ? 1"])
        #expect(try heard(groups: ["*", "group.a"]) == ["added genp group.a 1"])
    }

    @Test func aPositionOutlivesTheEngine() throws {
        try keychain.add("a", "1")
        let batch = try Self.ask(keychain, after: start)
        try keychain.reopen()
        try keychain.add("b", "1")
        let text = try #require(ChangePosition("\(batch.position)"))
        #expect(try Self.ask(keychain, after: text).changes.map(Self.words) == ["added genp group.a 1"])
    }

    /// What is forgotten, and what comes from another history, is said to be unknown.
    @Test func aPositionThatIsNotKnownSaysSo() throws {
        try keychain.add("a", "1")
        let newest = try Self.ask(keychain, after: nil).position
        for position in [
            ChangePosition(history: Array(repeating: 7, count: 16), number: 0),
            ChangePosition(history: newest.history, number: newest.number + 1),
        ] {
            let batch = try Self.ask(keychain, after: position)
            #expect(batch.changes == [KeychainChange(event: .unknown, position: newest)])
            #expect(batch.position == newest)
        }
    }

    /// The log keeps its newest lines, and says so to whoever wants older ones.
    @Test func theLogIsBounded() throws {
        try keychain.add("a", "1")
        let last = ChangeLog.kept + ChangeLog.step - 1
        try keychain.reopen { [self] in
            try keychain.sql(
                """
                WITH RECURSIVE n(i) AS
                    (SELECT max(number) + 1 FROM changes UNION ALL SELECT i + 1 FROM n WHERE i < \(last))
                INSERT INTO changes (number, class, agrp, kind, items) SELECT i, 'genp', NULL, 2, 1 FROM n
                """)
        }
        #expect(try keychain.number("SELECT count(*) FROM changes") == last)
        #expect(try Self.ask(keychain, after: start).changes.map(Self.words) == ["added genp group.a 1"])
        try keychain.add("b", "1")
        #expect(try keychain.number("SELECT count(*) FROM changes") == ChangeLog.kept)
        #expect(try heard() == ["unknown"])
        let edge = ChangePosition(history: start.history, number: Int64(ChangeLog.step))
        #expect(try Self.ask(keychain, after: edge).changes.map(Self.words) == ["added genp group.a 1"])
    }

    /// More than one answer holds, in order, nothing twice.
    @Test func manyChangesComeInSeveralAnswers() throws {
        for index in 0..<300 { try keychain.add("\(index)", "1") }
        var (position, total, answers) = (start, 0, 0)
        while true {
            let batch = try Self.ask(keychain, after: position)
            if batch.changes.isEmpty { break }
            #expect(batch.changes.map(\.position.number) == batch.changes.map(\.position.number).sorted())
            #expect(batch.position.number > position.number)
            (position, total, answers) = (batch.position, total + batch.changes.count, answers + 1)
        }
        #expect(total == 300 && answers == 2)
    }

    @Test func theLogHasNoNames() throws {
        try keychain.add("a", "1")
        let text = try EngineUnderTest.text(
            "SELECT group_concat(class || ' ' || hex(agrp) || ' ' || kind || ' ' || items) FROM changes WHERE kind > 0",
            in: keychain.databasePath)
        let hex = Array("group.a".utf8).map { String($0, radix: 16, uppercase: true) }.joined()
        #expect(text.hasPrefix("genp ") && !text.contains(hex) && !text.contains("group"))
    }

    @Test func aRestoredStoreHasAnotherHistory() throws {
        try keychain.add("a", "1")
        let position = try Self.ask(keychain, after: nil).position
        let elsewhere = try TemporaryDirectory()
        let backup = elsewhere.path + "/keychain.backup"
        try BackupMaking(of: keychain.folder.path, clock: keychain.clock).write(to: backup, replacing: false)
        try keychain.reopen { [self] in
            _ = try Restoration(
                into: try PrivateDirectory(keychain.folder.path, creating: false), clock: keychain.clock
            ).run(from: backup)
        }
        #expect(try keychain.value("a") == "1")
        #expect(try Self.ask(keychain, after: position).changes.map(Self.words) == ["unknown"])
    }

    @Test(arguments: ["", "x", "00-1", "zz112233445566778899aabbccddeeff-1", "00112233445566778899aabbccddeeff--1"])
    func aTextThatIsNoPositionIsNone(_ text: String) { #expect(ChangePosition(text) == nil) }

    @Test func aWaitEndsWithAChangeOrWithItsEnd() throws {
        let start = start
        let (engine, authorization) = (keychain.engine, Authorization(keychain.entitlements))
        let ended = try EventSignal()
        ended.signal()
        #expect(try engine.changes(after: start, in: .searched, for: authorization, orUntil: ended) == nil)
        let never = try EventSignal()
        let heard = Mutex<[String]?>(nil)
        let done = try EventSignal()
        TestThread.start {
            let batch = try? engine.changes(
                after: start, in: .searched, for: authorization, orUntil: never)
            heard.withLock { $0 = batch?.changes.map(Self.words) }
            done.signal()
        }
        try keychain.add("a", "1")
        let deadline = Deadline(after: .seconds(20), on: SystemClock())
        #expect(try waitForAny(of: [done.descriptor], until: deadline) == 0)
        #expect(heard.withLock { $0 } == ["added genp group.a 1"])
    }

    // MARK: Several adds

    func newItem(
        _ account: String, _ value: String, group: String = "group.a", created: Double? = nil, modified: Double? = nil
    ) -> NewItem {
        NewItem(
            QueryDictionary(keychain.item(account) + [("agrp", .string(group)), ("v_Data", .secret)]),
            value: SharedSecret(SecretBytes(copying: Array(value.utf8))), created: created,
            modified: modified)
    }

    @Test func severalItemsAreAddedEachByItself() throws {
        try keychain.add("there", "old")
        let outcomes = try keychain.engine.addItems(
            [
                newItem("a", "1", created: 5), newItem("there", "new"), newItem("b", "2", group: "group.b"),
                newItem("c", "3", group: "not.ours"), newItem("a", "again"), newItem("d", "4", modified: .nan),
                newItem("e", "5", modified: 6),
            ], for: Authorization(keychain.entitlements))
        #expect(
            outcomes.map { $0?.status } == [nil, .duplicateItem, nil, .missingEntitlement, .duplicateItem, .param, nil])
        #expect(try keychain.value("a") == "1" && keychain.value("there") == "old" && keychain.value("b") == "2")
        let row = try keychain.call(.copy, keychain.item("a") + [("r_Attributes", .bool(true))]).rows[0]
        #expect(row.attributes[.creationDate] == .date(5))
        #expect(row.attributes[.modificationDate] == .date(keychain.clock.wallClock))
        let dated = try keychain.call(.copy, keychain.item("e") + [("r_Attributes", .bool(true))]).rows[0]
        #expect(dated.attributes[.modificationDate] == .date(6))
        #expect(try heard() == ["added genp group.a 1", "added genp group.a 2", "added genp group.b 1"])
        #expect(try keychain.engine.doctor(.verify).inspection?.unopened == 0)
    }
}
