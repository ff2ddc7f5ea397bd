import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainService
import KeychainStore
import Testing

/// What SQLite makes of our queries: an index where real queries lead with one,
/// and never a sort.
@Suite struct PlanTests {
    private func plan(_ pairs: [(String, RawValue)], _ keychain: EngineUnderTest) throws -> [String] {
        let query = try QueryParser.parse(QueryDictionary(pairs), for: .copy, entitlements: keychain.entitlements)
        let authorized = AuthorizedQuery(query, reach: .only([AccessGroup("group.a"), AccessGroup("group.b")]))
        let blind = BlindIndex(SecretBytes(count: BlindingKey.byteCount))
        let selection = Selection(authorized, blind: blind, withSecrets: true)
        return try keychain.engine.store.read { reader throws(KeychainError) in try reader.plan(of: selection) }
    }

    @Test(arguments: [
        ([("class", .string("genp")), ("svce", .string("s")), ("acct", .string("a"))], "genp_pair"),
        ([("class", .string("genp")), ("svce", .string("s"))], "genp_svce"),
        ([("class", .string("genp")), ("acct", .string("a"))], "genp_acct"),
        ([("class", .string("genp")), ("labl", .string("l"))], "genp_labl"),
        ([("class", .string("inet")), ("srvr", .string("s")), ("acct", .string("a"))], "inet_pair"),
        ([("class", .string("inet")), ("srvr", .string("s"))], "inet_srvr"),
        ([("class", .string("cert")), ("subj", .data([1]))], "cert_subj"),
        ([("class", .string("cert")), ("pkhh", .data([1]))], "cert_pkhh"),
        ([("class", .string("keys")), ("klbl", .data([1]))], "keys_klbl"),
        ([("class", .string("keys")), ("atag", .string("t"))], "keys_atag"),
        ([("v_PersistentRef", .data(Array("genp".utf8) + [UInt8](repeating: 0, count: 16)))], "genp_persistref"),
    ] as [([(String, RawValue)], String)])
    func leadingAttributeUsesItsIndexAndNothingSorts(_ pairs: [(String, RawValue)], _ index: String) throws {
        let steps = try plan(pairs, try EngineUnderTest())
        #expect(steps.contains { $0.contains(index) }, "\(steps)")
        #expect(!steps.contains { $0.contains("TEMP B-TREE") }, "\(steps)")
    }

    @Test func queryByClassAloneWalksTheTableInOrder() throws {
        for name in ["genp", "inet", "cert", "keys"] {
            let steps = try plan([("class", .string(name))], try EngineUnderTest())
            #expect(!steps.contains { $0.contains("TEMP B-TREE") }, "\(steps)")
        }
    }
}
