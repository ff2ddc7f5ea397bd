@_implementationOnly import CSodium
package import KeychainPlatform

/// A sequence of sealed parts: none can be changed, left out, moved or cut off
/// at the end without the reader noticing (libsodium's crypto_secretstream,
/// XChaCha20-Poly1305).
package enum SealedStream {
    /// What stands before the first part.
    package static let headerByteCount = 24
    /// What a sealed part is longer than its content.
    package static let overhead = 17

    /// What a part is: others follow, or it is the last.
    package enum Tag: Sendable {
        case message
        case last

        fileprivate var code: UInt8 {
            switch self {
            case .message: crypto_secretstream_xchacha20poly1305_tag_message()
            case .last: crypto_secretstream_xchacha20poly1305_tag_final()
            }
        }
    }

    package struct Part: ~Copyable {
        package let content: SecretBytes
        package let tag: Tag
    }

    package struct Writer: ~Copyable {
        package let header: [UInt8]
        private var state: SecretBytes

        /// - Precondition: a key of 32 bytes, used for this stream alone.
        package init(key: borrowing SecretBytes) {
            precondition(key.count == 32 && sodium_init() >= 0)
            var header = [UInt8](repeating: 0, count: SealedStream.headerByteCount)
            var fresh = SecretBytes(count: crypto_secretstream_xchacha20poly1305_statebytes())
            unsafe fresh.withState { state in
                unsafe key.withUnsafeBytes { key in
                    _ = unsafe crypto_secretstream_xchacha20poly1305_init_push(
                        state, &header, key.baseAddress!.assumingMemoryBound(to: UInt8.self))
                }
            }
            state = fresh
            self.header = header
        }

        /// Seals the next part, bound to `associatedData` as well.
        package mutating func seal(_ part: borrowing SecretBytes, bound associatedData: [UInt8], as tag: Tag) -> [UInt8] {
            var sealed = [UInt8](repeating: 0, count: part.count + SealedStream.overhead)
            unsafe state.withState { state in
                unsafe part.withUnsafeBytes { plain in
                    _ = unsafe crypto_secretstream_xchacha20poly1305_push(
                        state, &sealed, nil, plain.baseAddress?.assumingMemoryBound(to: UInt8.self),
                        UInt64(plain.count), associatedData, UInt64(associatedData.count), tag.code)
                }
            }
            return sealed
        }
    }

    package struct Reader: ~Copyable {
        private var state: SecretBytes

        /// - Precondition: a key of 32 bytes, a header of 24.
        /// - Throws: ``CryptoError/malformed``.
        package init(key: borrowing SecretBytes, header: [UInt8]) throws(CryptoError) {
            precondition(key.count == 32 && header.count == SealedStream.headerByteCount && sodium_init() >= 0)
            var fresh = SecretBytes(count: crypto_secretstream_xchacha20poly1305_statebytes())
            let result = unsafe fresh.withState { state in
                unsafe key.withUnsafeBytes { key in
                    unsafe crypto_secretstream_xchacha20poly1305_init_pull(
                        state, header, key.baseAddress!.assumingMemoryBound(to: UInt8.self))
                }
            }
            guard result == 0 else { throw .malformed }
            state = fresh
        }

        /// Opens the next part into memory that is wiped.
        package mutating func open(
            _ part: [UInt8], bound associatedData: [UInt8]
        ) throws(CryptoError) -> Part {
            guard part.count >= SealedStream.overhead else { throw .malformed }
            var plain = SecretBytes(count: part.count - SealedStream.overhead)
            var code: UInt8 = 0
            let result = unsafe state.withState { state in
                unsafe plain.withUnsafeMutableBytes { place in
                    unsafe crypto_secretstream_xchacha20poly1305_pull(
                        state, place.baseAddress!.assumingMemoryBound(to: UInt8.self), nil, &code, part,
                        UInt64(part.count), associatedData, UInt64(associatedData.count))
                }
            }
            guard result == 0 else { throw .doesNotOpen }
            switch code {
            case Tag.message.code: return Part(content: plain, tag: .message)
            case Tag.last.code: return Part(content: plain, tag: .last)
            default: throw .malformed
            }
        }
    }
}

extension SecretBytes {
    /// Lends libsodium's state that lies in these bytes.
    fileprivate mutating func withState<R>(
        _ body: (UnsafeMutablePointer<crypto_secretstream_xchacha20poly1305_state>) -> R
    ) -> R {
        unsafe withUnsafeMutableBytes {
            unsafe body($0.baseAddress!.assumingMemoryBound(to: crypto_secretstream_xchacha20poly1305_state.self))
        }
    }
}
