import FuzzTargets
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

    @Test(
        arguments: [
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

    /// What one search of the corpus asks for, without its values.
    private struct Shape: Hashable, CustomStringConvertible {
        let call: String
        let itemClass: ItemClass
        let attributes: [String]
        let hasReference: Bool
        let sync: SyncScope
        /// The unwrapped plan: whether every row of the table is looked at.
        let scans: Bool
        let sorts: Bool

        /// A search that an index is there for.
        var leadsToAnIndex: Bool {
            hasReference
                || attributes.contains { code in
                    let attribute = Schema.of(itemClass).attributes.first { "\($0.code)" == code }
                    return attribute?.traits.contains(.indexed) == true
                }
        }

        /// What it names of the primary key; group and sync flag are in every key.
        var keyAttributes: Set<String> {
            Set(Schema.of(itemClass).primaryKey.map { "\($0.code)" }).subtracting(["agrp", "sync", "tomb"])
                .intersection(attributes)
        }

        var description: String { "\(call) \(itemClass.rawValue) \(attributes.joined(separator: ","))" }
    }

    private func shape(_ call: ConformanceSeeds.Call, _ keychain: EngineUnderTest) throws -> Shape? {
        let kinds: [String: QueryParser.Role] = ["copy": .copy, "update": .updateQuery, "delete": .delete]
        guard let kind = kinds[call.name] else { return nil }
        let query: Query
        do throws(KeychainError) {
            query = try QueryParser.parse(call.query, for: kind, entitlements: keychain.entitlements)
        } catch {
            // The corpus has searches that are refused; they have no plan.
            return nil
        }
        guard ItemClass.stored.contains(query.itemClass) else { return nil }
        let groups = query.explicitGroup.map { [$0] } ?? [AccessGroup("group.a"), AccessGroup("group.b")]
        let blind = BlindIndex(SecretBytes(count: BlindingKey.byteCount))
        let selection = Selection(AuthorizedQuery(query, reach: .only(groups)), blind: blind, withSecrets: true)
        guard !selection.isImpossible else { return nil }
        let steps = try keychain.engine.store.read { reader throws(KeychainError) in try reader.plan(of: selection) }
        return Shape(
            call: call.name, itemClass: query.itemClass,
            attributes: query.attributes.entries.map { "\($0.code)" }.sorted(), hasReference: query.reference != nil,
            sync: query.synchronizable, scans: steps.contains { $0.hasPrefix("SCAN") },
            sorts: steps.contains { $0.contains("TEMP B-TREE") })
    }

    /// Parts of a primary key that real searches do not lead with: an index on each
    /// would make every add dearer (architecture section 4). A search by such a one
    /// alone looks at every row.
    private static let unindexed: Set<String> = [
        "path", "port", "ptcl", "atyp", "sdmn", "slnr", "ctyp", "kcls", "type", "bsiz", "esiz", "sdat", "edat",
    ]

    /// Every search of the corpus: none sorts, and none looks at every row that
    /// names what an index is there for.
    @Test func noSearchOfTheCorpusSortsOrScansPastAnIndex() throws {
        let keychain = try EngineUnderTest()
        let shapes = Set(try ConformanceSeeds.calls.compactMap { try shape($0, keychain) })
        #expect(shapes.count > 100, "\(shapes.count) shapes")
        for shape in shapes {
            #expect(!shape.sorts, "\(shape) sorts")
            #expect(!shape.scans || !shape.leadsToAnIndex, "\(shape) scans")
            #expect(!shape.scans || shape.keyAttributes.isSubset(of: Self.unindexed), "\(shape) scans")
        }
    }
}
