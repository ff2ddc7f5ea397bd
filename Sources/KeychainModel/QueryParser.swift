/// Turns a caller's dictionary into a ``Query``; the one place that knows the
/// keys (spec sections 1–3). The first error wins.
package struct QueryParser {
    /// Which call, and which of its dictionaries.
    package enum Role: Sendable {
        case add
        case copy
        case updateQuery
        case delete
    }

    /// Attributes of the class plus the other keys; above it errSecParam (spec section 1).
    static let mostKeys = 128

    private static func checkCount(_ dictionary: QueryDictionary, _ schema: Schema) throws(KeychainError) {
        // Where even all of them would do nobody has to be told apart.
        guard schema.attributes.count + dictionary.entries.count > mostKeys else { return }
        let others = dictionary.entries.count { entry in
            guard case .text(let key) = entry.key, let code = AttributeCode(key) else { return true }
            return schema[code] == nil
        }
        guard schema.attributes.count + others <= mostKeys else { throw .parameter(.tooManyKeys) }
    }

    private let role: Role
    private let entitlements: Entitlements
    private var query: Query
    private var schema: Schema
    private var bareAccess: ProtectionClass?
    private var authenticationContext = false
    private var credentialReference = false
    /// kSecUseNoAuthenticationUI, the older of the two keys.
    private var forbidsInteraction = false
    /// Ours ("u_LatchkeyGroup"): the group of an item that is named by its reference,
    /// beside which no attribute may stand.
    private var groupOfReference: AccessGroup?

    package static func parse(
        _ dictionary: QueryDictionary, for role: Role, entitlements: Entitlements
    ) throws(KeychainError) -> Query {
        var parser = try QueryParser(role, dictionary, entitlements)
        try checkCount(dictionary, parser.schema)
        for entry in dictionary.entries { try parser.take(entry) }
        try parser.checkWhole()
        return parser.query
    }

    /// The attributes of SecItemUpdate: attributes and kSecValueData only, every
    /// other key is errSecNoSuchAttr (spec section 2).
    package static func parseChanges(
        _ dictionary: QueryDictionary, of itemClass: ItemClass, entitlements: Entitlements
    ) throws(KeychainError) -> ItemChanges {
        try checkCount(dictionary, Schema.of(itemClass))
        var empty = Query(target: .itemClass(itemClass))
        empty.limit = .all
        var parser = QueryParser(role: .add, entitlements: entitlements, query: empty, schema: Schema.of(itemClass))
        for entry in dictionary.entries {
            let key = try Self.text(entry.key)
            if key == "v_Data" {
                try parser.takeValueData(entry.value)
            } else if key.utf16.count == 4 {
                try parser.takeAttribute(key, entry.value)
            } else {
                throw KeychainError(.noSuchAttribute, reason: .unknownAttribute(key: key))
            }
        }
        try parser.checkAccess()
        return ItemChanges(parser.query)
    }

    private init(role: Role, entitlements: Entitlements, query: Query, schema: Schema) {
        self.role = role
        self.entitlements = entitlements
        self.query = query
        self.schema = schema
    }

    private init(_ role: Role, _ dictionary: QueryDictionary, _ entitlements: Entitlements) throws(KeychainError) {
        let target = try Self.target(of: dictionary, role)
        self.init(
            role: role, entitlements: entitlements, query: Query(target: target), schema: Schema.of(target.itemClass))
        if role == .delete || role == .updateQuery { query.limit = .all }
    }

    // MARK: Class and reference

    private static func target(of dictionary: QueryDictionary, _ role: Role) throws(KeychainError) -> Query.Target {
        let reference = try persistentReference(dictionary["v_PersistentRef"])
        let named = try itemClass(dictionary["class"])
        switch (reference, named) {
        case (nil, nil): throw .parameter(.classMissing)
        case (nil, let itemClass?): return .itemClass(itemClass)
        case (let reference?, let itemClass):
            // A reference on add is refused in the old form and replaced in the
            // new one (spec section 3), which leaves the class to decide.
            if role == .add {
                guard case .identifier = reference.target, let itemClass else {
                    throw .parameter(.notAllowedHere(key: "kSecValuePersistentRef"))
                }
                return .itemClass(itemClass)
            }
            guard itemClass == nil || itemClass == reference.itemClass else {
                throw KeychainError(.noSuchClass, reason: .classDisagrees)
            }
            return .reference(reference)
        }
    }

    private static func itemClass(_ value: RawValue?) throws(KeychainError) -> ItemClass? {
        guard let value else { return nil }
        guard case .string(let text) = value else { throw .parameter(.malformed(key: "kSecClass")) }
        guard let itemClass = ItemClass(rawValue: text) else {
            throw KeychainError(.noSuchClass, reason: .classUnknown)
        }
        return itemClass
    }

    private static func persistentReference(_ value: RawValue?) throws(KeychainError) -> PersistentReference? {
        guard let value else { return nil }
        guard case .data(let bytes) = value, let reference = PersistentReference(bytes: bytes) else {
            throw .parameter(.malformed(key: "kSecValuePersistentRef"))
        }
        return reference
    }

    private static func text(_ key: QueryDictionary.Key) throws(KeychainError) -> String {
        guard case .text(let text) = key, text.utf16.count > 1 else { throw .parameter(.malformed(key: "a key")) }
        return text
    }

    // MARK: Keys

    /// Keys are told apart by the shape of their text: four characters are an
    /// attribute, otherwise the first character decides (spec section 1).
    private mutating func take(_ entry: QueryDictionary.Entry) throws(KeychainError) {
        let key = try Self.text(entry.key)
        if key.utf16.count == 4 { return try takeAttribute(key, entry.value) }
        switch key.utf8.first {
        case UInt8(ascii: "c") where key == "class": return
        case UInt8(ascii: "m"): try takeMatch(key, entry.value)
        case UInt8(ascii: "r"): try takeReturn(key, entry.value)
        case UInt8(ascii: "u"): try takeUse(key, entry.value)
        case UInt8(ascii: "v"): try takeValue(key, entry.value)
        case UInt8(ascii: "f"): return
        default: throw .parameter(.malformed(key: "a key"))
        }
    }

    private mutating func takeAttribute(_ key: String, _ value: RawValue) throws(KeychainError) {
        guard let code = AttributeCode(key), let attribute = schema[code] else {
            let known = AttributeCode(key).flatMap(Schema.anywhere)
            throw KeychainError(
                .noSuchAttribute,
                reason: known.map { .attributeNotOfClass(key: "kSecAttr\($0.name)") } ?? .unknownAttribute(key: key))
        }
        if attribute.kind == .ignored { return }
        // Looking for what nobody else could have stored gives nothing away (Apple's server asks
        // for these, too, of add and of what an update changes), but for shared groups.
        if role == .add || code == .sharingGroup, let entitlement = attribute.entitlement, !entitlements.grants(entitlement) {
            throw KeychainError(.missingEntitlement, reason: .entitlementMissing(name: entitlement))
        }
        if attribute.traits.contains(.forbidden) {
            throw .parameter(.notAllowedHere(key: "kSecAttr\(attribute.name)"))
        }
        if attribute.kind == .accessControl { return try takeAccessControl(value) }
        if code == .synchronizable, value == .string("syna") {
            query.synchronizable = .any
            return
        }
        guard let coerced = Coercion.coerce(value, to: attribute.kind), code != .issuer || Self.isData(value) else {
            throw .parameter(.malformed(key: "kSecAttr\(attribute.name)"))
        }
        try store(attribute, coerced)
    }

    private static func isData(_ value: RawValue) -> Bool { if case .data = value { true } else { false } }

    private mutating func store(_ attribute: SchemaAttribute, _ value: AttributeValue) throws(KeychainError) {
        switch attribute.code {
        case .synchronizable: query.synchronizable = try synchronizable(value)
        case .accessGroup: query.explicitGroup = AccessGroup(value.string ?? "")
        case .accessible:
            bareAccess = value.string.flatMap(ProtectionClass.init)
            query.attributes[.accessible] = value
        case .tombstone: query.attributes[.tombstone] = .integer((value.integer ?? 0) == 0 ? 0 : 1)
        default: query.attributes[attribute.code] = value
        }
    }

    private func synchronizable(_ value: AttributeValue) throws(KeychainError) -> SyncScope {
        switch value {
        case .integer(0): return .only(false)
        case .integer(1): return .only(true)
        default:
            // What nothing could find again is not stored.
            guard role != .add else { throw .parameter(.malformed(key: "kSecAttrSynchronizable")) }
            return .noSuch
        }
    }

    private mutating func takeAccessControl(_ value: RawValue) throws(KeychainError) {
        guard case .accessControl(let accessControl) = value else {
            throw .parameter(.malformed(key: "kSecAttrAccessControl"))
        }
        query.accessControl = accessControl
    }

    private mutating func takeMatch(_ key: String, _ value: RawValue) throws(KeychainError) {
        if key == "m_Limit" {
            query.hasMatchLimit = true
            query.limit = try limit(value)
            return
        }
        query.otherMatchKey = key
        // Other calls refuse any match key; only copy looks at what they say.
        if role == .copy { try takeFilter(key, value) }
    }

    private func limit(_ value: RawValue) throws(KeychainError) -> MatchLimit {
        switch value {
        case .string("m_LimitOne"): return .one
        case .string("m_LimitAll"): return .all
        // A delete takes the two constants and no number (`Query.checkKeys`).
        case .integer(1) where role != .delete: return .one
        // kSecMatchUnlimited of the sources.
        case .integer(-1) where role != .delete: return .all
        case .integer(let number) where number >= 0: return .count(Int(clamping: number))
        default: throw .parameter(.malformed(key: "kSecMatchLimit"))
        }
    }

    /// What would leave out certificates, and cannot yet, is refused: whoever asks for those that
    /// are trusted gets no others.
    private mutating func takeFilter(_ key: String, _ value: RawValue) throws(KeychainError) {
        let isCertificate = query.itemClass == .certificate || query.itemClass == .identity
        switch key {
        case "m_HostOrSubdomainOfHost":
            guard query.itemClass == .internetPassword else { return refuse(.match(key: key)) }
            guard case .string(let host) = value else { throw .parameter(.malformed(key: key)) }
            query.hostOrSubdomain = host
        case "m_Issuers":
            guard case .array(let names) = value else { throw .parameter(.malformed(key: key)) }
            // A list without a name is no filter (spec section 3), and so nothing that a class
            // could lack. A Name is a SEQUENCE (RFC 5280, section 4.1.2.4).
            let narrows = names.contains { if case .data(let bytes) = $0 { bytes.first == 0x30 } else { false } }
            if narrows { refuse(.match(key: key)) }
        case "m_Policy":
            guard isCertificate else { return refuse(.match(key: key)) }
            throw .parameter(.malformed(key: key))
        case "m_EmailAddressIfPresent":
            guard case .string = value else { throw .parameter(.malformed(key: key)) }
            if isCertificate { refuse(.match(key: key)) }
        case "m_ValidOnDate":
            switch value {
            case .date, .null: if isCertificate { refuse(.match(key: key)) }
            default: throw .parameter(.malformed(key: key))
            }
        case "m_TrustedOnly":
            guard case .bool(let wanted) = value else { throw .parameter(.malformed(key: key)) }
            if wanted, isCertificate { refuse(.match(key: key)) }
        default: return
        }
    }

    private mutating func refuse(_ why: Query.Refusal) { if query.refusal == nil { query.refusal = why } }

    private mutating func takeReturn(_ key: String, _ value: RawValue) throws(KeychainError) {
        guard let type = Self.returnType(key), case .bool(let wanted) = value else {
            throw .parameter(.malformed(key: key))
        }
        if wanted { query.returns.insert(type) } else { query.returns.remove(type) }
    }

    private static func returnType(_ key: String) -> ReturnTypes? {
        switch key {
        case "r_Data": .data
        case "r_Attributes": .attributes
        case "r_Ref": .reference
        case "r_PersistentRef": .persistentReference
        default: nil
        }
    }

    private mutating func takeValue(_ key: String, _ value: RawValue) throws(KeychainError) {
        switch key {
        case "v_Data": try takeValueData(value)
        case "v_PersistentRef": return
        default: throw .parameter(.malformed(key: key))
        }
    }

    private mutating func takeValueData(_ value: RawValue) throws(KeychainError) {
        guard case .secret = value else { throw .parameter(.malformed(key: "kSecValueData")) }
        query.hasValueData = true
    }

    private mutating func takeUse(_ key: String, _ value: RawValue) throws(KeychainError) {
        switch key {
        case "u_OpPrompt", "u_CallerName":
            guard case .string(let text) = value else { throw .parameter(.malformed(key: key)) }
            if key == "u_OpPrompt" { query.operationPrompt = text }
        case "u_NoAuthUI":
            forbidsInteraction = try Self.flag(key, value)
        case "u_AuthUI": query.interaction = try Self.interaction(value)
        case "u_AuthCtx":
            guard value == .authenticationContext else {
                throw .parameter(.malformed(key: "kSecUseAuthenticationContext"))
            }
            authenticationContext = true
        case "u_CredRef": credentialReference = true
        case "u_LatchkeyGroup" where role == .copy:
            guard case .string(let name) = value else { throw .parameter(.malformed(key: key)) }
            groupOfReference = AccessGroup(name)
        case "u_LatchkeyClosed" where role == .copy: query.tellsClosed = try Self.flag(key, value)
        case "u_ItemList": query.hasItemList = true
        case "u_Tomb":
            // A number will do, as si-12 has it.
            if case .integer(let number) = value {
                query.tombstones = number != 0
            } else {
                query.tombstones = try Self.flag(key, value)
            }
        case "u_SystemKeychain", "u_SystemKeychainAlways", "u_SyncBubbleKeychain":
            if try Self.flag(key, value) {
                throw KeychainError(
                    .missingEntitlement, reason: .entitlementMissing(name: "com.apple.private.system-keychain"))
            }
        case "u_TokenRawItems", "u_UserIndependentKeychain", "u_CertWithIssuers":
            _ = try Self.flag(key, value)
        default: throw .parameter(.malformed(key: key))
        }
    }

    private static func flag(_ key: String, _ value: RawValue) throws(KeychainError) -> Bool {
        guard case .bool(let on) = value else { throw .parameter(.malformed(key: key)) }
        return on
    }

    private static func interaction(_ value: RawValue) throws(KeychainError) -> Interaction {
        switch value {
        case .string("u_AuthUIA"): return .allowed
        case .string("u_AuthUIF"): return .failed
        case .string("u_AuthUIS"): return .skipped
        default: throw .parameter(.malformed(key: "kSecUseAuthenticationUI"))
        }
    }

    // MARK: The whole

    private mutating func checkWhole() throws(KeychainError) {
        if authenticationContext && credentialReference {
            throw .parameter(.notAllowedHere(key: "kSecUseCredentialReference"))
        }
        if role == .copy, query.reference != nil, hasAnyAttribute {
            refuse(.reference)
        }
        if query.tellsClosed, query.returns.contains(.data) {
            throw .parameter(.notAllowedHere(key: "u_LatchkeyClosed"))
        }
        if let groupOfReference { query.explicitGroup = groupOfReference }
        // A dictionary has no order: where both keys are there, nobody is asked.
        if forbidsInteraction, query.interaction == .allowed { query.interaction = .failed }
        try checkAccess()
    }

    /// kSecAttrSynchronizableAny narrows nothing and does not count (spec section 6).
    private var hasAnyAttribute: Bool {
        switch query.synchronizable {
        case .only, .noSuch: return true
        case .any, .unspecified: break
        }
        return !query.attributes.isEmpty || query.explicitGroup != nil || query.accessControl != nil
    }

    /// Both kinds of access are allowed only where they say the same; "f" can be
    /// asked for and not stored.
    private mutating func checkAccess() throws(KeychainError) {
        if let accessControl = query.accessControl, let bareAccess,
            accessControl != AccessControl(unconstrained: bareAccess)
        {
            throw .parameter(.notAllowedHere(key: "kSecAttrAccessible"))
        }
        guard role == .add else { return }
        if let accessControl = query.accessControl {
            guard ProtectionClass(rawValue: accessControl.protection) != nil else {
                throw .parameter(.malformed(key: "kSecAttrAccessControl"))
            }
        } else if let value = query.attributes[.accessible], ProtectionClass(rawValue: value.string ?? "") == nil {
            throw .parameter(.malformed(key: "kSecAttrAccessible"))
        }
    }
}

/// What SecItemUpdate is to change.
package struct ItemChanges: Sendable {
    package let attributes: AttributeMap
    package var accessControl: AccessControl?
    package let synchronizable: Bool?
    package let group: AccessGroup?
    package let hasValueData: Bool

    init(_ query: Query) {
        attributes = query.attributes
        accessControl = query.accessControl
        group = query.explicitGroup
        hasValueData = query.hasValueData
        if case .only(let on) = query.synchronizable { synchronizable = on } else { synchronizable = nil }
    }
}
