@_implementationOnly import CSodium
package import KeychainPlatform

/// A secret wrapped for a public key, which says nothing of who wrapped it: whoever has
/// the seed of the key pair opens it, and wrapping takes no secret.
///
/// libsodium's sealed box (crypto_box_seal: an X25519 key of its own for each box, then
/// XSalsa20-Poly1305; https://doc.libsodium.org/public-key_cryptography/sealed_boxes). It is
/// bound to nothing but the public key: whoever needs more puts it into a box of
/// ``SealingKey``.
package enum AnonymousBox {
    package static let publicKeyByteCount = 32
    package static let seedByteCount = 32
    /// What a box is longer than its content: a public key (32) and a tag (16).
    package static let overhead = 48
    /// More than what is below us, in bytes.
    private static let stackToWipe = 8 * 1024

    /// - Precondition: the seed has 32 bytes.
    package static func publicKey(of seed: borrowing SecretBytes) -> [UInt8] { keyPair(of: seed).publicKey }

    /// - Precondition: the key has 32 bytes.
    package static func seal(_ secret: borrowing SecretBytes, for publicKey: [UInt8]) -> [UInt8] {
        precondition(publicKey.count == publicKeyByteCount)
        precondition(sodium_init() >= 0, "libsodium does not start")
        var box = [UInt8](repeating: 0, count: secret.count + overhead)
        let result = unsafe secret.withUnsafeBytes { bytes in
            unsafe crypto_box_seal(
                &box, bytes.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count), publicKey)
        }
        sodium_stackzero(stackToWipe)
        // It refuses points of small order alone: no key pair has such a public key.
        precondition(result == 0)
        return box
    }

    /// - Throws: ``CryptoError/malformed``, ``CryptoError/doesNotOpen``.
    package static func open(
        _ box: [UInt8], seed: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        guard box.count > overhead else { throw .malformed }
        let pair = keyPair(of: seed)
        var secret = SecretBytes(count: box.count - overhead)
        let result = unsafe secret.withUnsafeMutableBytes { place in
            unsafe pair.privateKey.withUnsafeBytes { key in
                unsafe crypto_box_seal_open(
                    place.baseAddress!.assumingMemoryBound(to: UInt8.self), box, UInt64(box.count), pair.publicKey,
                    key.baseAddress!.assumingMemoryBound(to: UInt8.self))
            }
        }
        sodium_stackzero(stackToWipe)
        guard result == 0 else { throw .doesNotOpen }
        return secret
    }

    private struct KeyPair: ~Copyable {
        let publicKey: [UInt8]
        let privateKey: SecretBytes
    }

    private static func keyPair(of seed: borrowing SecretBytes) -> KeyPair {
        precondition(seed.count == seedByteCount)
        precondition(sodium_init() >= 0, "libsodium does not start")
        var publicKey = [UInt8](repeating: 0, count: publicKeyByteCount)
        var privateKey = SecretBytes(count: 32)
        unsafe privateKey.withUnsafeMutableBytes { place in
            unsafe seed.withUnsafeBytes { bytes in
                _ = unsafe crypto_box_seed_keypair(
                    &publicKey, place.baseAddress!.assumingMemoryBound(to: UInt8.self),
                    bytes.baseAddress!.assumingMemoryBound(to: UInt8.self))
            }
        }
        sodium_stackzero(stackToWipe)
        return KeyPair(publicKey: publicKey, privateKey: privateKey)
    }
}
