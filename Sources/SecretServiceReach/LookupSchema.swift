package import KeychainModel

/// The lookup attribute that says what kind of item it is (libsecret, SecretSchema).
package enum LookupSchema {
    package static let attribute = "xdg:schema"
    /// What gnome-keyring calls an item that names no schema.
    package static let generic = "org.freedesktop.Secret.Generic"
}

extension LookupAttributes {
    /// The same with this schema where they name none; nil: there are too many then.
    package func withSchema(_ schema: String) -> LookupAttributes? {
        guard self[LookupSchema.attribute] == nil else { return self }
        return LookupAttributes(pairs + [Pair(name: LookupSchema.attribute, value: schema)])
    }
}
