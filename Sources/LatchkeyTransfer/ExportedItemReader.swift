internal import KeychainModel
internal import KeychainPlatform
internal import LatchkeyCommand
package import LatchkeyImport

/// Reads the lines of an export. A line that cannot be read is named by its
/// number; the others are not lost.
package struct ExportReader {
    package private(set) var items: [PlannedItem] = []
    package private(set) var flaws: [ImportedDocument.Flaw] = []
    package private(set) var ledger = FieldLedger()
    /// How many items the last line speaks of; nil: it has not come.
    private var announced: Int?

    /// - Throws: where the heading is none of ours or of a newer version.
    package static func read(_ source: SourceText) throws(ImportFailure) -> ExportReader {
        var reader = ExportReader()
        var number = 0
        for range in source.lines {
            number += 1
            let node: JSONNode
            do throws(JSONNode.Flaw) {
                let line = number
                node = try JSONNode.parse(source.content, range) { _ in line }
            } catch {
                reader.flaws.append(.init(.line(number), error.reason.rawValue))
                continue
            }
            if number == 1 { try check(heading: node) } else { reader.take(node, .line(number)) }
        }
        reader.checkEnd(.line(number))
        return reader
    }

    /// A whole file, encrypted or in the clear.
    static func open(
        _ file: consuming SecretBytes, passphrase: () throws(ImportFailure) -> SecretBytes
    ) throws(ImportFailure) -> ExportReader {
        guard (0..<min(8, file.count)).map({ file[$0] }) == SourceContent.encryptedMark else {
            return try read(SourceText(file))
        }
        return try read(SourceText(try ExportFile.open(file, passphrase: passphrase)))
    }

    private static func check(heading: JSONNode) throws(ImportFailure) {
        guard case .number(let version)? = heading["latchkey-export"] else {
            throw ImportFailure(
                .wrongSource, "this is no file of `latchkey export`", "Give the file as it was written.")
        }
        guard version == "\(ExportLine.version)" else {
            throw ImportFailure(
                .wrongSource, "the export has version \(PrintableText.escaped(version)), and this program knows 1",
                "Install the newer Latchkey.")
        }
    }

    private mutating func take(_ node: JSONNode, _ place: SourcePlace) {
        if case .number(let count)? = node["items"] {
            announced = Int(count)
            return
        }
        guard let item = item(node, place) else {
            flaws.append(.init(place, "this is no item"))
            return
        }
        items.append(item)
    }

    private mutating func checkEnd(_ place: SourcePlace) {
        guard announced != items.count else { return }
        let expected = announced.map { "\($0) items were written and \(items.count) can be read" }
        flaws.append(.init(place, expected ?? "the end of the file is missing"))
    }

    // MARK: An item

    private mutating func item(_ node: JSONNode, _ place: SourcePlace) -> PlannedItem? {
        guard let kind = PasswordKind.allCases.first(where: { $0.itemClass.rawValue == node["class"]?.text }),
            case .object(let members)? = node["attributes"]
        else { return nil }
        var attributes = AttributeMap()
        for member in members {
            guard let code = AttributeCode(member.name), let attribute = Schema.of(kind.itemClass)[code],
                ExportLine.isKept(attribute)
            else {
                ledger.note(PrintableText.escaped(member.name), .notStored(why: "this version does not know it"))
                continue
            }
            guard let value = Self.value(member.value) else { return nil }
            attributes[code] = value
        }
        if node["group"] != nil {
            ledger.note("group", .notStored(why: "an import stores everything in the command line's own group"))
        }
        var value: SecretText?
        if let written = node["value"] {
            guard case .string(let slice) = written, let data = slice.base64 else { return nil }
            value = SecretText(data)
        }
        return PlannedItem(
            kind: kind, attributes: attributes, value: value, role: .value, origin: place,
            created: node["created"].flatMap(Self.date), modified: node["modified"].flatMap(Self.date))
    }

    private static func date(_ node: JSONNode) -> Double? {
        if case .date(let seconds)? = value(node) { seconds } else { nil }
    }

    private static func value(_ node: JSONNode) -> AttributeValue? {
        guard let member = node.members.first, node.members.count == 1 else { return nil }
        switch (member.name, member.value) {
        case ("text", .string(let slice)): return .string(SecretText(slice).text)
        case ("data", .string(let slice)): return slice.base64.map { .data(SecretText($0).secret().insecureArray()) }
        case ("number", .number(let digits)): return Int64(digits).map { .integer($0) }
        case ("real", .string(let slice)): return Double(SecretText(slice).text).map { .real($0) }
        case ("date", .string(let slice)):
            guard let seconds = Double(SecretText(slice).text), seconds.isFinite else { return nil }
            return .date(seconds)
        default: return nil
        }
    }
}
