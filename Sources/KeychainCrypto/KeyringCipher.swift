internal import Crypto
internal import FoundationEssentials
package import KeychainPlatform

/// What gnome-keyring encrypts a keyring's file with (gnome-keyring 42,
/// pkcs11/secret-store/gkm-secret-binary.c and egg/egg-symkey.c): AES-128-CBC without a
/// padding, key and vector from the password, 8 bytes of salt and a number of rounds of
/// SHA-256. Nothing but an MD5 of the plaintext in front of it says that it opened.
///
/// For reading such files, and for nothing of ours.
package enum KeyringCipher {
    package static let saltByteCount = 8
    package static let blockByteCount = 16
    /// gnome-keyring itself writes 1000 to 4095. What a file may ask for has an end.
    package static let mostRounds: UInt32 = 1 << 20

    private static let digestByteCount = 16

    /// The plaintext behind its digest, with the zeroes that fill its last block.
    ///
    /// - Throws: ``CryptoError/doesNotOpen`` for another password, or a changed file.
    package static func open(
        _ sealed: borrowing SecretBytes, password: borrowing SecretBytes, salt: [UInt8], rounds: UInt32
    ) throws(CryptoError) -> SecretBytes {
        guard sealed.count >= digestByteCount, sealed.count % blockByteCount == 0, salt.count == saltByteCount,
            rounds <= mostRounds
        else { throw .malformed }
        let derived = derive(password, salt, rounds)
        let cipher = SessionCipher(key: derived.copy(0..<SessionCipher.keyByteCount))
        let vector = derived.copy(SessionCipher.keyByteCount..<derived.count).insecureArray()
        let opened = try cipher.decryptBlocks(sealed, vector: vector)
        let content = opened.copy(digestByteCount..<opened.count)
        guard digest(content).isEqual(to: opened.copy(0..<digestByteCount)) else { throw .doesNotOpen }
        return content
    }

    /// 16 bytes of a key and 16 of a vector. A number of rounds of 0 is one round, as there.
    private static func derive(_ password: borrowing SecretBytes, _ salt: [UInt8], _ rounds: UInt32) -> SecretBytes {
        var hash = SHA256()
        unsafe password.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
        hash.update(data: salt)
        var digest = hash.finalize()
        for _ in 1..<max(2, rounds) where rounds > 1 {
            digest = unsafe digest.withUnsafeBytes { bytes in
                var next = SHA256()
                unsafe next.update(bufferPointer: bytes)
                return next.finalize()
            }
        }
        return secret(digest)
    }

    private static func digest(_ content: borrowing SecretBytes) -> SecretBytes {
        var hash = Insecure.MD5()
        unsafe content.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
        return secret(hash.finalize())
    }

    private static func secret(_ digest: some Digest) -> SecretBytes {
        var secret = SecretBytes(count: type(of: digest).byteCount)
        unsafe secret.withUnsafeMutableBytes { place in
            unsafe digest.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
        }
        return secret
    }
}
