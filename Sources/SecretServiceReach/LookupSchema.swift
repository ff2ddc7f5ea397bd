package import KeychainModel

/// The lookup attribute that says what kind of item it is (libsecret, SecretSchema).
package enum LookupSchema {
    package static let attribute = "xdg:schema"
    /// What gnome-keyring calls an item that names no schema.
    package static let generic = "org.freedesktop.Secret.Generic"
    /// libsecret's SECRET_SCHEMA_COMPAT_NETWORK: GVfs, and git-credential-libsecret before git 2.42.
    package static let network = "org.gnome.keyring.NetworkPassword"
    /// git-credential-libsecret's own since git 2.42, with the same attributes, for which it looks
    /// whatever the schema (SECRET_SCHEMA_DONT_MATCH_NAME).
    package static let git = "org.git.Password"
}

extension LookupAttributes {
    /// The same as another version of git-credential-libsecret says it; nil where it is of none.
    package var underOtherSchemaOfGit: LookupAttributes? {
        let other: String
        switch self[LookupSchema.attribute] {
        case LookupSchema.network: other = LookupSchema.git
        case LookupSchema.git: other = LookupSchema.network
        default: return nil
        }
        let rest = pairs.filter { $0.name != LookupSchema.attribute }
        return LookupAttributes(rest)?.withSchema(other)
    }

    /// The same with this schema where they name none; nil: there are too many then.
    package func withSchema(_ schema: String) -> LookupAttributes? {
        guard self[LookupSchema.attribute] == nil else { return self }
        return LookupAttributes(pairs + [Pair(name: LookupSchema.attribute, value: schema)])
    }
}
