package import KeychainModel
internal import KeychainProtocol
package import LatchkeyCommand
package import LatchkeyImport

/// One item as it is to be stored.
package struct PlannedItem: Sendable {
    package enum Role: String, Sendable {
        case value
        case note
        case oneTimeSecret
        case attachment
    }

    package let kind: PasswordKind
    /// nil: the command line's own.
    package var group: AccessGroup?
    /// All but the group and the dates.
    package var attributes: AttributeMap
    /// nil: the item has no data.
    package let value: SecretText?
    package let role: Role
    var hasValue: Bool { value.map { !$0.isEmpty } ?? false }
    package let origin: SourcePlace
    /// Seconds since 2001-01-01T00:00:00Z; nil: now.
    package let created: Double?
    /// Likewise.
    package let modified: Double?

    /// Whether it can be added together with others.
    var isSmall: Bool { byteCount <= NewItem.mostBytesTogether / 4 }
    /// An upper bound of value and attributes.
    var byteCount: Int {
        var count = value?.longestCount ?? 0
        for (_, attribute) in attributes.entries { count += attribute.byteCount + 16 }
        return count
    }

    package var place: ItemPlace { ItemPlace(kind, attributes, in: group) }

    var account: String { attributes[.account]?.string ?? "" }
    var service: String { attributes[kind.nameCode]?.string ?? "" }

    /// The same under another account.
    func renamed(_ account: String) -> PlannedItem {
        var copy = self
        copy.attributes[.account] = .string(account)
        return copy
    }
}
