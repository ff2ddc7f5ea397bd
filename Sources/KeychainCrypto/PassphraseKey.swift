@_implementationOnly import CSodium
package import KeychainPlatform

/// How hard a passphrase is to guess: what Argon2id (RFC 9106) spends on one try.
package struct PassphraseCost: Hashable, Sendable {
    /// Passes over the memory.
    package let passes: UInt32
    package let kibibytes: UInt32

    /// What a file may ask of whoever opens it: a hostile one must neither take
    /// all memory nor hours.
    package static let passesAllowed: ClosedRange<UInt32> = 1...16
    package static let kibibytesAllowed: ClosedRange<UInt32> = 8...1_048_576

    /// libsodium's MODERATE: 256 MiB, three passes.
    package static let usual = PassphraseCost(uncheckedPasses: 3, kibibytes: 262_144)

    private init(uncheckedPasses passes: UInt32, kibibytes: UInt32) {
        self.passes = passes
        self.kibibytes = kibibytes
    }

    /// nil beyond what is allowed.
    package init?(passes: UInt32, kibibytes: UInt32) {
        guard Self.passesAllowed.contains(passes), Self.kibibytesAllowed.contains(kibibytes) else { return nil }
        self.init(uncheckedPasses: passes, kibibytes: kibibytes)
    }
}

/// Keys made from what a person remembers.
package enum PassphraseKey {
    package static let saltByteCount = 16
    /// More than what is below us while a key is derived, in bytes.
    private static let stackToWipe = 32 * 1024

    /// 32 bytes by Argon2id, one lane (libsodium's crypto_pwhash).
    ///
    /// - Throws: ENOMEM.
    /// - Precondition: the salt has 16 bytes.
    package static func derive(
        from passphrase: borrowing SecretBytes, salt: [UInt8], cost: PassphraseCost
    ) throws(SystemCallError) -> SecretBytes {
        precondition(salt.count == saltByteCount)
        precondition(sodium_init() >= 0, "libsodium does not start")
        var key = SecretBytes(count: 32)
        let result = unsafe key.withUnsafeMutableBytes { place in
            unsafe passphrase.withUnsafeBytes { words in
                unsafe crypto_pwhash(
                    place.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt64(place.count),
                    words.baseAddress!.assumingMemoryBound(to: CChar.self), UInt64(words.count), salt,
                    UInt64(cost.passes), Int(cost.kibibytes) * 1024, crypto_pwhash_alg_argon2id13())
            }
        }
        // libsodium leaves the key on the stack (a buffer of BLAKE2b's last step).
        sodium_stackzero(Self.stackToWipe)
        // Its other refusals are of sizes, which are right here.
        guard result == 0 else { throw .noMemory }
        return key
    }
}
