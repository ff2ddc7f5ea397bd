internal import KeychainPlatform

/// The password managers that write CSV.
enum CSVSource {
    static func read(_ source: SourceText, as format: SourceFormat?) throws(ImportFailure) -> ImportedDocument {
        var reader = CSVReader(source)
        let columns = try heading(&reader)
        let names = columns.map { $0.lowercased() }
        let layout: CSVLayout
        if let format, let named = try CSVLayout.named(format, names) {
            layout = named
        } else {
            layout = try CSVLayout.detect(names)
        }
        var document = ImportedDocument(layout.format)
        while let record = reader.next() {
            switch record {
            case .malformed(let line, let flaw): document.name(.line(line), flaw.rawValue)
            case .fields(let fields, let line):
                guard fields.count == columns.count else {
                    document.name(.line(line), "\(fields.count) fields where the heading has \(columns.count)")
                    continue
                }
                document.add(.line(line)) { entry in take(fields, columns, layout, &entry) }
            }
        }
        return document
    }

    private static func heading(_ reader: inout CSVReader) throws(ImportFailure) -> [String] {
        switch reader.next() {
        case .fields(let fields, _):
            return fields.map { SecretText($0).text.trimmed }
        case .malformed(let line, let flaw):
            throw ImportFailure(
                .wrongSource, "the heading (line \(line)) cannot be read: \(flaw.rawValue)",
                "Give a CSV file whose first line names its columns.")
        case nil:
            throw ImportFailure(.wrongSource, "the source is empty", "Give the file that the other program exported.")
        }
    }

    private static func take(
        _ fields: [TextSlice], _ columns: [String], _ layout: CSVLayout, _ entry: inout EntryBuilder
    ) {
        var seen: Set<String> = []
        for (column, field) in zip(columns, fields) {
            let name = column.lowercased()
            let value = SecretText(field)
            // A column that we do not know, or that is there twice, is a line of the note.
            let known = seen.insert(name).inserted ? layout.destination(of: name) : nil
            switch known {
            case .kind: takeKind(column, value, &entry)
            case .note: entry.take(notes: column, value)
            case .creationDate: entry.take(created: column, SourceDate.milliseconds(value), written: value)
            case .address where layout.format == .bitwardenCSV: takeAddresses(column, value, &entry)
            case .some(let destination): entry.take(column, value, as: destination)
            case nil: entry.take(column, value, as: .note)
            }
        }
    }

    private static func takeKind(_ column: String, _ value: SecretText, _ entry: inout EntryBuilder) {
        entry.take(column, value, as: .kind)
        if value.text == "note" { entry.become(.note) }
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
        let rest = drop { $0.isWhitespace }
        return String(rest.reversed().drop { $0.isWhitespace }.reversed())
    }
}
