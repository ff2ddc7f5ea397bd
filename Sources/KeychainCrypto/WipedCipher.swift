@_implementationOnly import CCryptoBoringSSL
internal import KeychainPlatform

/// AES-256-GCM of the same BoringSSL that swift-crypto brings, with a context that is
/// wiped when it goes.
///
/// swift-crypto's own context is not: a key schedule, whose first two round keys are
/// the key (FIPS 197, section 5.2), stays in freed memory for as long as nobody else
/// writes there. A keychain that was locked had keys of closed classes in both processes
/// (MemoryAfterLockTests).
///
/// CCryptoBoringSSL is no product of swift-crypto (ARCHITECTURE.md, section 8).
@safe struct WipedCipher: ~Copyable {
    static let nonceCount = 12
    static let tagCount = 16

    private let context: OpaquePointer

    /// - Precondition: 32 bytes.
    init(key: borrowing SecretBytes) {
        let made = unsafe key.withUnsafeBytes { bytes in
            unsafe CCryptoBoringSSL_EVP_AEAD_CTX_new(
                CCryptoBoringSSL_EVP_aead_aes_256_gcm(), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                bytes.count, Self.tagCount)
        }
        guard let made = unsafe made else { preconditionFailure("no context for a key of \(key.count) bytes") }
        unsafe context = OpaquePointer(made)
    }

    /// EVP_AEAD_CTX_free ends in OPENSSL_free, which overwrites what it frees.
    deinit { unsafe CCryptoBoringSSL_EVP_AEAD_CTX_free(.init(context)) }

    /// Writes ciphertext and tag.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, bound: [UInt8],
        into place: UnsafeMutableRawBufferPointer
    ) -> Bool {
        var count = 0
        let result = unsafe CCryptoBoringSSL_EVP_AEAD_CTX_seal(
            .init(context), place.baseAddress?.assumingMemoryBound(to: UInt8.self), &count, place.count,
            nonce.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce.count,
            plaintext.baseAddress?.assumingMemoryBound(to: UInt8.self), plaintext.count, bound, bound.count)
        return result == 1 && count == place.count
    }

    /// Writes the plaintext; nothing of it is there where the tag is not right.
    func open(
        _ sealed: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer, bound: [UInt8],
        into place: UnsafeMutableRawBufferPointer
    ) -> Bool {
        var count = 0
        let result = unsafe CCryptoBoringSSL_EVP_AEAD_CTX_open(
            .init(context), place.baseAddress?.assumingMemoryBound(to: UInt8.self), &count, place.count,
            nonce.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce.count,
            sealed.baseAddress?.assumingMemoryBound(to: UInt8.self), sealed.count, bound, bound.count)
        return result == 1 && count == place.count
    }
}
