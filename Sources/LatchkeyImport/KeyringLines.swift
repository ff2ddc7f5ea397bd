internal import KeychainPlatform

/// Reads the lines of JSON that latchkey-secret-service writes of another keyring
/// (FORMATS.md, "Items of another keyring").
struct KeyringLines {
    private static let version = "1"

    private var document: ImportedDocument
    private var count = 0
    private var announced: Int?

    static func read(_ source: SourceText, _ format: SourceFormat) throws(ImportFailure) -> ImportedDocument {
        var reader = KeyringLines(document: ImportedDocument(format))
        var isFirst = true
        for range in source.lines {
            let line: JSONNode
            do throws(JSONNode.Flaw) { line = try JSONNode.parse(source.content, range) { _ in 1 } } catch {
                throw broken
            }
            if let failure = line["failure"] {
                throw ImportFailure(.unavailable, failure.text, line["advice"]?.text ?? "")
            }
            if isFirst { guard line["latchkey-keyring"]?.text == version else { throw broken } }
            isFirst = false
            guard reader.take(line) else { throw broken }
        }
        guard reader.announced == reader.count else { throw broken }
        return reader.document
    }

    private init(document: ImportedDocument) { self.document = document }

    private static let broken = ImportFailure(
        .unavailable, "latchkey-secret-service did not say all that it read",
        "Install the one that comes with this latchkey, then try again.")

    private mutating func take(_ line: JSONNode) -> Bool {
        guard let first = line.members.first else { return false }
        switch first.name {
        case "latchkey-keyring": return true
        case "collection":
            document.collections.append(
                ServiceCollection(
                    name: first.value.text, label: line["label"]?.text ?? "",
                    isDefault: line["isDefault"]?.isTrue ?? false))
        case "item": return takeItem(line)
        case "entry": return takeEntry(line)
        case "flaw": document.name(.path(first.value.text), line["reason"]?.text ?? "")
        case "leftOut":
            let why = FieldDestination.notStored(why: line["why"]?.text ?? "")
            for _ in 0..<min(UInt16(line["count"]?.text ?? "") ?? 0, 10_000) {
                document.ledger.note(first.value.text, why)
            }
        case "end": announced = Int(first.value.text)
        default: return false
        }
        return true
    }

    private mutating func takeItem(_ line: JSONNode) -> Bool {
        guard let collection = line["in"]?.text, let value = Self.value(line) else { return false }
        count += 1
        document.add(
            ServiceItem(
                place: .path("\(collection)/\(line["item"]?.text ?? "")"), collection: collection,
                label: line["label"]?.text ?? "",
                attributes: (line["attributes"]?.elements ?? []).map { pair in
                    (pair.elements.first?.text ?? "", pair.elements.last?.text ?? "")
                },
                contentType: line["contentType"]?.text ?? ServiceItem.plainText, value: value,
                created: SourceDate.seconds(UInt64(line["created"]?.text ?? "")),
                modified: SourceDate.seconds(UInt64(line["modified"]?.text ?? ""))))
        return true
    }

    private mutating func takeEntry(_ line: JSONNode) -> Bool {
        guard let value = Self.value(line), let name = line["entry"]?.text, let folder = line["folder"]?.text else {
            return false
        }
        count += 1
        let wallet = line["wallet"]?.text ?? ""
        let entry = WalletEntry(folder: wallet.isEmpty ? folder : "\(wallet)/\(folder)", name: name, value: value)
        entry.add(to: &document, isMap: line["kind"]?.text == "map")
        return true
    }

    private static func value(_ line: JSONNode) -> SecretText? {
        guard case .string(let slice)? = line["value"] else { return nil }
        return slice.base64.map { SecretText($0) }
    }
}
