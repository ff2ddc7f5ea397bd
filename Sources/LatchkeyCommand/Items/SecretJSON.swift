internal import KeychainPlatform

/// A JSON object whose last members are a secret and its encoding, built in
/// memory that is wiped.
enum SecretJSON {
    /// Text stands as text ("utf8"), anything else as "base64".
    static func line(_ members: [(String, JSONValue)], value: borrowing SecretBytes) -> SecretBytes {
        let isText = value.isUTF8
        let encoding: [(String, JSONValue)] = [("encoding", .string(isText ? "utf8" : "base64"))]
        let open = String(JSONValue.object(members + encoding).text.dropLast()) + ",\"value\":\""
        let close = "\"}\n"
        let room = isText ? escapedCount(value) : (value.count + 2) / 3 * 4
        var writer = SecretWriter(byteCount: open.utf8.count + room + close.utf8.count)
        writer.append(open)
        if isText { appendEscaped(value, to: &writer) } else { writer.appendBase64(value) }
        writer.append(close)
        return writer.finish()
    }

    /// What a byte of text becomes between quotes; nil: itself.
    private static func escape(_ byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "\""): "\\\""
        case UInt8(ascii: "\\"): "\\\\"
        case UInt8(ascii: "\n"): "\\n"
        case UInt8(ascii: "\t"): "\\t"
        case UInt8(ascii: "\r"): "\\r"
        case 0..<0x20, 0x7f: "\\u" + PrintableText.hex(UInt32(byte), digits: 4)
        default: nil
        }
    }

    private static func escapedCount(_ value: borrowing SecretBytes) -> Int {
        unsafe value.withUnsafeBytes { bytes in
            unsafe bytes.reduce(0) { $0 + (escape($1)?.utf8.count ?? 1) }
        }
    }

    private static func appendEscaped(_ value: borrowing SecretBytes, to writer: inout SecretWriter) {
        for index in 0..<value.count {
            let byte = unsafe value.withUnsafeBytes { unsafe $0[index] }
            if let escape = escape(byte) { writer.append(escape) } else { writer.append(byte) }
        }
    }
}

extension StoredItem {
    func json(with value: borrowing SecretBytes) -> SecretBytes { SecretJSON.line(jsonMembers, value: value) }
}
