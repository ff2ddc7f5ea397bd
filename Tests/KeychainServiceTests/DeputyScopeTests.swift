import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import Testing

/// What a call in a person's name reaches once that was granted, and that it reaches
/// nothing before.
@Suite struct DeputyScopeTests {
    private let machine: EngineUnderTest

    init() throws {
        machine = try EngineUnderTest()
        for group in ["other", "group.b", "group.a"] {
            machine.entitlements.keychainAccessGroups = [group]
            try machine.add("alice", "of \(group)")
        }
    }

    private func perform(
        _ operation: KeychainRequest.Operation, _ more: [(String, RawValue)] = [],
        changes: [(String, RawValue)] = [], value: String? = nil, granted: Bool = true
    ) throws(KeychainError) -> [String] {
        let own = value == nil ? [] : [("v_Data", RawValue.secret)]
        var request = KeychainRequest(
            operation, query: QueryDictionary(machine.item("alice") + more + own), changes: QueryDictionary(changes),
            value: value.map { SharedSecret(SecretBytes(copying: Array($0.utf8))) })
        request.behalf = .person
        let rights = Authorization(machine.entitlements)
        let answer = try machine.engine.answer(request, for: granted ? rights.asDeputy : rights)
        return answer.rows.compactMap { $0.attributes[.accessGroup]?.string }.sorted()
    }

    private static let everything: [(String, RawValue)] = [
        ("r_Attributes", .bool(true)), ("m_Limit", .string("m_LimitAll")),
    ]

    private func values() throws -> [String: String] {
        var values: [String: String] = [:]
        for group in ["group.a", "group.b", "other"] {
            machine.entitlements.keychainAccessGroups = [group]
            values[group] = try machine.value("alice")
        }
        machine.entitlements.keychainAccessGroups = ["group.a"]
        return values
    }

    @Test func withoutTheGrantEveryCallIsRefused() throws {
        for operation in [KeychainRequest.Operation.copy, .add, .update, .delete] {
            for more: [(String, RawValue)] in [[], [("agrp", .string("group.a"))]] {
                #expect(throws: Authorization.noDeputy, "\(operation)") { try perform(operation, more, granted: false) }
            }
        }
        #expect(try values().count == 3)
    }

    @Test func aSearchReachesEveryGroupAndANamedOneAlone() throws {
        #expect(try perform(.copy, Self.everything) == ["group.a", "group.b", "other"])
        #expect(try perform(.copy, Self.everything + [("agrp", .string("other"))]) == ["other"])
        #expect(throws: KeychainError.self) { try perform(.copy, Self.everything + [("agrp", .string("nobody"))]) }
    }

    /// Nobody means an item in all groups: what is changed is named with its group.
    @Test func whatIsChangedWithoutAGroupIsTheProgramsOwn() throws {
        let changed: [(String, RawValue)] = [("labl", .string("changed"))]
        _ = try perform(.update, changes: changed)
        #expect(try perform(.copy, Self.everything + [("labl", .string("changed"))]) == ["group.a"])
        _ = try perform(.delete)
        #expect(try values() == ["group.b": "of group.b", "other": "of other"])
        _ = try perform(.add, value: "new")
        #expect(try values() == ["group.a": "new", "group.b": "of group.b", "other": "of other"])
    }

    @Test func aNamedGroupIsChangedAndNoOther() throws {
        let other: [(String, RawValue)] = [("agrp", .string("other"))]
        _ = try perform(.update, other, changes: [("labl", .string("changed"))])
        #expect(try perform(.copy, Self.everything + [("labl", .string("changed"))]) == ["other"])
        _ = try perform(.delete, other)
        #expect(try values() == ["group.a": "of group.a", "group.b": "of group.b"])
        _ = try perform(.add, other, value: "again")
        #expect(try values()["other"] == "again")
    }

    @Test func theTokenGroupStaysReadOnly() throws {
        let token: [(String, RawValue)] = [("agrp", .string("com.apple.token"))]
        for operation in [KeychainRequest.Operation.add, .update, .delete] {
            let error = #expect(throws: KeychainError.self) { try perform(operation, token) }
            #expect(error?.status == .missingEntitlement, "\(operation)")
        }
        let error = #expect(throws: KeychainError.self) { try perform(.copy, token) }
        #expect(error?.status == .itemNotFound)
    }

    @Test func whoMayNotUseTheKeychainIsNobodysDeputy() throws {
        machine.entitlements.flags.insert("keychain-deny")
        let error = #expect(throws: KeychainError.self) { try perform(.copy, Self.everything) }
        #expect(error?.reason == .keychainDenied)
    }
}
