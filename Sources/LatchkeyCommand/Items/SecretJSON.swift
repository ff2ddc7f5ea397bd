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
        let room = isText ? SecretWriter.jsonCount(value) : (value.count + 2) / 3 * 4
        var writer = SecretWriter(byteCount: open.utf8.count + room + close.utf8.count)
        writer.append(open)
        if isText { writer.appendJSON(value) } else { writer.appendBase64(value) }
        writer.append(close)
        return writer.finish()
    }
}

extension StoredItem {
    func json(with value: borrowing SecretBytes) -> SecretBytes { SecretJSON.line(jsonMembers, value: value) }
}
