internal import KeychainCrypto
internal import SwiftProtobuf

/// Bodies of the keybag's files to and from bytes.
enum KeybagCoding {
    /// A wrapped 256-bit key: nonce, ciphertext, tag.
    static let boxCount = SealingKey.byteCount + SealingKey.overhead

    /// nil for bytes that are no such message.
    static func decode<M: Message>(_ type: M.Type, _ bytes: [UInt8]) -> M? {
        do { return try M(serializedBytes: bytes) } catch { return nil }
    }

    /// A message of scalars and bytes always encodes.
    static func encode<M: Message>(_ message: M) -> [UInt8] {
        do { return try message.serializedBytes() } catch { preconditionFailure("a message does not encode") }
    }
}
