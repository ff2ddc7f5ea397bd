internal import Dispatch
@_exported public import Keychain
internal import KeychainCrypto
internal import KeychainPlatform

/// What one derivation, and so one guess, costs.
public struct DerivationCost: Hashable, Sendable {
    let cost: PassphraseCost

    /// 256 MiB and three passes: some tenths of a second.
    public static let usual = DerivationCost(cost: .usual)

    /// nil beyond 1 to 16 passes and 8 KiB to 1 GiB.
    public init?(passes: UInt32, kibibytes: UInt32) {
        guard let cost = PassphraseCost(passes: passes, kibibytes: kibibytes) else { return nil }
        self.cost = cost
    }

    private init(cost: PassphraseCost) { self.cost = cost }
}

extension Secret {
    /// A secret that stands in for a password where it has to lie less well
    /// protected than the password itself.
    ///
    /// A program that works while its user is away needs a secret that opens after
    /// the first unlock. Where the service is yours, let it know the user by a
    /// derived secret: if that gets out, the service can be attacked with it, and
    /// the password, which people use elsewhere as well, only by guessing, at the
    /// cost given here for each guess.
    ///
    /// ```swift
    /// let derived = try password.derived(for: "sync.example.com", salt: saltOfThisUser)
    /// try store.set(derived, for: .password(service: "sync"), accessible: .afterFirstUnlock)
    /// ```
    ///
    /// The service makes the same from the password when it is set: Argon2id
    /// (RFC 9106, version 0x13, one lane) with the password's bytes, the salt and the
    /// cost, 32 bytes; then HKDF-SHA256 (RFC 5869) of these, no salt, info
    /// "latchkey derived secret 1: " and the purpose in UTF-8, 32 bytes.
    ///
    /// - Parameters:
    ///   - purpose: what it is for; another purpose gives another secret.
    ///   - salt: 16 bytes, random and different for each user; not secret. The
    ///     service keeps it.
    ///   - cost: what one derivation costs, and so each guess; the service takes
    ///     the same.
    /// - Returns: 32 bytes.
    /// - Throws: `errSecParam` for a salt that has not 16 bytes, `errSecAllocate` where
    ///   the memory is not to be had.
    public func derived(
        for purpose: String, salt: [UInt8], cost: DerivationCost = .usual
    ) throws(KeychainError) -> Secret {
        guard salt.count == PassphraseKey.saltByteCount else {
            throw KeychainError(
                .param, reason: .malformed(key: "the salt"), underlying: "\(salt.count) bytes in place of 16")
        }
        do throws(SystemCallError) {
            let key = try PassphraseKey.derive(from: shared.bytes, salt: salt, cost: cost.cost)
            let derived = KeyDerivation.derive(from: key, purpose: "latchkey derived secret 1: " + purpose)
            return Secret(SharedSecret(derived))
        } catch {
            throw KeychainError(
                .allocate, reason: .internalFault(what: "no memory to derive a key"), underlying: "\(error)")
        }
    }

    /// As the other, on a thread of its own.
    public func derived(
        for purpose: String, salt: [UInt8], cost: DerivationCost = .usual
    ) async throws(KeychainError) -> Secret {
        let result: Result<Secret, KeychainError> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { () throws(KeychainError) in
                        try self.derived(for: purpose, salt: salt, cost: cost)
                    })
            }
        }
        return try result.get()
    }
}
