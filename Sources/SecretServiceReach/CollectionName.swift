package import KeychainModel

/// A collection of the Secret Service by its name, as it stands in its object's path
/// (FORMATS.md, "Items of the Secret Service").
package enum CollectionName {
    /// What programs find without asking for anything. Its group is the command line's:
    /// `latchkey get` finds what they store, and they what `latchkey set` stores.
    package static let login = "login"
    /// In the service's memory alone, and gone with it.
    package static let session = "session"

    /// The service of the items of the group "secret-service" that say which collections
    /// there are.
    package static let service = "org.freedesktop.Secret.Collection"

    package static func group(of name: String) -> AccessGroup {
        name == login ? .latchkey : AccessGroup("\(AccessGroup.secretService.name).\(name)")
    }

    package static func isElement(_ text: String) -> Bool {
        !text.isEmpty && text.unicodeScalars.allSatisfy { isKept($0) || $0 == "_" }
    }

    private static func isKept(_ scalar: UnicodeScalar) -> Bool {
        scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
    }

    /// Bytes that an element of a path cannot have stand as "_" and two hex digits, as
    /// gnome-keyring writes them.
    package static func element(_ text: String) -> String {
        text.utf8.map { byte in
            let scalar = UnicodeScalar(byte)
            return isKept(scalar) ? String(scalar) : "_" + HexText.of([byte])
        }.joined()
    }
}
