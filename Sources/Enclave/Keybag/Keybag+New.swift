internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform

extension KeybagBody {
    /// New keys for a new store: a slot of kind "open", a bag key, the class
    /// keys and the index key, all random.
    static func new(for store: StoreID, root: borrowing RootKey) -> KeybagBody {
        let rootWrapping = root.wrappingKey
        let bagKey = SealingKey.random()
        let classKeys = ProtectionClass.allCases.compactMap { named -> WrappedClassKey? in
            let parent = ClassKeyParent(of: named)
            switch parent {
            case .bag: return newClassKey(named, parent, under: bagKey, store)
            case .root: return newClassKey(named, parent, under: rootWrapping, store)
            // Comes with the first passcode.
            case .person: return nil
            }
        }
        let indexKey = SecretBytes.random(count: BlindingKey.byteCount)
        return KeybagBody(
            store: store, slots: [openSlot(store, root, bagKey)], classKeys: classKeys,
            wrappedIndexKey: rootWrapping.seal(indexKey, bound: WrapBinding.indexKey(store: store)))
    }

    private static func newClassKey(
        _ protectionClass: ProtectionClass, _ parent: ClassKeyParent, under key: borrowing SealingKey, _ store: StoreID
    ) -> WrappedClassKey {
        let generation: UInt32 = 1
        let binding = WrapBinding.classKey(store: store, protectionClass, generation: generation, under: parent)
        let fresh = SecretBytes.random(count: SealingKey.byteCount)
        return WrappedClassKey(
            protectionClass: protectionClass, generation: generation, parent: parent,
            box: key.seal(fresh, bound: binding))
    }

    private static func openSlot(_ store: StoreID, _ root: borrowing RootKey, _ bagKey: borrowing SealingKey) -> Slot {
        let secret = SlotSecret.open
        let identifier = Random.bytes(slotIdentifierCount)
        let binding = WrapBinding.bagKey(store: store, slot: secret.kind, identifier)
        return Slot(
            kind: secret.kind, identifier: identifier,
            wrappedBagKey: root.slotKey(for: secret).seal(bagKey.secret, bound: binding))
    }
}
