internal import KeychainModel

/// An attribute's value as `info` and `edit` show it, for people and as JSON.
enum AttributeText {
    static func text(_ value: AttributeValue, of attribute: SchemaAttribute) -> String {
        switch value {
        case .string(let text): named(text, attribute)
        case .data(let bytes): "<" + hex(bytes) + ">"
        case .integer(let number): fourCharacters(number, attribute).map { "\(number) (\($0))" } ?? "\(number)"
        case .real(let number): "\(number)"
        case .date(let seconds): Timestamp(secondsSince2001: seconds).text ?? "\(seconds)"
        }
    }

    /// Text as a string, numbers as numbers, dates as RFC 3339, bytes as {"hex"}.
    static func json(_ value: AttributeValue) -> JSONValue {
        switch value {
        case .string(let text): .string(text)
        case .data(let bytes): .object([("hex", .string(hex(bytes)))])
        case .integer(let number): .integer(number)
        case .real(let number): .string("\(number)")
        case .date(let seconds): JSONValue(Timestamp(secondsSince2001: seconds).text)
        }
    }

    private static func named(_ text: String, _ attribute: SchemaAttribute) -> String {
        switch attribute.code {
        case .protocol: ProtocolNames.name(of: text).map { "\(text) (\($0))" } ?? text
        default: KeyNames.constantValue(text, of: "\(attribute.code)") ?? text
        }
    }

    /// kSecAttrType and kSecAttrCreator are four characters in a number.
    private static func fourCharacters(_ number: Int64, _ attribute: SchemaAttribute) -> String? {
        guard attribute.isFourCharacterCode, let code = UInt32(exactly: number) else { return nil }
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) }
        guard bytes.allSatisfy({ (0x20..<0x7f).contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func hex(_ bytes: [UInt8]) -> String { bytes.map { PrintableText.hex(UInt32($0), digits: 2) }.joined() }
}

extension AttributeCode {
    static let comment: AttributeCode = "icmt"
    static let description: AttributeCode = "desc"
    static let `protocol`: AttributeCode = "ptcl"
    static let port: AttributeCode = "port"
    static let path: AttributeCode = "path"
    static let type: AttributeCode = "type"
    static let creator: AttributeCode = "crtr"
}

extension SchemaAttribute {
    var isFourCharacterCode: Bool { code == .type || code == .creator }
}
