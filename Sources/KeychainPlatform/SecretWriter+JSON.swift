extension SecretWriter {
    /// The text between the quotes of a JSON string (RFC 8259, section 7), of a value
    /// that is UTF-8; takes ``jsonCount(_:)`` bytes.
    package mutating func appendJSON(_ value: borrowing SecretBytes) {
        for index in 0..<value.count {
            let byte = value[index]
            if let escape = Self.escape(byte) { append(escape) } else { append(byte) }
        }
    }

    package static func jsonCount(_ value: borrowing SecretBytes) -> Int {
        var count = 0
        for index in 0..<value.count { count += escape(value[index])?.utf8.count ?? 1 }
        return count
    }

    /// What a byte of text becomes between quotes; nil: itself.
    private static func escape(_ byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "\""): "\\\""
        case UInt8(ascii: "\\"): "\\\\"
        case UInt8(ascii: "\n"): "\\n"
        case UInt8(ascii: "\t"): "\\t"
        case UInt8(ascii: "\r"): "\\r"
        case 0..<0x20, 0x7f: "\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
        default: nil
        }
    }
}
