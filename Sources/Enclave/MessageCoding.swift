internal import SwiftProtobuf

/// Protocol buffers to and from bytes.
enum MessageCoding {
    /// nil for bytes that are no such message.
    static func decode<M: Message>(_ type: M.Type, _ bytes: [UInt8]) -> M? {
        do { return try M(serializedBytes: bytes) } catch { return nil }
    }

    /// Scalars, strings and bytes below 2 GiB, which is all we send, always encode.
    static func encode<M: Message>(_ message: M) -> [UInt8] {
        do { return try message.serializedBytes() } catch { preconditionFailure("a message does not encode") }
    }
}
