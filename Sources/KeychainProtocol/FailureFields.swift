internal import KeychainMessages
package import KeychainModel

/// The answer that a call failed (Protos/latchkey_wire.proto, WireReply with a number and a
/// failure), field by field: "not found", "there already" and "locked" are answers as
/// ordinary as a row.
package struct FailureFields {
    package let number: UInt64
    package let error: KeychainError

    package init(_ error: KeychainError, number: UInt64) { (self.number, self.error) = (number, error) }

    package var encoded: [UInt8] {
        var writer = FieldWriter(capacity: 64)
        writer.number(1, number)
        writer.message(2) { failure in
            let (reason, arguments) = error.reason.wireForm
            failure.signed(1, Int64(error.status.rawValue))
            failure.number(2, UInt64(reason))
            for argument in arguments { failure.presentText(3, argument) }
            failure.text(4, error.underlying ?? "")
        }
        return writer.bytes
    }

    /// Without the general decoder; nil for whatever is no failure, or none as we write it.
    package init?(plain header: [UInt8]) {
        var reader = FieldReader(header[...])
        var number: UInt64 = 0
        var failure: ArraySlice<UInt8>?
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.varint.tag(1):
                guard let value = reader.varint() else { return nil }
                number = value
            case FieldType.bytes.tag(2):
                // The general decoder joins two.
                guard failure == nil, let message = reader.bytes() else { return nil }
                failure = message
            default: return nil
            }
        }
        guard let failure, let error = Self.error(failure) else { return nil }
        self.init(error, number: number)
    }

    private static func error(_ message: ArraySlice<UInt8>) -> KeychainError? {
        var reader = FieldReader(message)
        var status: Int32 = 0
        var reason: UInt32 = 0
        var arguments: [String] = []
        var underlying = ""
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.varint.tag(1):
                guard let value = reader.signed().flatMap({ Int32(exactly: $0) }) else { return nil }
                status = value
            case FieldType.varint.tag(2):
                guard let value = reader.varint().flatMap({ UInt32(exactly: $0) }) else { return nil }
                reason = value
            case FieldType.bytes.tag(3):
                guard let text = reader.text() else { return nil }
                arguments.append(text)
            case FieldType.bytes.tag(4):
                guard let text = reader.text() else { return nil }
                underlying = text
            default: return nil
            }
        }
        return KeychainError(
            Status(rawValue: status), reason: Reason(code: Int(reason), arguments: arguments),
            underlying: underlying.isEmpty ? nil : underlying)
    }
}
