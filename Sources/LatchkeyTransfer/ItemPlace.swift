package import KeychainModel
package import LatchkeyCommand

/// What makes an item the one that it is: two items never have the same place.
package struct ItemPlace: Hashable, Sendable {
    package let kind: PasswordKind
    /// nil: the command line's own.
    package let group: AccessGroup?
    /// The uniqueness tuple without the group, as columns compare it: each part behind its length.
    private let parts: [UInt8]

    package init(_ kind: PasswordKind, _ attributes: AttributeMap, in group: AccessGroup? = nil) {
        (self.kind, self.group) = (kind, group)
        var parts: [UInt8] = []
        for attribute in kind.keyAttributes where attribute.code != .accessGroup {
            let value = attributes[attribute.code] ?? attribute.defaultValue
            let bytes = value?.comparisonBytes(as: attribute.kind) ?? []
            for shift in stride(from: 24, through: 0, by: -8) {
                parts.append(UInt8(truncatingIfNeeded: bytes.count >> shift))
            }
            parts += bytes
        }
        self.parts = parts
    }

    /// Names the item with these attributes and no other, also where an attribute
    /// has its default.
    static func query(_ kind: PasswordKind, _ attributes: AttributeMap) -> [(String, RawValue)] {
        kind.keyAttributes.filter { $0.code != .accessGroup }.compactMap { attribute in
            (attributes[attribute.code] ?? attribute.defaultValue).map { ("\(attribute.code)", RawValue($0)) }
        }
    }
}
