@_implementationOnly import CCryptoBoringSSL
package import KeychainPlatform

/// AES-128-CBC with the padding of PKCS #7 (NIST SP 800-38A, 6.2; RFC 5652, 6.3), as the
/// Secret Service has it, by BoringSSL. Nothing authenticates what it encrypts: for
/// values on their way over a bus, and for nothing that is kept.
package struct SessionCipher: Sendable {
    package static let keyByteCount = 16
    package static let vectorByteCount = 16

    private let key: SharedSecret

    /// - Precondition: 16 bytes.
    package init(key: consuming SecretBytes) {
        precondition(key.count == Self.keyByteCount)
        self.key = SharedSecret(key)
    }

    /// - Parameter vector: 16 bytes that are used once.
    /// - Throws: ``CryptoError/noMemory``.
    package func encrypt(_ plaintext: borrowing SecretBytes, vector: [UInt8]) throws(CryptoError) -> SecretBytes {
        try run(plaintext, vector, encrypting: true)
    }

    /// - Throws: ``CryptoError/malformed`` where the padding is none, or the vector has
    ///   another length.
    package func decrypt(_ ciphertext: borrowing SecretBytes, vector: [UInt8]) throws(CryptoError) -> SecretBytes {
        try run(ciphertext, vector, encrypting: false)
    }

    /// Whole blocks without a padding, which are as many afterwards.
    ///
    /// - Throws: ``CryptoError/malformed`` where it is not whole blocks.
    func decryptBlocks(_ ciphertext: borrowing SecretBytes, vector: [UInt8]) throws(CryptoError) -> SecretBytes {
        try run(ciphertext, vector, encrypting: false, padded: false)
    }

    private func run(
        _ input: borrowing SecretBytes, _ vector: [UInt8], encrypting: Bool, padded: Bool = true
    ) throws(CryptoError) -> SecretBytes {
        guard vector.count == Self.vectorByteCount, input.count < Int(Int32.max) - 32 else { throw .malformed }
        guard let context = unsafe CCryptoBoringSSL_EVP_CIPHER_CTX_new() else { throw .noMemory }
        // Wipes the key schedule: OPENSSL_free overwrites what it frees.
        defer { unsafe CCryptoBoringSSL_EVP_CIPHER_CTX_free(context) }
        var out: SecretBytes
        do throws(SystemCallError) { out = try SecretBytes(allocating: input.count + 16) } catch { throw .noMemory }
        let isReady = unsafe key.bytes.withUnsafeBytes { key in
            unsafe CCryptoBoringSSL_EVP_CipherInit_ex(
                context, CCryptoBoringSSL_EVP_aes_128_cbc(), nil,
                key.baseAddress?.assumingMemoryBound(to: UInt8.self), vector, encrypting ? 1 : 0) == 1
        }
        guard isReady, unsafe CCryptoBoringSSL_EVP_CIPHER_CTX_set_padding(context, padded ? 1 : 0) == 1 else {
            throw .noMemory
        }
        let count = unsafe input.withUnsafeBytes { source in
            unsafe out.withUnsafeMutableBytes { place -> Int? in
                guard let start = unsafe place.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
                var (first, last) = (Int32(0), Int32(0))
                guard
                    unsafe CCryptoBoringSSL_EVP_CipherUpdate(
                        context, start, &first, source.baseAddress?.assumingMemoryBound(to: UInt8.self),
                        Int32(source.count)) == 1,
                    unsafe CCryptoBoringSSL_EVP_CipherFinal_ex(context, start + Int(first), &last) == 1
                else { return nil }
                return Int(first) + Int(last)
            }
        }
        guard let count else { throw .malformed }
        out.truncate(to: count)
        return out
    }
}
