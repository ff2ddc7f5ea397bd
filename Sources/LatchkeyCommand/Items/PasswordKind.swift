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

    var kinds: [PasswordKind] { kind.map { [$0] } ?? PasswordKind.allCases }
}
