import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import Testing

/// Counting items over the borders of groups.
@Suite struct CensusTests {
    private static func counts(
        _ machine: EngineUnderTest, _ query: [(String, RawValue)], telling reach: CensusReach
    ) throws -> [String: Int] {
        let counts = try machine.engine.census(
            KeychainRequest(.census, query: QueryDictionary(query + [("m_Limit", .string("m_LimitAll"))])),
            for: Authorization(machine.entitlements), telling: reach)
        return Dictionary(uniqueKeysWithValues: counts.map { ($0.group.name, $0.items) })
    }

    @Test func aContainedProgramIsToldOfItsOwnGroupsAlone() throws {
        let machine = try EngineUnderTest()
        for (group, count) in [("group.a", 2), ("group.b", 1), ("foreign", 3)] {
            machine.entitlements.keychainAccessGroups = [group]
            for number in 0..<count {
                _ = try machine.call(
                    .add, [("class", .string("genp")), ("svce", .string("mail")), ("acct", .string("\(number)"))],
                    value: "v")
            }
        }
        machine.entitlements.keychainAccessGroups = ["group.a", "group.b"]
        let query: [(String, RawValue)] = [("class", .string("genp")), ("svce", .string("mail"))]
        #expect(
            try Self.counts(machine, query, telling: .everyGroup) == ["group.a": 2, "group.b": 1, "foreign": 3])
        #expect(try Self.counts(machine, query, telling: .ownGroups) == ["group.a": 2, "group.b": 1])
        // The query's own group is no limit, and no way around one.
        let named = query + [("agrp", .string("foreign"))]
        #expect(try Self.counts(machine, named, telling: .ownGroups) == ["group.a": 2, "group.b": 1])
        #expect(
            try Self.counts(machine, query + [("acct", .string("1"))], telling: .everyGroup) == [
                "group.a": 1, "foreign": 1,
            ])
    }

    @Test func whatIsNoQueryIsRefused() throws {
        let machine = try EngineUnderTest()
        for query in [[("svce", .string("mail"))], [("class", .string("genp")), ("srvr", .string("a"))]]
            as [[(String, RawValue)]]
        {
            #expect(throws: KeychainError.self) { try Self.counts(machine, query, telling: .everyGroup) }
        }
    }
}
