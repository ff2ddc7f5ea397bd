/// One attribute of one class: the row of the schema table that query parsing,
/// uniqueness, SQL columns, result dictionaries and COMPATIBILITY.md all read.
package struct SchemaAttribute: Sendable {
    package let code: AttributeCode
    /// The constant that stands for it at the C-shaped door, without "kSecAttr".
    package let name: String
    package let kind: AttributeKind
    package let traits: Traits
    package let defaultValue: AttributeValue?

    package struct Traits: OptionSet, Sendable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Part of what makes an item unique.
        package static let primaryKey = Traits(rawValue: 1 << 0)
        /// In the dictionary that a copy returns.
        package static let returned = Traits(rawValue: 1 << 1)
        /// In the dictionary that an add returns as well.
        package static let returnedByAdd = Traits(rawValue: 1 << 2)
        /// Has a blind column to match by.
        package static let queryable = Traits(rawValue: 1 << 3)
        /// Has an SQL index, because real queries lead with it.
        package static let indexed = Traits(rawValue: 1 << 4)
        /// Handed out only together with the item's data.
        package static let secret = Traits(rawValue: 1 << 5)
        /// The caller may never pass it.
        package static let forbidden = Traits(rawValue: 1 << 6)
        /// A change of it by SecItemUpdate is dropped in silence.
        package static let updateIgnored = Traits(rawValue: 1 << 7)
        /// A tombstone keeps it.
        package static let keptByTombstone = Traits(rawValue: 1 << 8)
        /// Counts in the item's digest (sha1).
        package static let digested = Traits(rawValue: 1 << 9)

        /// What most attributes are.
        static let usual: Traits = [.returned, .returnedByAdd, .queryable, .digested]
    }

    /// The private entitlement without which the attribute is refused with -34018.
    package let entitlement: String?

    init(
        _ code: AttributeCode, _ name: String, _ kind: AttributeKind, _ traits: Traits = .usual,
        default defaultValue: AttributeValue? = nil, entitlement: String? = nil
    ) {
        self.code = code
        self.name = name
        self.kind = kind
        self.traits = traits
        self.defaultValue = defaultValue
        self.entitlement = entitlement
    }

    package var isPrimaryKey: Bool { traits.contains(.primaryKey) }
}

/// The attributes of one class, in a fixed order (the order of columns and of
/// the uniqueness tuple: a promise on disk).
package struct Schema: Sendable {
    package let itemClass: ItemClass
    package let attributes: [SchemaAttribute]
    /// Theirs; a few dozen at the most, so a walk is quicker than hashing.
    private let codes: [AttributeCode]
    package let primaryKey: [SchemaAttribute]

    init(_ itemClass: ItemClass, _ attributes: [SchemaAttribute]) {
        self.itemClass = itemClass
        self.attributes = attributes
        codes = attributes.map(\.code)
        primaryKey = attributes.filter(\.isPrimaryKey)
        precondition(Set(codes).count == codes.count, "a class has an attribute twice")
    }

    package subscript(code: AttributeCode) -> SchemaAttribute? { codes.firstIndex(of: code).map { attributes[$0] } }

    /// Whether the class has the attribute and this is true of it; nothing else of it is looked at.
    package func has(_ code: AttributeCode, _ trait: SchemaAttribute.Traits) -> Bool {
        guard let index = codes.firstIndex(of: code) else { return false }
        return attributes[index].traits.contains(trait)
    }

    package static func of(_ itemClass: ItemClass) -> Schema {
        switch itemClass {
        case .genericPassword: genericPassword
        case .internetPassword: internetPassword
        case .certificate: certificate
        case .key: key
        case .identity: identity
        }
    }

    /// The description of an attribute anywhere, for messages.
    package static func anywhere(_ code: AttributeCode) -> SchemaAttribute? {
        for itemClass in ItemClass.stored {
            if let found = of(itemClass)[code] { return found }
        }
        return nil
    }
}
