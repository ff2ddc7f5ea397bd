internal import Crypto
internal import FoundationEssentials
package import KeychainPlatform

/// Keys and tags made from keys.
package enum KeyDerivation {
    /// HKDF-SHA256 (RFC 5869) with no salt: 32 bytes from `secret` for `purpose`.
    package static func derive(from secret: borrowing SecretBytes, purpose: String) -> SecretBytes {
        var out = SecretBytes(count: 32)
        let derived = unsafe secret.withUnsafeBytes { bytes in
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: unsafe SymmetricKey(data: bytes), info: Array(purpose.utf8), outputByteCount: 32)
        }
        unsafe out.withUnsafeMutableBytes { place in
            unsafe derived.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
        }
        return out
    }

    /// HMAC-SHA256 (RFC 2104) over `bytes`, 32 bytes.
    package static func authenticationCode(_ bytes: [UInt8], key: borrowing SecretBytes) -> [UInt8] {
        unsafe key.withUnsafeBytes { raw in
            Array(HMAC<SHA256>.authenticationCode(for: bytes, using: unsafe SymmetricKey(data: raw)))
        }
    }

    /// Whether `code` authenticates `bytes`; compares in constant time.
    package static func isAuthentic(_ code: [UInt8], _ bytes: [UInt8], key: borrowing SecretBytes) -> Bool {
        unsafe key.withUnsafeBytes { raw in
            HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: bytes, using: unsafe SymmetricKey(data: raw))
        }
    }

    /// SHA-256 (FIPS 180-4), for digests of things that are not secret.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.isEmpty { return digestOfNothing }
        return unsafe SHA256.hash(data: bytes).withUnsafeBytes { unsafe Array($0) }
    }

    /// SHA-256 of a purpose and a secret behind it, of which no copy is made.
    package static func digest(_ purpose: String, _ secret: borrowing SecretBytes) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: Array(purpose.utf8))
        unsafe secret.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
        return unsafe hash.finalize().withUnsafeBytes { unsafe Array($0) }
    }

    private static let digestOfNothing = unsafe SHA256.hash(data: [UInt8]()).withUnsafeBytes { unsafe Array($0) }
}
