internal import KeychainCrypto
internal import KeychainModel
internal import KeychainProtocol

/// What each wrapped key is bound to (FORMATS.md, "Wrapped keys"): purpose and
/// version first, then the store, then what names the key. A key that is put in
/// another's place does not open.
enum WrapBinding {
    static func rootKey(store: StoreID, protector kind: ProtectorKind, _ identifier: [UInt8]) -> AssociatedData {
        var data = AssociatedData("latchkey root key 1")
        data.append(store.bytes)
        data.append(kind.name)
        data.append(identifier)
        return data
    }

    static func bagKey(store: StoreID, slot kind: SlotKind, _ identifier: [UInt8]) -> AssociatedData {
        of(AssociatedData("latchkey bag key 1"), store, kind, identifier)
    }

    static func personKey(store: StoreID, slot kind: SlotKind, _ identifier: [UInt8]) -> AssociatedData {
        of(AssociatedData("latchkey person key 1"), store, kind, identifier)
    }

    /// The bag key, boxed for a slot that opens without a person.
    static func automaticBagKey(
        store: StoreID, slot kind: SlotKind, _ identifier: [UInt8], for publicKey: [UInt8]
    ) -> AssociatedData {
        var data = of(AssociatedData("latchkey boxed bag key 1"), store, kind, identifier)
        data.append(publicKey)
        return data
    }

    /// The person key, boxed for the slot of the login password.
    static func boxedPersonKey(
        store: StoreID, slot kind: SlotKind, _ identifier: [UInt8], for publicKey: [UInt8]
    ) -> AssociatedData {
        var data = of(AssociatedData("latchkey boxed person key 1"), store, kind, identifier)
        data.append(publicKey)
        return data
    }

    /// The password of the index that has the effacement secret.
    static func effacementPassword(store: StoreID, of index: TPMIndex) -> AssociatedData {
        of(AssociatedData("latchkey effacement index password 1"), store, index.label)
    }

    static func counterPassword(store: StoreID, of index: TPMIndex) -> AssociatedData {
        of(AssociatedData("latchkey counter index password 1"), store, index.label)
    }

    private static func of(
        _ purpose: AssociatedData, _ store: StoreID, _ kind: SlotKind, _ identifier: [UInt8]
    ) -> AssociatedData {
        var data = purpose
        data.append(store.bytes)
        data.append(kind.name)
        data.append(identifier)
        return data
    }

    /// The public key of the slot of the login password.
    static func loginPublicKey(store: StoreID, _ identifier: [UInt8]) -> AssociatedData {
        var data = AssociatedData("latchkey login public key 1")
        data.append(store.bytes)
        data.append(identifier)
        return data
    }

    static func classKey(
        store: StoreID, _ protectionClass: ProtectionClass, generation: UInt32, under parent: ClassKeyParent
    ) -> AssociatedData {
        var data = AssociatedData("latchkey class key 1")
        data.append(store.bytes)
        data.append(parent.rawValue)
        data.append(UInt64(protectionClass.number))
        data.append(UInt64(generation))
        return data
    }

    static func indexKey(store: StoreID) -> AssociatedData {
        var data = AssociatedData("latchkey index key 1")
        data.append(store.bytes)
        return data
    }

    static func metadataKey(
        store: StoreID, _ protectionClass: ProtectionClass, generation: UInt32
    ) -> AssociatedData {
        var data = AssociatedData("latchkey metadata key 1")
        data.append(store.bytes)
        data.append(UInt64(protectionClass.number))
        data.append(UInt64(generation))
        return data
    }

    static func auditFirstKey(store: StoreID, _ chain: [UInt8]) -> AssociatedData {
        of(AssociatedData("latchkey audit first key 1"), store, chain)
    }

    static func auditStateKey(store: StoreID, _ chain: [UInt8]) -> AssociatedData {
        of(AssociatedData("latchkey audit state key 1"), store, chain)
    }

    static func auditHead(store: StoreID, _ chain: [UInt8], isLacking: Bool) -> AssociatedData {
        of(AssociatedData(isLacking ? "latchkey audit head 2" : "latchkey audit head 1"), store, chain)
    }

    private static func of(_ purpose: AssociatedData, _ store: StoreID, _ name: [UInt8]) -> AssociatedData {
        var data = purpose
        data.append(store.bytes)
        data.append(name)
        return data
    }

    static func auditBlock(store: StoreID, _ place: AuditPlace) -> AssociatedData {
        var data = of(AssociatedData("latchkey audit block 1"), store, place.chain)
        data.append(place.file)
        data.append(UInt64(place.ordinal))
        data.append(UInt64(place.index))
        return data
    }

    static func rowKey(store: StoreID, _ row: RowBinding, generation: UInt32) -> AssociatedData {
        var data = AssociatedData(row.shown == nil ? "latchkey row key 1" : "latchkey row key 2")
        data.append(store.bytes)
        data.append(row.uuid)
        data.append(UInt64(row.protectionClass.number))
        data.append(UInt64(generation))
        data.append(row.accessControl)
        if let shown = row.shown {
            data.append(shown.label)
            data.append(shown.group)
        }
        return data
    }
}
