package import KeychainModel
internal import KeychainProtocol

/// An item as the keychain describes it: its names and dates, never its value.
struct StoredItem: Sendable {
    let kind: PasswordKind
    private var attributes: AttributeMap

    init(_ kind: PasswordKind, _ attributes: AttributeMap) {
        self.kind = kind
        self.attributes = attributes
    }

    var service: String { text(kind.nameCode) ?? "" }
    var account: String { text(.account) ?? "" }
    var label: String? { text(.label) }
    var group: String? { text(.accessGroup) }
    var isSynchronizable: Bool { attributes[.synchronizable]?.integer ?? 0 != 0 }
    var created: Timestamp? { date(.creationDate) }
    var modified: Timestamp? { date(.modificationDate) }

    var protection: ProtectionClass? { text(.accessible).flatMap { ProtectionClass(rawValue: $0) } }

    /// What programs of the Secret Service find it by; nil: none of them stored it.
    var lookup: LookupAttributes? { attributes.lookup }
    var allAttributes: AttributeMap { attributes }

    subscript(code: AttributeCode) -> AttributeValue? { attributes[code] }

    /// As it is after a change.
    mutating func take(_ code: AttributeCode, _ value: AttributeValue) { attributes[code] = value }

    /// All that the keychain tells of it, in the schema's order.
    var namedAttributes: [(SchemaAttribute, AttributeValue)] {
        Schema.of(kind.itemClass).attributes.compactMap { attribute in
            attributes[attribute.code].map { (attribute, $0) }
        }
    }

    /// By names, then by what tells equal names apart.
    var sortKey: [String] { [service, account, kind.text, group ?? ""] }

    /// As a message names it: service/account, or the service alone.
    var displayName: String { Self.displayName(service, account) }

    static func displayName(_ service: String, _ account: String) -> String {
        PrintableText.escaped(account.isEmpty ? service : "\(service)/\(account)")
    }

    /// Whether it is the very item: all of its key, the group apart.
    func isSame(as other: StoredItem) -> Bool {
        kind == other.kind && exactQuery.elementsEqual(other.exactQuery) { $0 == $1 }
    }

    /// Matches this item and no other.
    var exactQuery: [(String, RawValue)] {
        kind.keyAttributes.compactMap { attribute in
            attributes[attribute.code].map { ("\(attribute.code)", RawValue($0)) }
        }
    }

    /// Bytes that are no text show as hex digits.
    func text(_ code: AttributeCode) -> String? {
        switch attributes[code] {
        case .string(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self) ?? "0x" + AttributeText.hex(bytes)
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .date, nil: nil
        }
    }

    private func date(_ code: AttributeCode) -> Timestamp? {
        if case .date(let seconds) = attributes[code] { Timestamp(secondsSince2001: seconds) } else { nil }
    }
}

extension RawValue {
    package init(_ value: AttributeValue) {
        self =
            switch value {
            case .string(let text): .string(text)
            case .data(let bytes): .data(bytes)
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .date(let seconds): .date(seconds)
            }
    }
}
