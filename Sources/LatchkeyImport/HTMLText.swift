internal import KeychainPlatform

/// Text in which characters of HTML are written as entities, as LastPass exports it.
enum HTMLText {
    private static let entities: [(name: [UInt8], character: UInt8)] = [
        (Array("&amp;".utf8), UInt8(ascii: "&")), (Array("&lt;".utf8), UInt8(ascii: "<")),
        (Array("&gt;".utf8), UInt8(ascii: ">")), (Array("&quot;".utf8), UInt8(ascii: "\"")),
        (Array("&#39;".utf8), UInt8(ascii: "'")), (Array("&#039;".utf8), UInt8(ascii: "'")),
    ]

    /// Each entity once: `&amp;lt;` stands for `&lt;`.
    static func decoded(_ text: SecretText) -> SecretText {
        let written = text.secret()
        guard written.count(of: UInt8(ascii: "&"), in: 0..<written.count) > 0 else { return text }
        var writer = SecretWriter(byteCount: written.count)
        var index = 0
        while index < written.count {
            if let entity = entities.first(where: { stands($0.name, in: written, at: index) }) {
                writer.append(entity.character)
                index += entity.name.count
            } else {
                writer.append(written[index])
                index += 1
            }
        }
        let content = SharedSecret(writer.finish())
        return SecretText(TextSlice(content, 0..<content.bytes.count))
    }

    private static func stands(_ name: [UInt8], in text: borrowing SecretBytes, at index: Int) -> Bool {
        guard text[index] == name[0], text.count - index >= name.count else { return false }
        return name.indices.allSatisfy { text[index + $0] == name[$0] }
    }
}
