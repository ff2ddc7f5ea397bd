/// An item of a Secret Service, as another program gives it out. Which item of the keychain
/// it becomes, its lookup attributes decide.
package struct ServiceItem: Sendable {
    package let place: SourcePlace
    /// The name of its collection.
    package let collection: String
    package let label: String
    /// In the order of the source.
    package internal(set) var attributes: [(name: String, value: String)]
    /// What programs said that the value is; "text/plain" where nothing is known.
    package let contentType: String
    package let value: SecretText
    /// Seconds since 2001-01-01T00:00:00Z.
    package let created: Double?
    package let modified: Double?

    package static let plainText = "text/plain"
    /// The attribute that names the schema (libsecret, SecretSchema).
    static let schema = "xdg:schema"

    static let notes = "Notes"
    /// What KeePassXC adds to the fields of each entry that it gives out, all of them as
    /// attributes (2.7, fdosecrets, Item::attributes).
    private static let ofKeePassXC = ["Title", "Path", "Uuid"]

    func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// The notes of an entry of KeePassXC, which are a secret and no name by which programs
    /// find it; nil where there are none.
    mutating func takeNotes() -> String? {
        guard Self.ofKeePassXC.allSatisfy({ attribute($0) != nil }), let notes = attribute(Self.notes) else {
            return nil
        }
        attributes.removeAll { $0.name == Self.notes }
        return notes.isEmpty ? nil : notes
    }
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
        var item = item
        if let notes = item.takeNotes() {
            add(item.place) { builder in
                builder.become(.note)
                builder.take("Title", SecretText(item.attribute("Title") ?? item.label), as: .label)
                builder.take("UserName", SecretText(item.attribute("UserName") ?? ""), as: .account)
                builder.take(notes: ServiceItem.notes, SecretText(notes))
            }
        }
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
