@_implementationOnly import CSodium
package import KeychainPlatform

/// The index key: makes the values by which rows are found without being opened.
///
/// A blind value is keyed BLAKE2b (RFC 7693; libsodium's crypto_generichash,
/// 16 bytes out) over class, attribute, kind of column and value, each with its
/// length. It tells whoever holds the database which rows are equal, and to
/// whoever holds the key as well it confirms guesses (THREAT_MODEL.md).
package struct BlindingKey: ~Copyable, Sendable {
    package static let byteCount = 32
    package static let blindByteCount = 16

    private let secret: SecretBytes

    /// - Precondition: 32 bytes.
    package init(_ secret: consuming SecretBytes) {
        precondition(secret.count == Self.byteCount)
        precondition(sodium_init() >= 0, "libsodium does not start")
        self.secret = secret
    }

    /// Keyed BLAKE2b of `message`, `byteCount` (16 to 64) bytes.
    package func digest(_ message: [UInt8], byteCount: Int = blindByteCount) -> [UInt8] {
        // An array made of a buffer costs a third of one that is filled in place.
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: byteCount) { out in
            unsafe secret.withUnsafeBytes { key in
                let result = unsafe crypto_generichash(
                    out.baseAddress!, byteCount, message, UInt64(message.count),
                    key.baseAddress?.assumingMemoryBound(to: UInt8.self), key.count)
                precondition(result == 0, "BLAKE2b refused its sizes")
            }
            return unsafe [UInt8](out)
        }
    }
}

extension BlindingKey {
    /// Keyed BLAKE2b of secret bytes, without a copy of them; 32 bytes.
    package func digest(_ message: borrowing SecretBytes, purpose: StaticString) -> [UInt8] {
        var subkey = SecretBytes(count: 32)
        let name = purpose.withUTF8Buffer { unsafe Array($0) }
        unsafe secret.withUnsafeBytes { key in
            unsafe subkey.withUnsafeMutableBytes { made in
                let result = unsafe crypto_generichash(
                    made.baseAddress!.assumingMemoryBound(to: UInt8.self), made.count, name, UInt64(name.count),
                    key.baseAddress?.assumingMemoryBound(to: UInt8.self), key.count)
                precondition(result == 0, "BLAKE2b refused its sizes")
            }
        }
        var out = [UInt8](repeating: 0, count: 32)
        unsafe subkey.withUnsafeBytes { key in
            unsafe message.withUnsafeBytes { bytes in
                let result = unsafe crypto_generichash(
                    &out, 32, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count),
                    key.baseAddress?.assumingMemoryBound(to: UInt8.self), key.count)
                precondition(result == 0, "BLAKE2b refused its sizes")
            }
        }
        return out
    }
}
