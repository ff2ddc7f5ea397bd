internal import KeychainModel
internal import KeychainProtocol

extension FuzzTarget {
    /// A caller's dictionary, parsed for one of the four calls.
    static let query = FuzzTarget("query", seeds: { QuerySeeds.all + ConformanceSeeds.queries }) {
        bytes throws(Finding) in
        var source = ByteSource(bytes)
        let role = source.choice(of: [QueryParser.Role.add, .copy, .updateQuery, .delete])
        let entitlements = source.entitlements()
        try ParsedQuery(source.dictionary(), role, entitlements).check()
    }

    /// The second dictionary of SecItemUpdate.
    static let changes = FuzzTarget("changes", seeds: { ConformanceSeeds.changes }) { bytes throws(Finding) in
        var source = ByteSource(bytes)
        let itemClass = source.choice(of: ItemClass.allCases)
        let entitlements = source.entitlements()
        let dictionary = source.dictionary()
        let changes: ItemChanges
        do throws(KeychainError) {
            changes = try QueryParser.parseChanges(dictionary, of: itemClass, entitlements: entitlements)
        } catch {
            return try claim(ParsedQuery.refusals.contains(error.status), "refused with \(error.status)")
        }
        try ParsedQuery.checkAttributes(changes.attributes, Schema.of(itemClass), entitlements)
        let says = dictionary.entries.contains { $0.value == .secret }
        try claim(!changes.hasValueData || says, "a value out of nothing")
    }
}

/// One parsing, and what must hold of it.
private struct ParsedQuery {
    let dictionary: QueryDictionary
    let role: QueryParser.Role
    let entitlements: Entitlements
    let outcome: Result<Query, KeychainError>

    /// What a dictionary can be refused with.
    static let refusals: Set<Status> = [.param, .noSuchClass, .noSuchAttribute, .missingEntitlement, .unimplemented]

    init(_ dictionary: QueryDictionary, _ role: QueryParser.Role, _ entitlements: Entitlements) {
        self.dictionary = dictionary
        self.role = role
        self.entitlements = entitlements
        outcome = Result { () throws(KeychainError) in
            try QueryParser.parse(dictionary, for: role, entitlements: entitlements)
        }
    }

    func check() throws(Finding) {
        if hasEachKeyOnce { try checkOrder() }
        switch outcome {
        case .failure(let error): try claim(Self.refusals.contains(error.status), "refused with \(error.status)")
        case .success(let query):
            try Self.checkAttributes(query.attributes, query.schema, role == .add ? entitlements : nil)
            try checkReach(query)
            try checkPrinted(query)
        }
    }

    private var hasEachKeyOnce: Bool {
        Set(dictionary.entries.map(\.key)).count == dictionary.entries.count
    }

    /// A caller's dictionary has no order: none may decide.
    private func checkOrder() throws(Finding) {
        var turned = dictionary
        turned.entries.reverse()
        let other = ParsedQuery(turned, role, entitlements)
        switch (outcome, other.outcome) {
        case (.success(let query), .success(let mirrored)):
            try Self.checkSame(query, mirrored, "turned round")
            try claim(
                (query.refusal == nil) == (mirrored.refusal == nil),
                "the order of the keys decides whether \(role) is refused once its groups are permitted")
        case (.failure, .failure): return
        default: throw Finding("the order of the keys decides whether \(role) is refused")
        }
    }

    /// Nothing is asked that the dictionary does not say.
    private func checkReach(_ query: Query) throws(Finding) {
        let names = Set(dictionary.entries.compactMap { if case .text(let name) = $0.key { name } else { nil } })
        try claim(query.explicitGroup == nil || names.contains("agrp"), "a group out of nothing")
        try claim(query.hasMatchLimit || query.limit == (role == .add || role == .copy ? .one : .all), "a limit")
        try claim(!query.hasValueData || dictionary["v_Data"] == .secret, "a value out of nothing")
        try claim(query.returns.isEmpty || names.contains { $0.hasPrefix("r_") }, "a result that nobody asked for")
        if query.reference != nil { try claim(names.contains("v_PersistentRef"), "a reference out of nothing") }
    }

    /// parse ∘ print is the identity on what was parsed.
    private func checkPrinted(_ query: Query) throws(Finding) {
        let printed = ParsedQuery(query.printed, role, entitlements)
        switch printed.outcome {
        case .failure(let error): throw Finding("what was parsed is refused when it is printed: \(error)")
        case .success(let again): try Self.checkSame(query, again, "printed")
        }
    }

    /// - Parameter entitlements: of whoever stores; nil: nothing is stored.
    static func checkAttributes(
        _ attributes: AttributeMap, _ schema: Schema, _ entitlements: Entitlements?
    ) throws(Finding) {
        for (code, value) in attributes.entries {
            let attribute = try claimed(schema[code], "\(code) is no attribute of the class")
            try claim(!attribute.traits.contains(.forbidden), "\(code) is forbidden")
            let isGranted = attribute.entitlement.map { entitlements?.grants($0) ?? true } ?? true
            try claim(isGranted, "\(code) without its entitlement")
            let again = Coercion.coerce(value.raw, to: attribute.kind)
            try claim(again.map { Sameness.of($0, value) } ?? false, "\(code): coercing twice is not coercing once")
        }
    }

    private static func checkSame(_ a: Query, _ b: Query, _ how: String) throws(Finding) {
        try claim(Sameness.ofContent(a.attributes, b.attributes), "\(how): other attributes")
        try claim(a.target == b.target, "\(how): another class or reference")
        try claim(a.synchronizable == b.synchronizable, "\(how): another scope of synchronization")
        try claim(a.explicitGroup == b.explicitGroup, "\(how): another group")
        try claim(a.accessControl == b.accessControl, "\(how): another access control")
        try claim(a.returns == b.returns && a.limit == b.limit, "\(how): another result")
        try claim(a.hasValueData == b.hasValueData, "\(how): a value more or less")
        try claim(a.interaction == b.interaction && a.tombstones == b.tombstones, "\(how): other uses")
        try claim(a.hostOrSubdomain == b.hostOrSubdomain, "\(how): another filter")
    }
}

extension AttributeValue {
    fileprivate var raw: RawValue {
        switch self {
        case .string(let text): .string(text)
        case .data(let bytes): .data(bytes)
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .date(let moment): .date(moment)
        }
    }
}

extension Query {
    /// The dictionary that says the same.
    fileprivate var printed: QueryDictionary {
        var pairs: [(String, RawValue)] = []
        switch target {
        case .itemClass(let itemClass): pairs.append(("class", .string(itemClass.rawValue)))
        case .reference(let reference): pairs.append(("v_PersistentRef", .data(reference.bytes)))
        }
        for (code, value) in attributes.entries { pairs.append(("\(code)", value.raw)) }
        switch synchronizable {
        case .unspecified: break
        case .any: pairs.append(("sync", .string("syna")))
        case .only(let on): pairs.append(("sync", .bool(on)))
        case .noSuch: pairs.append(("sync", .string("neither")))
        }
        if let explicitGroup { pairs.append(("agrp", .string(explicitGroup.name))) }
        if let accessControl { pairs.append(("accc", .accessControl(accessControl))) }
        if hasValueData { pairs.append(("v_Data", .secret)) }
        return QueryDictionary(pairs + printedResult + printedMatches + printedUses)
    }

    private var printedResult: [(String, RawValue)] {
        let names: [(String, ReturnTypes)] = [
            ("r_Data", .data), ("r_Attributes", .attributes), ("r_Ref", .reference),
            ("r_PersistentRef", .persistentReference),
        ]
        var pairs = names.filter { returns.contains($0.1) }.map { ($0.0, RawValue.bool(true)) }
        switch limit {
        case _ where !hasMatchLimit: break
        case .one: pairs.append(("m_Limit", .string("m_LimitOne")))
        case .all: pairs.append(("m_Limit", .string("m_LimitAll")))
        case .count(let number): pairs.append(("m_Limit", .integer(Int64(number))))
        }
        return pairs
    }

    private var printedMatches: [(String, RawValue)] {
        var pairs: [(String, RawValue)] = []
        if let host = hostOrSubdomain { pairs.append(("m_HostOrSubdomainOfHost", .string(host))) }
        return pairs
    }

    private var printedUses: [(String, RawValue)] {
        var pairs: [(String, RawValue)] = []
        if let tombstones { pairs.append(("u_Tomb", .bool(tombstones))) }
        switch interaction {
        case .allowed: break
        case .failed: pairs.append(("u_AuthUI", .string("u_AuthUIF")))
        case .skipped: pairs.append(("u_AuthUI", .string("u_AuthUIS")))
        }
        return pairs
    }
}

/// Dictionaries as programs pass them, for each of the calls.
private enum QuerySeeds {
    static let all: [[UInt8]] = (0..<4).flatMap { role in dictionaries.map { seed(UInt8(role), $0) } }

    private static let password: [(String, RawValue)] = [
        ("class", .string("genp")), ("svce", .string("service")), ("acct", .string("account")),
    ]

    private static let dictionaries: [[(String, RawValue)]] = [
        password, password + [("v_Data", .secret), ("pdmn", .string("aku")), ("sync", .bool(true))],
        password + [("u_NoAuthUI", .bool(true)), ("u_AuthUI", .string("u_AuthUIA"))],
        password + [("u_NoAuthUI", .bool(true)), ("u_AuthUI", .string("u_AuthUIS"))],
        password + [("r_Data", .bool(true)), ("r_Attributes", .bool(true)), ("m_Limit", .integer(3))],
        [
            ("class", .string("inet")), ("m_HostOrSubdomainOfHost", .string("example.com")),
            ("agrp", .string("group.b")),
        ],
        [("v_PersistentRef", .data(PersistentReference(.key, .row(3)).bytes)), ("r_Data", .bool(true))],
        [
            ("class", .string("keys")), ("sdat", .date(1)), ("bsiz", .string("12")), ("perm", .real(0.5)),
            ("sync", .string("syna")),
        ],
        [("class", .string("cert")), ("m_Issuers", .array([.data([1])])), ("m_ValidOnDate", .null)],
        [("class", .string("genp")), ("accc", .accessControl(AccessControl(unconstrained: .whenUnlocked)))],
    ]

    private static func seed(_ role: UInt8, _ pairs: [(String, RawValue)]) -> [UInt8] {
        var sink = ByteSink()
        sink.byte(role)
        sink.byte(0)
        sink.dictionary(QueryDictionary(pairs))
        return sink.bytes
    }
}
