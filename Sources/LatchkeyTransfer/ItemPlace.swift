package import KeychainModel
package import LatchkeyCommand

/// What makes an item the one that it is: two items never have the same place.
package struct ItemPlace: Hashable, Sendable {
    package let kind: PasswordKind
    /// nil: the command line's own.
    package let group: AccessGroup?
    /// The uniqueness tuple without the group, as columns compare it.
    private let parts: [[UInt8]]

    package init(_ kind: PasswordKind, _ attributes: AttributeMap, in group: AccessGroup? = nil) {
        (self.kind, self.group) = (kind, group)
        parts = Self.codes(kind).map { attribute in
            let value = attributes[attribute.code] ?? attribute.defaultValue
            return value?.comparisonBytes(as: attribute.kind) ?? []
        }
    }

    private static func codes(_ kind: PasswordKind) -> [SchemaAttribute] {
        kind.keyAttributes.filter { $0.code != .accessGroup }
    }

    /// Names the item with these attributes and no other, also where an attribute
    /// has its default.
    static func query(_ kind: PasswordKind, _ attributes: AttributeMap) -> [(String, RawValue)] {
        codes(kind).compactMap { attribute in
            (attributes[attribute.code] ?? attribute.defaultValue).map { ("\(attribute.code)", RawValue($0)) }
        }
    }
}
