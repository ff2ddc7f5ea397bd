/// An item of a Secret Service, as another program gives it out. Which item of the keychain
/// it becomes, its lookup attributes decide.
package struct ServiceItem: Sendable {
    package let place: SourcePlace
    /// The name of its collection.
    package let collection: String
    package let label: String
    /// In the order of the source.
    package let attributes: [(name: String, value: String)]
    /// What programs said that the value is; "text/plain" where nothing is known.
    package let contentType: String
    package let value: SecretText
    /// Seconds since 2001-01-01T00:00:00Z.
    package let created: Double?
    package let modified: Double?

    package static let plainText = "text/plain"
    /// The attribute that names the schema (libsecret, SecretSchema).
    static let schema = "xdg:schema"
}

/// A collection of a Secret Service.
package struct ServiceCollection: Sendable, Hashable {
    /// As it stands in its object's path.
    package let name: String
    package let label: String
    /// Whether programs store there that name no other.
    package let isDefault: Bool
}

extension ImportedDocument {
    mutating func add(_ item: ServiceItem) {
        serviceItems.append(item)
        ledger.note("secret", .value)
        if !item.label.isEmpty { ledger.note("label", .label) }
        ledger.note("collection", .group)
        if !item.attributes.isEmpty { ledger.note("attributes", .lookupAttributes) }
        if item.contentType != ServiceItem.plainText { ledger.note("content type", .contentType) }
        if item.created != nil { ledger.note("created", .creationDate) }
        if item.modified != nil { ledger.note("modified", .modificationDate) }
    }
}
