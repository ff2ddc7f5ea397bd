@_implementationOnly import CCryptoBoringSSL
internal import Crypto
package import KeychainPlatform

/// One side of a Diffie-Hellman exchange in the second Oakley group (RFC 2409, 6.2: 1024
/// bits, generator 2), which the Secret Service's sessions are made with ("Secret Service
/// API Draft", 0.2, "Transfer of Secrets"; algorithm dh-ietf1024-sha256-aes128-cbc-pkcs7).
///
/// It keeps values out of the message bus's own memory and logs. It is no protection from
/// whoever sits on the bus: nobody is authenticated, and 1024 bits are few.
@safe package final class OakleyExchange {
    /// Bytes of a public value, and of what both sides have in common.
    package static let byteCount = 128
    /// Of a public value with zeros before it: nobody sends more.
    private static let longestCount = 4096

    private let secret: Number
    package let publicValue: [UInt8]

    /// With a secret of its own.
    ///
    /// - Throws: ``CryptoError/noMemory``.
    package init() throws(CryptoError) {
        let prime = try Number(bytes: Self.prime)
        let made = try Number()
        guard unsafe CCryptoBoringSSL_BN_rand_range_ex(.init(made.raw), 1, .init(prime.raw)) == 1 else {
            throw .noMemory
        }
        secret = made
        let generator = try Number(bytes: [2])
        publicValue = try generator.raised(to: made, modulo: prime).bytes.insecureArray()
    }

    /// The key that both sides derive: HKDF-SHA256 (RFC 5869) without salt and information,
    /// 16 bytes, from the common value in 128 bytes.
    ///
    /// - Throws: ``CryptoError/malformed`` for a public value that is none: whoever sends 0,
    ///   1 or p - 1 knows the key without a secret.
    package func key(with other: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        guard other.count <= Self.longestCount else { throw .malformed }
        // As many zeros before it as its sender likes.
        let digits = other.insecureArray().drop { $0 == 0 }
        guard digits.count <= Self.byteCount else { throw .malformed }
        let prime = try Number(bytes: Self.prime)
        let theirs = try Number(bytes: Array(digits))
        var last = Self.prime
        last[last.count - 1] -= 1
        guard try theirs.isAbove(Number(bytes: [1])), try Number(bytes: last).isAbove(theirs) else { throw .malformed }
        let common = try theirs.raised(to: secret, modulo: prime)
        var key = SecretBytes(count: 16)
        let derived = unsafe common.bytes.withUnsafeBytes { bytes in
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: unsafe SymmetricKey(data: bytes), info: [UInt8](), outputByteCount: 16)
        }
        unsafe key.withUnsafeMutableBytes { place in
            unsafe derived.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
        }
        return key
    }

    private static let prime: [UInt8] = {
        let digits = """
            FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74\
            020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437\
            4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED\
            EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF
            """
        let values = digits.utf8.map { $0 < 58 ? $0 - 48 : $0 - 55 }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }()

    /// A number of BoringSSL's, wiped when it goes.
    @safe private final class Number {
        let raw: OpaquePointer

        init() throws(CryptoError) {
            guard let made = unsafe CCryptoBoringSSL_BN_new() else { throw .noMemory }
            unsafe raw = OpaquePointer(made)
        }

        init(bytes: [UInt8]) throws(CryptoError) {
            guard let made = unsafe CCryptoBoringSSL_BN_bin2bn(bytes, bytes.count, nil) else { throw .noMemory }
            unsafe raw = OpaquePointer(made)
        }

        deinit { unsafe CCryptoBoringSSL_BN_clear_free(.init(raw)) }

        func isAbove(_ other: Number) -> Bool { unsafe CCryptoBoringSSL_BN_cmp(.init(raw), .init(other.raw)) > 0 }

        /// In 128 bytes.
        func raised(to exponent: Number, modulo prime: Number) throws(CryptoError) -> KeychainPlatform.SharedSecret {
            let result = try Number()
            guard let context = unsafe CCryptoBoringSSL_BN_CTX_new() else { throw .noMemory }
            defer { unsafe CCryptoBoringSSL_BN_CTX_free(context) }
            guard
                unsafe CCryptoBoringSSL_BN_mod_exp_mont_consttime(
                    .init(result.raw), .init(raw), .init(exponent.raw), .init(prime.raw), context, nil) == 1
            else { throw .noMemory }
            var out = SecretBytes(count: OakleyExchange.byteCount)
            let isWritten = unsafe out.withUnsafeMutableBytes { place in
                unsafe CCryptoBoringSSL_BN_bn2bin_padded(
                    place.baseAddress?.assumingMemoryBound(to: UInt8.self), place.count, .init(result.raw)) == 1
            }
            guard isWritten else { throw .malformed }
            return KeychainPlatform.SharedSecret(out)
        }
    }
}
