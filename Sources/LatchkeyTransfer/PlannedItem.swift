package import KeychainModel
internal import KeychainPlatform
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
    /// The items of one entry have the same number; nil: it stands alone.
    var entry: Int?
    /// What follows the entry's account in that of an item beside it: "(otp)".
    var suffix = ""

    /// Whether it can be added together with others.
    var isSmall: Bool { byteCount <= NewItem.mostBytesTogether / 4 }
    /// An upper bound of value and attributes.
    var byteCount: Int {
        var count = value?.longestCount ?? 0
        for (_, attribute) in attributes.entries { count += attribute.byteCount + 16 }
        return count
    }

    /// As whoever stores it will.
    ///
    /// - Throws: `errSecDataTooLarge`.
    func checkSize() throws(KeychainError) {
        // What is within the limit by its bound is not copied to be counted.
        let longest = value?.longestCount ?? 0
        let count = longest <= ItemLimit.value ? longest : value?.secret().count ?? 0
        try ItemLimit.check(valueByteCount: count, attributes)
    }

    package var place: ItemPlace { ItemPlace(kind, attributes, in: group) }

    var account: String { attributes[.account]?.string ?? "" }
    var service: String { attributes[kind.nameCode]?.string ?? "" }

    /// The same under the entry's account with a number, before what an item beside it adds:
    /// "u (2)" and "u (2) (otp)". The first is as it stands.
    func numbered(_ number: Int) -> PlannedItem {
        guard number > 1 else { return self }
        let stem = account.hasSuffix(suffix) ? account.dropLast(suffix.count) : account[...]
        let words = [stem.hasSuffix(" ") && !suffix.isEmpty ? stem.dropLast() : stem, "(\(number))", suffix[...]]
        var copy = self
        copy.attributes[.account] = .string(words.filter { !$0.isEmpty }.joined(separator: " "))
        return copy
    }
}
