internal import Enclave
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore

/// An item on its way into the store: everything a row is made from.
struct ItemDraft: Sendable {
    var itemClass: ItemClass
    var uuid: [UInt8]
    var persistref: [UInt8]
    var attributes: AttributeMap
    var accessControl: AccessControl?
    var extras: AttributeMap
    var value: SharedSecret?
    var dataCode: [UInt8]

    var protection: String { attributes[.accessible]?.string ?? "" }
    var isSynchronizable: Bool { (attributes[.synchronizable]?.integer ?? 0) != 0 }
    var isTombstone: Bool { (attributes[.tombstone]?.integer ?? 0) != 0 }
    /// A constrained item has one also without a value: the constraint is bound to it.
    var hasSecret: Bool { value != nil || !extras.isEmpty || ShownItem.isBound(to: accessControl) }

    var accessControlEncoding: [UInt8] { accessControl?.encoded ?? [] }

    func checkSize() throws(KeychainError) {
        try ItemLimit.check(valueByteCount: value?.bytes.count ?? 0, attributes, extras)
    }
}

/// Seals drafts into rows: digest, row key, both seals, blind values.
struct RowMaker: Sendable {
    let enclave: EnclavePool
    let sealer: RowSealer
    let blind: BlindIndex

    /// A row with fresh seals; a row key is made where there is something secret.
    ///
    /// - Throws: -25308 where the class is locked, -25293 where it needs a
    ///   passcode that does not exist.
    ///
    /// - Parameter context: whose application password goes into the row key's wrap.
    func seal(
        _ draft: ItemDraft, under key: MetadataKey, _ context: CallContext? = nil
    ) throws(KeychainError) -> RowToStore {
        guard draft.hasSecret else { return try seal(draft, under: key, with: nil) }
        let bindings = [try binding(draft)]
        let outcomes = try enclave.use { enclave throws(KeychainError) in
            try enclave.makeRowKeys(for: bindings, in: context?.session)
        }
        return try seal(draft, under: key, with: outcomes.first)
    }

    /// With the row key that the enclave made, where there is something secret.
    func seal(
        _ draft: ItemDraft, under key: MetadataKey, with outcome: KeyOutcome?
    ) throws(KeychainError) -> RowToStore {
        var row = emptyRow(draft, key.generation)
        let metadata = metadata(draft, sealID: Random.bytes(16))
        if draft.hasSecret { try sealSecret(of: &row, draft, metadata, outcome) }
        row.metadata = sealer.seal(metadata: metadata, of: row, draft.itemClass, under: key.key)
        return store(row, metadata.attributes, draft.itemClass)
    }

    /// The row with new metadata and the secret's seal left as it is; only for a
    /// change that the secret is not bound to, and under a key of the row's own
    /// generation.
    func resealMetadata(
        of old: SealedRow, sealID: [UInt8], _ draft: ItemDraft, under key: MetadataKey
    ) -> RowToStore {
        var row = old
        let metadata = metadata(draft, sealID: sealID)
        row.metadata = sealer.seal(metadata: metadata, of: row, draft.itemClass, under: key.key)
        return store(row, metadata.attributes, draft.itemClass)
    }

    private func emptyRow(_ draft: ItemDraft, _ generation: UInt32) -> SealedRow {
        SealedRow(
            rowid: 0, uuid: draft.uuid, persistref: draft.persistref, format: StoreSchema.rowFormat,
            generation: generation,
            protection: draft.protection, isSynchronizable: draft.isSynchronizable, isTombstone: draft.isTombstone,
            metadata: [], wrappedKey: nil, secret: nil)
    }

    private func metadata(_ draft: ItemDraft, sealID: [UInt8]) -> ItemMetadata {
        var attributes = draft.attributes
        if !draft.isTombstone {
            attributes[.sha1] = .data(
                blind.itemDigest(of: attributes, dataCode: draft.dataCode, in: draft.itemClass))
        }
        return ItemMetadata(
            attributes: attributes, accessControl: draft.accessControl, sealID: sealID, dataCode: draft.dataCode)
    }

    /// What the enclave binds a row key to.
    func binding(_ draft: ItemDraft) throws(KeychainError) -> RowBinding {
        RowBinding(
            uuid: draft.uuid, protectionClass: try protectionClass(draft), accessControl: draft.accessControlEncoding,
            shown: ShownItem.isBound(to: draft.accessControl) ? ShownItem(draft.attributes) : nil)
    }

    private func protectionClass(_ draft: ItemDraft) throws(KeychainError) -> ProtectionClass {
        guard let protectionClass = ProtectionClass(rawValue: draft.protection) else {
            throw .parameter(.malformed(key: "kSecAttrAccessible"))
        }
        return protectionClass
    }

    private func sealSecret(
        of row: inout SealedRow, _ draft: ItemDraft, _ metadata: ItemMetadata, _ outcome: KeyOutcome?
    ) throws(KeychainError) {
        switch outcome {
        case .key(let secret, let wrapped):
            guard wrapped.generation == row.generation else { throw MetadataKeys.renewed }
            row.wrappedKey = wrapped.box
            row.secret = sealer.seal(
                secret: try SecretPayload(extras: draft.extras, value: draft.value).encoded(), metadata: metadata,
                of: row, draft.itemClass, under: SealingKey(secret.bytes.copy()))
        case .locked: throw MetadataKeys.lockedError(try protectionClass(draft))
        case .noClassKey: throw KeychainError(.authFailed, reason: .passcodeNotSet)
        case .effaced: throw MetadataKeys.renewed
        case .needsAuthentication: throw KeychainError(.unimplemented, reason: .constraintNotEnforceable)
        case .wrongApplicationPassword: throw KeychainEngine.wrongApplicationPassword
        case .damaged, nil:
            throw KeychainError(.internalComponent, reason: .internalFault(what: "the enclave made no row key"))
        }
    }

    func store(_ row: SealedRow, _ attributes: AttributeMap, _ itemClass: ItemClass) -> RowToStore {
        RowToStore(
            row: row, primaryKey: blind.primaryKey(of: attributes, in: itemClass),
            pair: blind.pair(of: attributes, in: itemClass),
            hasPairColumn: StoreSchema.pair(of: itemClass) != nil,
            blind: StoreSchema.blindAttributes(of: itemClass).map { attribute in
                attributes[attribute.code].flatMap { blind.blind($0, of: attribute, in: itemClass) }
            },
            lookups: StoreSchema.hasLookups(itemClass) ? blind.lookups(attributes.lookup ?? .none, in: itemClass) : nil)
    }
}
