internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform

/// What the slot of the login password says of itself; 84 bytes: ``PasscodeParameters``,
/// then its public key in a box under the root key.
///
/// In the clear the public key would tell whoever has the keybag alone whether a guess
/// is right. In `parameters` programs that do not know the slot leave it as it is.
struct LoginParameters: Hashable, Sendable {
    static let byteCount = PasscodeParameters.byteCount + WrappedKey.boxByteCount

    let derivation: PasscodeParameters
    let sealedPublicKey: [UInt8]

    init(derivation: PasscodeParameters, sealedPublicKey: [UInt8]) {
        self.derivation = derivation
        self.sealedPublicKey = sealedPublicKey
    }

    /// nil for anything but 84 bytes with a cost that may be asked for.
    init?(encoded bytes: [UInt8]) {
        guard bytes.count == Self.byteCount,
            let derivation = PasscodeParameters(encoded: Array(bytes[..<PasscodeParameters.byteCount]))
        else { return nil }
        self.init(derivation: derivation, sealedPublicKey: Array(bytes[PasscodeParameters.byteCount...]))
    }

    var encoded: [UInt8] { derivation.encoded + sealedPublicKey }
}

/// The slot of the login password: what a person opens, boxed as ``AutomaticSlot`` does,
/// so that it outlives a new bag key, for which nobody brings the login password.
enum LoginSlot {
    /// A slot before anything is wrapped for it.
    struct Place: Sendable {
        let identifier: [UInt8]
        let publicKey: [UInt8]
        let derivation: PasscodeParameters
    }

    /// - Precondition: the secret is a login password's, its parameters those it was
    ///   derived with.
    static func place(for secret: borrowing SlotSecret, _ derivation: PasscodeParameters) -> Place {
        Place(
            identifier: Random.bytes(KeybagBody.slotIdentifierCount), publicKey: AutomaticSlot.publicKey(of: secret),
            derivation: derivation)
    }

    /// Of a slot that is there.
    ///
    /// - Throws: ``KeybagError/Cause/malformed`` where another root key made it.
    static func place(
        of slot: KeybagBody.Slot, root: borrowing RootKey, store: StoreID
    ) throws(KeybagError) -> Place {
        guard let parameters = LoginParameters(encoded: slot.parameters) else { throw .unreadable(.malformed) }
        let binding = WrapBinding.loginPublicKey(store: store, slot.identifier)
        do throws(CryptoError) {
            let publicKey = try AutomaticSlot.outerKey(.login, root).open(parameters.sealedPublicKey, bound: binding)
            return Place(
                identifier: slot.identifier, publicKey: publicKey.insecureArray(), derivation: parameters.derivation)
        } catch { throw .unreadable(.malformed) }
    }

    static func slot(
        at place: Place, bag: borrowing SecretBytes, person: borrowing SecretBytes, root: borrowing RootKey,
        store: StoreID
    ) -> KeybagBody.Slot {
        let (name, publicKey) = (place.identifier, place.publicKey)
        let bagBinding = WrapBinding.automaticBagKey(store: store, slot: .login, name, for: publicKey)
        let personBinding = WrapBinding.boxedPersonKey(store: store, slot: .login, name, for: publicKey)
        let sealed = AutomaticSlot.outerKey(.login, root).seal(
            SecretBytes(copying: publicKey), bound: WrapBinding.loginPublicKey(store: store, name))
        return KeybagBody.Slot(
            kind: .login, identifier: name,
            wrappedBagKey: AutomaticSlot.box(bag, for: publicKey, .login, root, bound: bagBinding),
            wrappedPersonKey: AutomaticSlot.box(person, for: publicKey, .login, root, bound: personBinding),
            parameters: LoginParameters(derivation: place.derivation, sealedPublicKey: sealed).encoded)
    }

    /// - Throws: where the slot has another secret.
    static func personKey(
        in slot: KeybagBody.Slot, with secret: borrowing SlotSecret, root: borrowing RootKey, store: StoreID
    ) throws(CryptoError) -> SecretBytes {
        let seed = AutomaticSlot.seed(of: secret)
        let binding = WrapBinding.boxedPersonKey(
            store: store, slot: slot.kind, slot.identifier, for: AnonymousBox.publicKey(of: seed))
        return try AutomaticSlot.open(slot.wrappedPersonKey, seed, slot.kind, root, bound: binding)
    }
}
