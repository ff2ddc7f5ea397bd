internal import KeychainProtocol

/// A request as it lies in its header: the number, and one message.
struct PlainRequest {
    let number: UInt64
    let message: ArraySlice<UInt8>

    /// - Parameter field: the message's, of `Latchkey_EnclaveRequest`.
    /// - Returns: nil for whatever else was asked.
    init?(_ header: [UInt8], field: UInt64) {
        var reader = FieldReader(header[...])
        var number: UInt64 = 0
        var message: ArraySlice<UInt8>?
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.varint.tag(1):
                guard let value = reader.varint() else { return nil }
                number = value
            case FieldType.bytes.tag(field):
                // The general coder takes a second one for more of the first.
                guard message == nil, let bytes = reader.bytes() else { return nil }
                message = bytes
            default: return nil
            }
        }
        guard let message else { return nil }
        (self.number, self.message) = (number, message)
    }
}
