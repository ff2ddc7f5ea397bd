internal import KeychainPlatform

/// An entry of KWallet. Programs of KDE find theirs by KWallet's own interface, so here it
/// becomes what a person finds: a generic password whose service is the folder and whose
/// account is the entry's name; of a map each field one, with its name behind the entry's.
struct WalletEntry {
    /// Behind the wallet's name where it is not the one of all programs.
    let folder: String
    let name: String
    let value: SecretText

    private var place: SourcePlace { .path("\(folder)/\(name)") }

    func add(to document: inout ImportedDocument, isMap: Bool) {
        guard isMap else { return add(name, value, "entry", to: &document) }
        do throws(KeyringBytes.Malformed) {
            let fields = try WalletMap.fields(SharedSecret(value.secret()))
            if fields.isEmpty { document.ledger.note("maps", .notStored(why: "there is nothing in them")) }
            for field in fields { add("\(name) (\(field.name))", field.value, "field of a map", to: &document) }
        } catch {
            document.name(place, "this map cannot be read")
        }
    }

    private func add(_ account: String, _ value: SecretText, _ field: String, to document: inout ImportedDocument) {
        let title = folder.isEmpty ? "KWallet" : folder
        document.add(place) { entry in
            entry.take("folder", SecretText(title), as: .label)
            entry.take("name", SecretText(account), as: .account)
            entry.take(field, value, as: .value)
        }
    }
}

/// A QMap of QString to QString as QDataStream writes it (Qt 5.15, "Serializing Qt Data
/// Types"): the number of pairs, then key and value, each the number of its bytes and its
/// UTF-16, all big-endian; a null string's number is all ones.
enum WalletMap {
    static func fields(_ content: SharedSecret) throws(KeyringBytes.Malformed) -> [(name: String, value: SecretText)] {
        // An entry that was never written holds nothing.
        guard content.bytes.count > 0 else { return [] }
        var bytes = KeyringBytes(content)
        var found: [(name: String, value: SecretText)] = []
        for _ in 0..<(try bytes.uint32()) {
            let name = try text(&bytes)
            found.append((name.text, try text(&bytes)))
        }
        guard bytes.left == 0 else { throw KeyringBytes.Malformed() }
        return found.sorted { $0.name < $1.name }
    }

    private static func text(_ bytes: inout KeyringBytes) throws(KeyringBytes.Malformed) -> SecretText {
        guard let range = try bytes.bytes() else { return SecretText() }
        // With its byte-order mark it is a text as sources are.
        var writer = SecretWriter(byteCount: range.count + 2)
        for byte: UInt8 in [0xfe, 0xff] { writer.append(byte) }
        writer.append(bytes.content.bytes.copy(range))
        let text = SourceText(writer.finish())
        guard text.content.bytes.isUTF8 else { throw KeyringBytes.Malformed() }
        return SecretText(TextSlice(text.content, 0..<text.count))
    }
}
