internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// How a slot that opens without a person wraps the bag key: boxed for a public key whose
/// private half the slot's secret makes, and that under the root key.
///
/// So a new bag key is wrapped for a slot without its secret, and no key opens one slot's
/// secret by another's: who opens an old copy of the keybag with a slot that was removed
/// since has the bag key of that time, and nothing that opens the next.
enum AutomaticSlot {
    /// Of the wrapped bag key.
    static let boxByteCount = WrappedKey.boxByteCount + AnonymousBox.overhead

    static func publicKey(of secret: borrowing SlotSecret) -> [UInt8] {
        AnonymousBox.publicKey(of: seed(of: secret))
    }

    static func wrap(
        _ bagKey: borrowing SealingKey, for publicKey: [UInt8], _ kind: SlotKind, _ identifier: [UInt8],
        root: borrowing RootKey, store: StoreID
    ) -> [UInt8] {
        let binding = WrapBinding.automaticBagKey(store: store, slot: kind, identifier, for: publicKey)
        return box(bagKey.secret, for: publicKey, kind, root, bound: binding)
    }

    static func box(
        _ key: borrowing SecretBytes, for publicKey: [UInt8], _ kind: SlotKind, _ root: borrowing RootKey,
        bound: AssociatedData
    ) -> [UInt8] {
        let boxed = SecretBytes(copying: AnonymousBox.seal(key, for: publicKey))
        return outerKey(kind, root).seal(boxed, bound: bound)
    }

    /// - Throws: where the slot has another secret.
    static func open(
        _ slot: KeybagBody.Slot, with secret: borrowing SlotSecret, root: borrowing RootKey, store: StoreID
    ) throws(CryptoError) -> SecretBytes {
        let seed = seed(of: secret)
        let binding = WrapBinding.automaticBagKey(
            store: store, slot: slot.kind, slot.identifier, for: AnonymousBox.publicKey(of: seed))
        return try open(slot.wrappedBagKey, seed, slot.kind, root, bound: binding)
    }

    static func open(
        _ box: [UInt8], _ seed: borrowing SecretBytes, _ kind: SlotKind, _ root: borrowing RootKey,
        bound: AssociatedData
    ) throws(CryptoError) -> SecretBytes {
        let boxed = try outerKey(kind, root).open(box, bound: bound)
        let key = try AnonymousBox.open(boxed.insecureArray(), seed: seed)
        guard key.count == SealingKey.byteCount else { throw .malformed }
        return key
    }

    static func seed(of secret: borrowing SlotSecret) -> SecretBytes {
        KeyDerivation.derive(from: secret.bytes, purpose: "latchkey \(secret.kind.name) slot seed 1")
    }

    /// What seals for a slot whatever anybody may do who has the root key.
    static func outerKey(_ kind: SlotKind, _ root: borrowing RootKey) -> SealingKey {
        root.slotKey(for: SlotSecret(kind: kind, bytes: SecretBytes(count: 0)))
    }
}
