internal import KeychainModel
internal import KeychainProtocol

/// A new value for an attribute of an item, as it was typed.
struct AttributeChange: Sendable {
    let attribute: SchemaAttribute
    let value: RawValue
    /// As the keychain will keep it.
    let kept: AttributeValue

    /// NAME=VALUE of --attribute.
    static func parse(_ text: String, for kind: PasswordKind) throws(CommandFailure) -> AttributeChange {
        guard let equals = text.firstIndex(of: "=") else {
            throw refusal("--attribute is NAME=VALUE", PrintableText.escaped(text))
        }
        let name = String(text[..<equals])
        guard let attribute = KeyNames.attribute(name, of: kind.itemClass) else {
            throw refusal("\(kind.text) passwords have no attribute of that name", PrintableText.escaped(name))
        }
        return try AttributeChange(attribute, String(text[text.index(after: equals)...]))
    }

    /// A value for an attribute that has an option of its own.
    init(_ code: AttributeCode, _ text: String, for kind: PasswordKind) throws(CommandFailure) {
        guard let attribute = Schema.of(kind.itemClass)[code] else {
            throw Self.refusal("\(kind.text) passwords have no such attribute", KeyNames.constant("\(code)"))
        }
        try self.init(attribute, text)
    }

    private init(_ attribute: SchemaAttribute, _ text: String) throws(CommandFailure) {
        let name = KeyNames.constant("\(attribute.code)")
        let isKept = attribute.traits.isDisjoint(with: [.forbidden, .updateIgnored, .secret])
        guard isKept, attribute.entitlement == nil, attribute.code != .tombstone else {
            throw Self.refusal("the keychain alone sets this attribute", name)
        }
        guard let value = Self.value(text, of: attribute),
            let kept = Coercion.coerce(value, to: attribute.kind)
        else { throw Self.refusal("the value is not one that this attribute takes (\(Self.form(attribute)))", name) }
        self.attribute = attribute
        self.value = value
        self.kept = kept
    }

    // MARK: Values

    private static func value(_ text: String, of attribute: SchemaAttribute) -> RawValue? {
        switch attribute.kind {
        case .access: ProtectionClass(named: text).map { .string($0.rawValue) }
        case .date: Timestamp(text: text).map { .date($0.secondsSince2001) }
        case .number: number(text, of: attribute)
        case .blob, .data, .string: bytes(text).map { .data($0) } ?? .string(text)
        case .sha1, .uuid: bytes(text).map { .data($0) }
        // Programs of the Secret Service set it.
        case .accessControl, .ignored, .lookup: nil
        }
    }

    private static func number(_ text: String, of attribute: SchemaAttribute) -> RawValue? {
        if attribute.code == .protocol { return protocolCode(text).map { .string($0) } }
        switch text {
        case "true": return .integer(1)
        case "false": return .integer(0)
        default: break
        }
        if let number = Int64(text) {
            // RFC 9293 section 3.1; 0 is none.
            guard attribute.code != .port || 0...65_535 ~= number else { return nil }
            return .integer(number)
        }
        guard attribute.isFourCharacterCode else { return nil }
        return AttributeCode(text).map { .integer(Int64($0.rawValue)) }
    }

    private static func protocolCode(_ text: String) -> String? {
        ItemParts.code(of: text) ?? ProtocolNames.codes.values.first { $0 == text }
    }

    /// Pairs of hex digits in angle brackets; nil: it is text.
    private static func bytes(_ text: String) -> [UInt8]? {
        guard text.hasPrefix("<"), text.hasSuffix(">"), text.count >= 2 else { return nil }
        let digits = Array(text.utf8.dropFirst().dropLast())
        guard digits.count.isMultiple(of: 2) else { return nil }
        var found: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: 2) {
            let pair = digits[start...start + 1]
            // UInt8's own parser would take a sign.
            guard pair.allSatisfy({ UInt8(ascii: "+") != $0 && UInt8(ascii: "-") != $0 }),
                let byte = UInt8(String(decoding: pair, as: UTF8.self), radix: 16)
            else { return nil }
            found.append(byte)
        }
        return found
    }

    private static func form(_ attribute: SchemaAttribute) -> String {
        switch attribute.kind {
        case .access: ProtectionClass.allCases.map(\.commandName).joined(separator: ", ")
        case .date: "a date such as 2026-01-31T23:59:59Z"
        case .number where attribute.code == .protocol: "a protocol such as https or imap"
        case .number where attribute.code == .port: "a number from 0, which is none, to 65535"
        case .number: attribute.isFourCharacterCode ? "a number or four characters" : "a number"
        case .sha1: "<40 hex digits>"
        case .uuid: "<32 hex digits>"
        case .blob, .data, .string, .accessControl, .ignored: "text"
        case .lookup: "what programs of the Secret Service set"
        }
    }

    private static func refusal(_ why: String, _ name: String) -> CommandFailure {
        CommandFailure(
            .usage, "\(why): \(name)", "`latchkey edit --help` shows the forms; `latchkey info` what an item has.")
    }
}
