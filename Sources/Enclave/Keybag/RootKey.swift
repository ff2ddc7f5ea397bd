internal import KeychainCrypto
internal import KeychainPlatform

/// The root key: 256 random bits made by the enclave, which never leave it but
/// wrapped by a protector.
///
/// It is used for nothing but making other keys (HKDF-SHA256, one purpose
/// each), so that no key serves two algorithms (NIST SP 800-57 part 1, 5.2).
struct RootKey: ~Copyable, Sendable {
    private let secret: SecretBytes

    /// - Precondition: 32 bytes.
    init(_ secret: consuming SecretBytes) {
        precondition(secret.count == SealingKey.byteCount)
        self.secret = secret
    }

    static func random() -> RootKey { RootKey(.random(count: SealingKey.byteCount)) }

    func copy() -> RootKey { RootKey(secret.copy()) }
    func isEqual(to other: borrowing RootKey) -> Bool { secret.isEqual(to: other.secret) }

    /// What seals the keys that hang on the root key alone.
    var wrappingKey: SealingKey {
        SealingKey(KeyDerivation.derive(from: secret, purpose: "latchkey root wrapping key 1"))
    }

    /// What authenticates a file of the keybag; another for each kind of file.
    func authenticationKey(of kind: AuthenticatedFile.Kind) -> SecretBytes {
        KeyDerivation.derive(from: secret, purpose: kind.authenticationPurpose)
    }

    /// slot key = HKDF(slot secret ‖ root key, kind of slot).
    func slotKey(for slotSecret: borrowing SlotSecret) -> SealingKey {
        let both = SecretBytes(joining: slotSecret.bytes, secret)
        return SealingKey(KeyDerivation.derive(from: both, purpose: "latchkey \(slotSecret.kind.name) slot key 1"))
    }

    /// What wraps the class keys of akpu: gone with either half.
    static func effaceableKey(_ person: borrowing SealingKey, _ effacement: borrowing SecretBytes) -> SealingKey {
        let both = SecretBytes(joining: person.secret, effacement)
        return SealingKey(KeyDerivation.derive(from: both, purpose: "latchkey effaceable wrapping key 1"))
    }

    /// The root key as a protector keeps it: a box of 60 bytes.
    func wrapped(by key: borrowing SealingKey, bound: AssociatedData) -> [UInt8] { key.seal(secret, bound: bound) }
}
