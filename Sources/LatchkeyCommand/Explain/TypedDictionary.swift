internal import KeychainModel
internal import KeychainProtocol

/// A dictionary as a programmer types it, a key and a value a line:
///
/// ```
/// kSecClass: kSecClassGenericPassword
/// kSecAttrService: "mail"
/// kSecAttrGeneric: <0102ff>
/// kSecReturnData: true
/// ```
///
/// Values are the constants of their key, `true` and `false`, numbers, bytes in
/// angle brackets, and text with or without quotes. A colon, an equals sign or a
/// blank stands between; "as String" and a comma at the end are no matter, so that
/// lines of source can be pasted.
enum TypedDictionary {
    /// Nil for an empty line or a comment.
    static func entry(_ line: String) throws(CommandFailure) -> (key: String, value: RawValue)? {
        var text = trimmed(line[...])
        if text.isEmpty || text.hasPrefix("//") || ["[", "]", "{", "}"].contains(text) { return nil }
        if text.hasSuffix(",") { text = trimmed(text.dropLast()) }
        text = trimmed(text.replacing(" as String", with: "")[...])
        guard let end = text.firstIndex(where: { ": =\t".contains($0) }) else {
            throw refusal("a line is KEY: VALUE", text)
        }
        let name = String(text[..<end])
        guard let key = KeyNames.key(name) else { throw refusal("no key is called that", name) }
        let rest = trimmed(text[end...].drop { ": =\t".contains($0) })
        guard !rest.isEmpty else { throw refusal("a line is KEY: VALUE", name) }
        // The bytes of a value are a secret and are not typed here.
        if key == "v_Data" { return (key, .secret) }
        return (key, try value(rest, of: key))
    }

    private static func value(_ text: String, of key: String) throws(CommandFailure) -> RawValue {
        if let constant = KeyNames.value(text, of: key) { return .string(constant) }
        if text.hasPrefix("kSec") { throw refusal("no value of this key is called that", text) }
        switch text {
        case "true", "kCFBooleanTrue": return .bool(true)
        case "false", "kCFBooleanFalse": return .bool(false)
        default: break
        }
        if text.hasPrefix("\""), text.hasSuffix("\""), text.count >= 2 {
            return .string(String(text.dropFirst().dropLast()))
        }
        // As a call's own is shown; an object cannot be typed.
        if text == "<LAContext>" || text == "LAContext()" { return .authenticationContext }
        if text.hasPrefix("<"), text.hasSuffix(">") { return .data(try bytes(text.dropFirst().dropLast())) }
        if let number = Int64(text) { return .integer(number) }
        return .string(text)
    }

    private static func bytes(_ text: Substring) throws(CommandFailure) -> [UInt8] {
        let digits = Array(text.utf8.filter { $0 != UInt8(ascii: " ") })
        guard digits.count.isMultiple(of: 2) else { throw refusal("bytes are pairs of hex digits", String(text)) }
        var out: [UInt8] = []
        for at in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[at..<at + 2], as: UTF8.self), radix: 16) else {
                throw refusal("bytes are pairs of hex digits", String(text))
            }
            out.append(byte)
        }
        return out
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    private static func refusal(_ why: String, _ text: String) -> CommandFailure {
        CommandFailure(
            .usage, "\(why): \(PrintableText.escaped(String(text.prefix(80))))",
            "Give a key and a value a line, as in: kSecAttrService: \"mail\"")
    }
}
