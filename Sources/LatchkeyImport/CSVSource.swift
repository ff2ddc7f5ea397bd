internal import KeychainPlatform

/// The password managers that write CSV.
enum CSVSource {
    static func read(_ source: SourceText, as format: SourceFormat?) throws(ImportFailure) -> ImportedDocument {
        try CSVDelimiter.check(source)
        var reader = CSVReader(source)
        let columns = try heading(&reader)
        let names = columns.map { $0.lowercased() }
        let layout: CSVLayout
        if let format, let named = try CSVLayout.named(format, names) {
            layout = named
        } else {
            layout = try CSVLayout.detect(names)
        }
        let folders = unmarkedFolders(source, names, layout)
        var document = ImportedDocument(layout.format)
        while let record = reader.next() {
            switch record {
            case .malformed(let line, let flaw): document.name(.line(line), flaw.rawValue)
            case .fields(let fields, let line):
                guard fields.count == columns.count else {
                    document.name(.line(line), "\(fields.count) fields where the heading has \(columns.count)")
                    continue
                }
                // Commas alone, as table programs write the lines below what was typed.
                guard fields.contains(where: { !$0.isEmpty }) else { continue }
                if let column = folder(fields, names, layout) ?? unmarkedFolder(fields, names, folders) {
                    document.ledger.note(columns[column], .notStored(why: "a folder of its own"))
                } else {
                    document.add(.line(line)) { entry in take(fields, columns, layout, &entry) }
                }
            }
        }
        return document
    }

    /// - Parameter mayName: whether the first line may name the delimiter.
    private static func heading(
        _ reader: inout CSVReader, mayName: Bool = true
    ) throws(ImportFailure) -> [String] {
        switch reader.next() {
        case .fields(let fields, _):
            let columns = fields.map { SecretText($0).text.trimmed }
            return mayName && CSVDelimiter.isLine(columns) ? try heading(&reader, mayName: false) : columns
        case .malformed(let line, let flaw):
            throw ImportFailure(
                .wrongSource, "the heading (line \(line)) cannot be read: \(flaw.rawValue)",
                "Give a CSV file whose first line names its columns.")
        case nil:
            throw ImportFailure(.wrongSource, "the source is empty", "Give the file that the other program exported.")
        }
    }

    /// The column that says that a row is a folder and no entry.
    private static func folder(_ fields: [TextSlice], _ names: [String], _ layout: CSVLayout) -> Int? {
        let (name, mark): (String, String)
        switch layout.format {
        case .nordPass: (name, mark) = ("type", "folder")
        case .lastPass: (name, mark) = ("url", "http://group")
        default: return nil
        }
        return names.firstIndex(of: name).flatMap { SecretText(fields[$0]).text == mark ? $0 : nil }
    }

    /// Folders that entries lie in, where no column says which rows are folders: in older exports of
    /// NordPass.
    private static func unmarkedFolders(_ source: SourceText, _ names: [String], _ layout: CSVLayout) -> Set<String> {
        guard case .nordPass = layout.format, !names.contains("type"), let column = names.firstIndex(of: "folder")
        else { return [] }
        var found: Set<String> = []
        var (reader, isBelowHeading) = (CSVReader(source), false)
        while let record = reader.next() {
            guard case .fields(let fields, _) = record, fields.count == names.count else { continue }
            if isBelowHeading, !fields[column].isEmpty { found.insert(SecretText(fields[column]).text) }
            isBelowHeading = true
        }
        return found
    }

    /// The column with the name of a row that has nothing else, where entries lie in a folder of that
    /// name.
    private static func unmarkedFolder(_ fields: [TextSlice], _ names: [String], _ folders: Set<String>) -> Int? {
        guard !folders.isEmpty, let column = names.firstIndex(of: "name"),
            fields.indices.allSatisfy({ fields[$0].isEmpty == ($0 != column) }),
            folders.contains(SecretText(fields[column]).text)
        else { return nil }
        return column
    }

    private static func take(
        _ fields: [TextSlice], _ columns: [String], _ layout: CSVLayout, _ entry: inout EntryBuilder
    ) {
        var seen: Set<String> = []
        var late: [(column: String, value: SecretText, known: FieldDestination?)] = []
        for (column, field) in zip(columns, fields) where !field.isEmpty {
            let name = column.lowercased()
            let written = SecretText(field)
            let value = layout.encoded.contains(name) ? HTMLText.decoded(written) : written
            if layout.destination(of: name) == .value, value.secret().count != written.secret().count {
                entry.name("characters of HTML (&amp; and others) were turned back in its password")
            }
            // A column that we do not know, or that is there twice, is a line of the note.
            let known = seen.insert(name).inserted ? layout.destination(of: name) : nil
            if layout.late.contains(name) {
                late.append((column, value, known))
            } else {
                take(column, value, known, layout, &entry)
            }
        }
        for (column, value, known) in late { take(column, value, known, layout, &entry) }
    }

    private static func take(
        _ column: String, _ value: SecretText, _ known: FieldDestination?, _ layout: CSVLayout,
        _ entry: inout EntryBuilder
    ) {
        switch known {
        case .kind: takeKind(column, value, &entry)
        case .note: entry.take(notes: column, value)
        case .creationDate: entry.take(created: column, date(value, layout.dates), written: value)
        case .address: takeAddress(column, value, layout, &entry)
        case .some(let destination): entry.take(column, value, as: destination)
        case nil where layout.format == .nordPass && column.lowercased() == "custom_fields":
            takeCustomFields(column, value, &entry)
        case nil: entry.take(column, value, as: .note)
        }
    }

    private static func date(_ value: SecretText, _ dates: CSVLayout.Dates) -> Double? {
        switch dates {
        case .milliseconds: SourceDate.milliseconds(value)
        case .seconds: SourceDate.seconds(value)
        case .iso: SourceDate.iso(value)
        }
    }

    private static func takeKind(_ column: String, _ value: SecretText, _ entry: inout EntryBuilder) {
        entry.take(column, value, as: .kind)
        if !["login", "password"].contains(value.text) { entry.become(.note) }
    }

    private static func takeAddress(
        _ column: String, _ value: SecretText, _ layout: CSVLayout, _ entry: inout EntryBuilder
    ) {
        switch layout.addresses {
        case .joinedWithCommas: takeAddresses(column, value, &entry)
        case .furtherInJSON where column.lowercased() != "url":
            guard case .array(let further)? = json(value) else { return entry.take(column, value, as: .address) }
            for address in further { entry.take(column, address, as: .address) }
        case .one where layout.format == .lastPass && value.text == "http://sn":
            entry.take(column, value, as: .kind)
            entry.become(.note)
        case .one, .furtherInJSON: entry.take(column, value, as: .address)
        }
    }

    /// NordPass: `[{"type": …, "label": …, "value": …}]`.
    private static func takeCustomFields(_ column: String, _ value: SecretText, _ entry: inout EntryBuilder) {
        guard case .array(let fields)? = json(value) else { return entry.take(column, value, as: .note) }
        for field in fields {
            let label = field["label"]?.text ?? ""
            entry.take(leaves: field["value"] ?? field, of: column, as: label.isEmpty ? "field" : label)
        }
    }

    /// nil: it is text as it stands.
    private static func json(_ value: SecretText) -> JSONNode? {
        do throws(JSONNode.Flaw) { return try JSONNode.parse(SourceText(value.secret())) } catch { return nil }
    }

    /// Bitwarden joins several addresses of one login with commas; a comma before
    /// what is no address of its own belongs to the address.
    private static func takeAddresses(_ column: String, _ value: SecretText, _ entry: inout EntryBuilder) {
        var addresses: [String] = []
        for part in value.text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            let stands = part.contains("://") || SiteAddress(part.trimmed) != nil
            if let last = addresses.last, !stands {
                addresses[addresses.count - 1] = last + "," + part
            } else {
                addresses.append(part)
            }
        }
        for address in addresses { entry.take(column, SecretText(address.trimmed), as: .address) }
    }
}

extension String {
    /// Without blanks at its ends.
    var trimmed: String {
        // Nearly all have none, and are handed on as they are.
        guard let first, let last, first.isWhitespace || last.isWhitespace else { return self }
        let rest = drop { $0.isWhitespace }
        guard let end = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(rest[...end])
    }
}
