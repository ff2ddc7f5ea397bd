import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
import Synchronization
import Testing

@Suite struct SharedCommitTests {
    /// Sixteen threads add at once, some of them the same item: every success is
    /// there, every other is a duplicate, and nobody else's work is undone.
    @Test func writersAtOnceGetEachTheirOwnAnswer() async throws {
        let keychain = try EngineUnderTest()
        let engine = keychain.engine
        let entitlements = keychain.entitlements
        let outcomes = await withTaskGroup(of: (Int, Status).self) { group in
            for index in 0..<160 {
                group.addTask {
                    let query = QueryDictionary([
                        ("class", .string("genp")), ("svce", .string("s")), ("acct", .string("\(index % 80)")),
                    ])
                    do throws(KeychainError) {
                        _ = try engine.answer(KeychainRequest(.add, query: query), for: Authorization(entitlements))
                        return (index, .success)
                    } catch {
                        return (index, error.status)
                    }
                }
            }
            return await group.reduce(into: [(Int, Status)]()) { $0.append($1) }
        }
        #expect(outcomes.filter { $0.1 == .success }.count == 80)
        #expect(outcomes.filter { $0.1 == .duplicateItem }.count == 80)
        #expect(try keychain.number("SELECT count(*) FROM genp") == 80)
    }

    @Test func failedUpdateLeavesEveryRowAsItWas() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.add("b", "2")
        let error = #expect(throws: KeychainError.self) {
            try keychain.call(.update, [("class", .string("genp"))], changes: [("acct", .string("same"))], value: "new")
        }
        #expect(error?.status == .duplicateItem)
        #expect(try keychain.value("a") == "1")
        #expect(try keychain.value("b") == "2")
    }

    /// A clock that stands still does not make two changes look alike.
    @Test func modificationDateAlwaysGrows() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        var last = -1.0
        for index in 0..<5 {
            _ = try keychain.call(.update, keychain.item("a"), changes: [("labl", .string("\(index)"))])
            let answer = try keychain.call(.copy, keychain.item("a") + [("r_Attributes", .bool(true))])
            guard case .date(let now) = answer.rows.first?.attributes[.modificationDate] else {
                Issue.record("no modification date")
                return
            }
            #expect(now > last)
            last = now
        }
    }

    /// An import may bring a date so late that a thousandth of a second is nothing to it.
    @Test func aDateFarAwayGrowsToo() throws {
        let keychain = try EngineUnderTest()
        let far = 1.7e15
        let item = NewItem(
            QueryDictionary(keychain.item("a") + [("v_Data", .secret)]),
            value: SharedSecret(SecretBytes(copying: [1])), modified: far)
        #expect(try keychain.engine.addItems([item], for: Authorization(keychain.entitlements)) == [nil])
        _ = try keychain.call(.update, keychain.item("a"), changes: [("labl", .string("later"))])
        let row = try keychain.call(.copy, keychain.item("a") + [("r_Attributes", .bool(true))]).rows[0]
        #expect(row.attributes[.modificationDate] == .date(far.nextUp))
    }
}
