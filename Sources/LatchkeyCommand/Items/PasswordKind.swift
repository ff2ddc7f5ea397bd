package import KeychainModel

/// The two classes of items that the command line stores.
package enum PasswordKind: Sendable, CaseIterable {
    case generic
    case internet

    package var itemClass: ItemClass {
        switch self {
        case .generic: .genericPassword
        case .internet: .internetPassword
        }
    }

    /// The attribute that SERVICE stands for.
    package var nameCode: AttributeCode {
        switch self {
        case .generic: .service
        case .internet: .server
        }
    }

    /// As it stands in JSON and tables.
    package var text: String {
        switch self {
        case .generic: "generic"
        case .internet: "internet"
        }
    }

    /// What makes an item of this class one, as far as a caller may name it
    /// (the schema's uniqueness tuple without the parts that the keychain sets).
    package var keyAttributes: [SchemaAttribute] {
        switch self {
        case .generic: Self.genericKey
        case .internet: Self.internetKey
        }
    }

    private static let genericKey = keyAttributes(of: .genericPassword)
    private static let internetKey = keyAttributes(of: .internetPassword)

    private static func keyAttributes(of itemClass: ItemClass) -> [SchemaAttribute] {
        Schema.of(itemClass).primaryKey.filter {
            $0.entitlement == nil && $0.code != .multiUser && $0.code != .tokenID
        }
    }
}

/// Which items a person means.
struct ItemName: Sendable {
    /// nil: generic passwords, and internet passwords where none is found.
    var kind: PasswordKind?
    var service: String
    /// nil: whatever the account.
    var account: String?
    var parts = ItemParts()

    /// The kind that is looked for first.
    var firstKind: PasswordKind { kind ?? (parts.isOfServer ? .internet : .generic) }
    var kinds: [PasswordKind] { kind == nil && !parts.isOfServer ? PasswordKind.allCases : [firstKind] }

    /// How items of a kind may be stored that are meant, the likely one first: a server as
    /// its parts, and as it was typed, which `set` stored as it stands until it took it apart.
    func spellings(of kind: PasswordKind) -> [ItemSpelling] { ItemSpelling.all(of: service, kind) }
}

/// A name under which items are looked for, and what more it says.
struct ItemSpelling: Sendable {
    let service: String
    let parts: ItemParts

    static func all(of service: String, _ kind: PasswordKind) -> [ItemSpelling] {
        let literal = ItemSpelling(service: service, parts: ItemParts())
        guard kind == .internet, let address = InternetAddress.parsed(service),
            address.host != service || !address.parts.isEmpty
        else { return [literal] }
        return [ItemSpelling(service: address.host, parts: address.parts), literal]
    }
}
