/// Where in a source something stands.
package enum SourcePlace: Sendable, Hashable, CustomStringConvertible {
    case line(Int)
    /// The how-manieth item, from 1.
    case item(Int)
    /// A file of a folder, or an item that is known by its path.
    case path(String)

    package var description: String {
        switch self {
        case .line(let number): "line \(number)"
        case .item(let number): "item \(number)"
        case .path(let path): path
        }
    }
}

/// One entry of a password manager, whatever wrote it.
package struct ImportedEntry: Sendable {
    package enum Kind: Sendable {
        /// Has a password or stands for a place where one is used.
        case login
        /// Text alone: notes, cards, identities.
        case note
    }

    package struct Attachment: Sendable {
        package let name: String
        package let content: SecretText
    }

    package let place: SourcePlace
    package internal(set) var kind = Kind.login
    package internal(set) var title = ""
    package internal(set) var account = ""
    /// As the source writes them; each is a place where the password is used.
    package internal(set) var addresses: [String] = []
    package internal(set) var password = SecretText()
    /// What the source calls notes, and every field that has no place of its own.
    package internal(set) var note = SecretText()
    package internal(set) var oneTimeSecrets: [SecretText] = []
    package internal(set) var attachments: [Attachment] = []
    package internal(set) var securityDomain = ""
    /// The folder or group that holds it.
    package internal(set) var folder = ""
    /// Seconds since 2001-01-01T00:00:00Z.
    package internal(set) var created: Double?

    init(_ place: SourcePlace) { self.place = place }
}

/// All that a source holds.
package struct ImportedDocument: Sendable {
    /// A part of the source that is not imported, and why.
    package struct Flaw: Sendable, Hashable {
        package let place: SourcePlace
        package let reason: String

        package init(_ place: SourcePlace, _ reason: String) {
            self.place = place
            self.reason = reason
        }
    }

    package let format: SourceFormat
    package internal(set) var entries: [ImportedEntry] = []
    /// Of a Secret Service alone.
    package internal(set) var serviceItems: [ServiceItem] = []
    package internal(set) var collections: [ServiceCollection] = []
    package internal(set) var flaws: [Flaw] = []
    package internal(set) var ledger = FieldLedger()

    init(_ format: SourceFormat) { self.format = format }

    mutating func name(_ place: SourcePlace, _ reason: String) { flaws.append(Flaw(place, reason)) }

    /// The same of an entry that has a title.
    mutating func name(_ place: SourcePlace, _ title: String, _ reason: String) {
        let shown = PrintableName.shown(title, atMost: 80)
        name(place, title.isEmpty ? reason : "\u{201c}\(shown)\u{201d}: \(reason)")
    }
}
