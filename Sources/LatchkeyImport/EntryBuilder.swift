/// Puts an entry together field by field; each that holds something gets its
/// line in the ledger.
struct EntryBuilder {
    static let passkey = "its passkey is not stored; keep it where it is, or make another"

    private(set) var entry: ImportedEntry
    private(set) var ledger: FieldLedger
    /// Fields without a place of their own: lines of the note.
    private var lines: [(name: String, value: SecretText)] = []
    /// What a person has to know of the entry before the source is removed.
    private var reasons: [String] = []

    init(_ place: SourcePlace, _ ledger: FieldLedger) {
        entry = ImportedEntry(place)
        self.ledger = ledger
    }

    /// Names the entry in the report.
    mutating func name(_ reason: String) { reasons.append(reason) }

    mutating func become(_ kind: ImportedEntry.Kind) { entry.kind = kind }

    /// Takes a field. What may stand once and comes a second time becomes a line of the note.
    mutating func take(_ field: String, _ value: SecretText, as destination: FieldDestination) {
        guard !value.isEmpty else { return }
        let place = isTaken(destination) ? .note : destination
        ledger.note(field, place)
        switch place {
        case .value: entry.password = value
        case .account: entry.account = value.text
        case .label: entry.title = value.text
        case .address: takeAddress(value.text.trimmed)
        case .oneTimeSecret: entry.oneTimeSecrets.append(value)
        case .securityDomain: entry.securityDomain = value.text
        case .folder: entry.folder = value.text
        case .note: lines.append((field, value))
        case .creationDate, .modificationDate, .attachment, .kind, .lookupAttributes, .contentType, .group, .notStored:
            break
        }
    }

    private mutating func takeAddress(_ address: String) {
        if !address.isEmpty { entry.addresses.append(address) }
    }

    private func isTaken(_ destination: FieldDestination) -> Bool {
        switch destination {
        case .value: !entry.password.isEmpty
        case .account: !entry.account.isEmpty
        case .label: !entry.title.isEmpty
        case .securityDomain: !entry.securityDomain.isEmpty
        case .folder: !entry.folder.isEmpty
        case .address, .note, .oneTimeSecret, .creationDate, .modificationDate, .attachment, .kind, .lookupAttributes,
            .contentType, .group, .notStored:
            false
        }
    }

    /// The entry's own notes: text without a name before it.
    mutating func take(notes field: String, _ value: SecretText) {
        guard !value.isEmpty else { return }
        ledger.note(field, .note)
        if !entry.note.isEmpty { entry.note.append("\n\n") }
        entry.note.append(value)
    }

    /// A field with a name of the user's own: a line of the note, counted under `field`.
    mutating func take(line name: String, of field: String, _ value: SecretText) {
        guard !value.isEmpty else { return }
        ledger.note(field, .note)
        lines.append((name, value))
    }

    mutating func take(attachment name: String, _ content: SecretText, field: String) {
        ledger.note(field, .attachment)
        entry.attachments.append(ImportedEntry.Attachment(name: name, content: content))
    }

    /// A date as seconds since 2001; one that cannot be read is named.
    mutating func take(created field: String, _ seconds: Double?, written: SecretText) {
        guard !written.isEmpty else { return }
        ledger.note(field, seconds == nil ? .notStored(why: "no date that can be read") : .creationDate)
        entry.created = seconds
    }

    /// The whole entry, its note composed, and what has to be said of it.
    consuming func finish() -> (ImportedEntry, FieldLedger, reasons: [String]) {
        let lacksPlaces = entry.password.isEmpty && !isBare
        if entry.password.isEmpty, isBare {
            ledger.note("nothing but a name", .notStored(why: "an empty value stands under it"))
        } else if entry.password.isEmpty, entry.kind == .login {
            reasons.append("it has no password; what else it has is stored")
        }
        // Without a password the entry stands at one address alone: at the first of a site.
        keepAddresses(besides: lacksPlaces ? entry.addresses.firstIndex { SiteAddress($0) != nil } ?? 0 : nil)
        composeNote()
        return (entry, ledger, reasons)
    }

    /// Makes lines of the addresses that lose something by being taken apart, and of
    /// those that have no place.
    ///
    /// - Parameter only: the one that has; nil: each has.
    private mutating func keepAddresses(besides only: Int?) {
        for (index, address) in entry.addresses.enumerated() {
            if !SiteAddress.keepsWhole(address) {
                // A query may hold a secret, so the whole of it is a value, not an attribute.
                ledger.note("addresses with a user, query, fragment or impossible port, as a whole", .note)
                lines.append(("URL", SecretText(address)))
            } else if let only, index != only {
                ledger.note("further addresses of what has no password", .note)
                lines.append(("URL", SecretText(address)))
            }
        }
    }

    private mutating func composeNote() {
        guard !lines.isEmpty else { return }
        if !entry.note.isEmpty { entry.note.append("\n\n") }
        for (index, line) in lines.enumerated() {
            entry.note.append((index == 0 ? "" : "\n") + line.name + ": ")
            entry.note.append(line.value)
        }
    }

    /// Whether there is nothing that would be stored beside a password.
    private var isBare: Bool {
        entry.note.isEmpty && lines.isEmpty && entry.oneTimeSecrets.isEmpty && entry.attachments.isEmpty
            && entry.addresses.allSatisfy { SiteAddress.keepsWhole($0) }
    }
}

extension ImportedDocument {
    /// Adds an entry that `body` fills.
    mutating func add(_ place: SourcePlace, _ body: (inout EntryBuilder) -> Void) {
        var builder = EntryBuilder(place, ledger)
        body(&builder)
        let (entry, ledger, reasons) = builder.finish()
        entries.append(entry)
        self.ledger = ledger
        // A path ends with the title.
        if case .path = place { return reasons.forEach { name(place, $0) } }
        for reason in reasons { name(place, entry.title, reason) }
    }
}
