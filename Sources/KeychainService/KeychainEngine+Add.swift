internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore

extension KeychainEngine {
    /// SecItemAdd.
    func add(
        _ request: KeychainRequest, _ authorization: Authorization,
        _ shape: (AnswerShape) throws(KeychainError) -> Void, _ emit: (AnswerRow) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        let (query, draft) = try draft(for: request, authorization)
        let protectionClass = try protectionClass(of: draft)
        try brake.refuseIfOn()
        let key = try keys.forWriting(protectionClass, at: clock.wallClock)
        let stored = try maker.seal(draft, under: key, authorization.context)
        let terms = authorization.terms(query)
        let added = try change { [self] transaction, seen throws(KeychainError) in
            try insert(stored, draft, under: key, terms, transaction, seen)
        }
        try shape(AnswerShape(returns: query.returns, many: false))
        if !query.returns.isEmpty { try emit(answer(for: added, returns: query.returns)) }
    }

    /// The item as it is to be, from the caller's dictionary.
    func draft(
        for request: KeychainRequest, _ authorization: Authorization
    ) throws(KeychainError) -> (query: Query, draft: ItemDraft) {
        let query = try QueryParser.parse(request.query, for: .add, entitlements: authorization.entitlements)
        let group = try authorization.groupForAdd(query, raw: request)
        try query.checkKeys(for: .add)
        guard query.itemClass != .identity else { throw .parameter(.notAllowedHere(key: "kSecClassIdentity")) }
        try query.requireNoObject()
        return (query, try draft(query, group, request))
    }

    func protectionClass(of draft: ItemDraft) throws(KeychainError) -> ProtectionClass {
        guard let protectionClass = ProtectionClass(rawValue: draft.protection) else {
            throw .parameter(.malformed(key: "kSecAttrAccessible"))
        }
        return protectionClass
    }

    private func draft(
        _ query: Query, _ group: AccessGroup, _ request: KeychainRequest
    ) throws(KeychainError) -> ItemDraft {
        let access = try bound(query.accessControl, rawSynchronizable: request.query["sync"])
        if let token = query.attributes[.tokenID]?.string, !token.isEmpty {
            throw KeychainError(.itemNotFound, reason: .notImplemented(what: "a cryptographic token"))
        }
        let now = clock.wallClock
        var (attributes, extras) = Self.separated(query.attributes, query.schema)
        attributes[.uuid] = nil
        if attributes[.tombstone] == nil { attributes[.tombstone] = .integer(0) }
        attributes[.multiUser] = .data([])
        attributes[.accessGroup] = .string(group.name)
        attributes[.synchronizable] = .integer(query.synchronizable == .only(true) ? 1 : 0)
        attributes[.creationDate] = .date(now)
        attributes[.modificationDate] = .date(now)
        attributes[.accessible] = .string(Self.protection(query, group))
        for attribute in query.schema.attributes where attributes[attribute.code] == nil {
            if let value = attribute.defaultValue { attributes.append(attribute.code, value) }
        }
        let draft = ItemDraft(
            itemClass: query.itemClass,
            uuid: query.attributes[.uuid]?.string.flatMap(RowIdentifier.bytes) ?? Random.bytes(16),
            persistref: Random.bytes(16), attributes: attributes, accessControl: access, extras: extras,
            value: request.value, dataCode: request.value.map { blind.dataCode($0.bytes) } ?? [])
        try draft.checkSize()
        return draft
    }

    /// Attributes that are handed out only with the data lie in the secret.
    static func separated(_ all: AttributeMap, _ schema: Schema) -> (attributes: AttributeMap, extras: AttributeMap) {
        var attributes = AttributeMap()
        var extras = AttributeMap()
        // With what the keychain itself gives an item.
        attributes.reserve(max(all.count, schema.attributes.count))
        for (code, value) in all.entries {
            if schema.has(code, .secret) { extras[code] = value } else { attributes[code] = value }
        }
        return (attributes, extras)
    }

    /// The default protection (spec section 7).
    private static func protection(_ query: Query, _ group: AccessGroup) -> String {
        if let accessControl = query.accessControl { return accessControl.protection }
        if let given = query.attributes[.accessible]?.string { return given }
        let fallback: ProtectionClass =
            group == .apsd ? .alwaysThisDeviceOnly : query.itemClass == .certificate ? .always : .whenUnlocked
        return fallback.rawValue
    }

    /// Inserts, or finds out what is in the way: a damaged row is set aside, a
    /// tombstone replaced (its uuid and reference live on), anything else is a
    /// duplicate. Returns the item as it was stored.
    func insert(
        _ stored: RowToStore, _ draft: ItemDraft, under key: MetadataKey, _ terms: ConstraintTerms,
        _ transaction: StoreTransaction, _ seen: DamageSeen
    ) throws(KeychainError) -> ItemDraft {
        try takePlace(of: stored.primaryKey, in: draft.itemClass, transaction)
        try refuseBesideHidden(stored, draft.itemClass, transaction, seen)
        if try transaction.insertIfFree(stored, in: draft.itemClass) { return draft }
        if let present = try transaction.reader.row(withPrimaryKey: stored.primaryKey, in: draft.itemClass) {
            switch try opener.open(present, draft.itemClass, transaction.reader) {
            case .locked(let protectionClass): throw MetadataKeys.lockedError(protectionClass)
            case .effaced: try transaction.delete(present.rowid, in: draft.itemClass)
            case .damaged(let cause):
                try seen.setAside(present, in: draft.itemClass, cause: cause, transaction)
            case .item(let metadata):
                if present.isTombstone {
                    return try replaceTombstone(present, with: draft, under: key, terms, transaction)
                }
                // What is there is read before it is called a duplicate (spec section 7).
                try requireDecryption(of: Candidate(present, metadata), draft.itemClass, terms, transaction.reader)
                guard try secretIsDamaged(present, metadata, draft.itemClass) else {
                    throw KeychainError(.duplicateItem, reason: .duplicate)
                }
                try seen.setAside(present, in: draft.itemClass, cause: .secret, transaction)
            }
        }
        // Once more: what was in the way may be there now.
        try takePlace(of: stored.primaryKey, in: draft.itemClass, transaction)
        _ = try transaction.insert(stored, in: draft.itemClass)
        return draft
    }

    /// Beside a changed entry in the index of primary keys the same item would be stored a second time.
    ///
    /// - Throws: where one is there: see ``change(_:)``. Not where the index is too large to be made
    ///   anew beside other calls.
    func refuseBesideHidden(
        _ stored: RowToStore, _ itemClass: ItemClass, _ transaction: StoreTransaction, _ seen: DamageSeen
    ) throws(KeychainError) {
        guard seen.looksForHidden, let rowid = try transaction.reader.rowBesideItsIndex(like: stored, in: itemClass),
            try transaction.reader.mostRows() <= Self.mostRowsOfAnIndex
        else { return }
        try seen.refuse(besideHidden: rowid, in: itemClass)
    }

    /// A damaged row whose place an item takes is not brought back any more, also
    /// when that item is deleted.
    func takePlace(
        of primaryKey: [UInt8], in itemClass: ItemClass, _ transaction: StoreTransaction
    ) throws(KeychainError) {
        guard brake.hasMetDamage else { return }
        try transaction.supersedeDamaged(withPrimaryKey: primaryKey, in: itemClass)
    }

    private func replaceTombstone(
        _ present: SealedRow, with draft: ItemDraft, under key: MetadataKey, _ terms: ConstraintTerms,
        _ transaction: StoreTransaction
    ) throws(KeychainError) -> ItemDraft {
        var revived = draft
        revived.uuid = present.uuid
        revived.persistref = present.persistref
        try transaction.delete(present.rowid, in: draft.itemClass)
        _ = try transaction.insert(try maker.seal(revived, under: key, terms.context), in: draft.itemClass)
        return revived
    }

    private func secretIsDamaged(
        _ row: SealedRow, _ metadata: ItemMetadata, _ itemClass: ItemClass
    ) throws(KeychainError) -> Bool {
        if case .damaged = try openSecrets([Candidate(row, metadata)], itemClass)[0] { return true }
        return false
    }

    /// The dictionary of an add: what was stored, without the columns that only a
    /// copy shows (spec section 3.1).
    private func answer(for draft: ItemDraft, returns: ReturnTypes) -> AnswerRow {
        let schema = Schema.of(draft.itemClass)
        var attributes = AttributeMap()
        for (code, value) in draft.attributes.entries
        where schema.has(code, .returnedByAdd) { attributes.append(code, value) }
        if returns.contains(.data) { attributes.merge(draft.extras) }
        return AnswerRow(
            itemClass: draft.itemClass, attributes: attributes,
            accessControl: Self.shownAccessControl(draft.accessControl, draft.protection),
            persistentReference: PersistentReference(draft.itemClass, .identifier(draft.persistref)).bytes,
            value: Self.shownValue(draft.value, returns))
    }

    /// An item without data gives empty data where nothing else was asked for, and
    /// no entry in a dictionary (spec section 3.1).
    private static func shownValue(_ value: SharedSecret?, _ returns: ReturnTypes) -> SharedSecret? {
        guard returns.contains(.data) else { return nil }
        return value ?? (returns == .data ? SharedSecret(SecretBytes(count: 0)) : nil)
    }

    /// kSecAttrAccessControl is in every result with attributes, also for plain items.
    static func shownAccessControl(_ access: AccessControl?, _ protection: String) -> AccessControl? {
        access ?? ProtectionClass(rawValue: protection).map { AccessControl(unconstrained: $0) }
    }
}
