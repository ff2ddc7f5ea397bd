internal import KeychainModel
internal import KeychainPlatform
internal import LatchkeyCommand
internal import LatchkeyImport

/// The lines of an export (FORMATS.md, "Export"): a heading, an item each, and a
/// line that says how many there are.
enum ExportLine {
    static let version: Int64 = 1

    /// The group is that of items which do not name another.
    static var heading: SecretBytes {
        line(.object([("latchkey-export", .integer(version)), ("group", .string(AccessGroup.latchkey.name))]))
    }

    static func end(_ count: Int) -> SecretBytes { line(.object([("items", .integer(Int64(count)))])) }

    /// An item with everything that an import can give back.
    static func item(_ kind: PasswordKind, _ attributes: AttributeMap, _ value: SharedSecret?) -> SecretBytes {
        let given = Schema.of(kind.itemClass).attributes.filter(isKept).compactMap { attribute in
            attributes[attribute.code].map { ("\(attribute.code)", JSONValue($0)) }
        }
        var members: [(String, JSONValue)] = [
            ("class", .string(kind.itemClass.rawValue)), ("attributes", .object(given)),
        ]
        if case .string(let group)? = attributes[.accessGroup], group != AccessGroup.latchkey.name {
            members.append(("group", .string(group)))
        }
        for (name, code) in [("created", AttributeCode.creationDate), ("modified", .modificationDate)] {
            if let date = attributes[code] { members.append((name, JSONValue(date))) }
        }
        guard let value else { return line(.object(members)) }
        let open = JSONValue.object(members).text.dropLast() + ",\"value\":\""
        var writer = SecretWriter(byteCount: open.utf8.count + (value.bytes.count + 2) / 3 * 4 + 3)
        writer.append(String(open))
        writer.appendBase64(value.bytes)
        writer.append("\"}\n")
        return writer.finish()
    }

    /// What an add takes: not what the keychain sets itself.
    static func isKept(_ attribute: SchemaAttribute) -> Bool {
        attribute.entitlement == nil && attribute.traits.contains(.returned)
            && attribute.kind != .accessControl && !dropped.contains(attribute.code)
    }

    private static let dropped: Set<AttributeCode> = [
        .accessGroup, .creationDate, .modificationDate, .tombstone, .multiUser, .tokenID, .sha1,
    ]

    private static func line(_ value: JSONValue) -> SecretBytes {
        SecretBytes(copying: Array((value.text + "\n").utf8))
    }
}

extension JSONValue {
    /// The type is part of a value: {"text"}, {"data"} in base64, {"number"}, {"real"} and {"date"}.
    fileprivate init(_ value: AttributeValue) {
        self =
            switch value {
            case .string(let text): .object([("text", .string(text))])
            case .data(let bytes): .object([("data", .string(Self.base64(bytes)))])
            case .integer(let number): .object([("number", .integer(number))])
            case .real(let number): .object([("real", .string("\(number)"))])
            case .date(let seconds): .object([("date", .string("\(seconds)"))])
            }
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        var writer = SecretWriter(byteCount: (bytes.count + 2) / 3 * 4)
        writer.appendBase64(SecretBytes(copying: bytes))
        return String(decoding: writer.finish().insecureArray(), as: UTF8.self)
    }
}
