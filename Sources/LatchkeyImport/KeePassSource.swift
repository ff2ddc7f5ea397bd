internal import KeychainPlatform

/// A KeePass database, opened by pykeepass or keepassxc-cli (``KeePassProgram``),
/// which say what is in it as JSON.
enum KeePassSource {
    private static let dataLimit = 1 << 30

    /// - Parameters:
    ///   - path: absolute.
    ///   - keyFile: what is in the key file; nil where there is none.
    static func read(
        _ path: String, password: borrowing SecretBytes, keyFile: SharedSecret?
    ) throws(ImportFailure) -> ImportedDocument {
        let python = try ImportTool(
            "python3", package: "python3 python3-pykeepass", at: ["/usr/bin/python3", "/usr/local/bin/python3"])
        let run = try python.run(
            ["-I", "-c", KeePassProgram.text, path, keyFile == nil ? "" : "key"], input: keys(password, keyFile),
            outputLimit: dataLimit)
        switch run.status {
        case 0: return read(try JSONNode.whole(SourceText(run.output.copy())))
        case 3:
            throw ImportFailure(
                .wrongSource, "the database does not open with this password and key file",
                "Try again; --key-file names the key file, where the database has one.")
        case 4:
            throw ImportFailure(
                .unavailable,
                "neither pykeepass nor keepassxc-cli is installed, and one of them has to open the database",
                "Install one: apt install python3-pykeepass, or apt install keepassxc")
        default:
            throw ImportFailure(
                .wrongSource, "the database cannot be read (\(run.complaint))",
                "Check it with KeePassXC; formats before KDBX 3.1 have to be converted first.")
        }
    }

    /// As ``KeePassProgram`` takes them.
    private static func keys(_ password: borrowing SecretBytes, _ keyFile: SharedSecret?) -> SecretBytes {
        let heading = "\(password.count)\n"
        var writer = SecretWriter(
            byteCount: heading.utf8.count + password.count + (keyFile.map { $0.bytes.count } ?? 0))
        writer.append(heading)
        writer.append(password)
        if let keyFile { writer.append(keyFile.bytes) }
        return writer.finish()
    }

    static func read(_ root: JSONNode) -> ImportedDocument {
        var document = ImportedDocument(.keePass)
        for item in root["entries"]?.elements ?? [] {
            let names = (item["group"]?.elements ?? []).map(\.text)
            let title = fields(item).first { $0.name == "Title" }?.value.text ?? ""
            let place = SourcePlace.path((names + [title.isEmpty ? "(no title)" : title]).joined(separator: "/"))
            guard item["recycled"]?.isTrue != true else {
                document.name(place, "it lies in the recycle bin")
                continue
            }
            document.add(place) { entry in take(item, folder: names.joined(separator: "/"), &entry) }
        }
        return document
    }

    private static func fields(_ item: JSONNode) -> [KeePassField] {
        (item["fields"]?.elements ?? []).map { KeePassField($0) }
    }

    private static func take(_ item: JSONNode, folder: String, _ entry: inout EntryBuilder) {
        entry.take("group", SecretText(folder), as: .folder)
        let all = fields(item)
        let places: Set = ["Password", "UserName", "URL"]
        if !all.contains(where: { places.contains($0.name) && !$0.value.isEmpty }) { entry.become(.note) }
        let codes = OneTimeFields(all)
        for field in all where !codes.names.contains(field.name) { take(field.name, field.value, &entry) }
        for (name, value) in codes.found { entry.take(name, value, as: .oneTimeSecret) }
        for reason in codes.reasons { entry.name(reason) }
        if all.contains(where: { $0.name.hasPrefix("KPEX_PASSKEY_") }) {
            entry.name("its passkey lies in the note, where no program uses it; keep the database, or make another")
        }
        for field in all where field.isDangling {
            let name = PrintableName.shown(field.name)
            entry.name("its field \(name) refers to what cannot be found; the reference itself is stored")
        }
        if let created = item["created"]?.secretText {
            entry.take(created: "created", SourceDate.iso(created), written: created)
        }
        for file in item["files"]?.elements ?? [] {
            guard case .string(let data)? = file["data"] else { continue }
            entry.take(
                attachment: file["name"]?.text ?? "file", SecretText(TextSlice(data.owner, data.range, .base64)),
                field: "attachments")
        }
        for other in item["others"]?.elements ?? [] {
            entry.take(other.text, SecretText("…"), as: .notStored(why: why(other.text)))
        }
    }

    private static func why(_ name: String) -> String {
        switch name {
        case "history": "an item has no former values"
        case "expiry": "an item has no date of expiry"
        case "LastModificationTime": "the keychain sets the date of change itself"
        case "attachments": "keepassxc-cli leaves them out; pykeepass (Debian: python3-pykeepass) gives them"
        default: "a setting of the program's own"
        }
    }

    private static func take(_ name: String, _ value: SecretText, _ entry: inout EntryBuilder) {
        switch name {
        case "Title": entry.take(name, value, as: .label)
        case "UserName": entry.take(name, value, as: .account)
        case "Password": entry.take(name, value, as: .value)
        case "URL": entry.take(name, value, as: .address)
        case "Notes": entry.take(notes: name, value)
        case let name where name.hasPrefix("KP2A_URL"): entry.take("KP2A_URL", value, as: .address)
        default: entry.take(line: name, of: "custom fields", value)
        }
    }
}

/// A field as ``KeePassProgram`` gives it.
struct KeePassField {
    let name: String
    let value: SecretText
    /// Its value in base32, where it is the secret of one-time codes.
    let seed: SecretText?
    /// Whether a reference to another entry is left in it.
    let isDangling: Bool

    init(_ field: JSONNode) {
        name = field["name"]?.text ?? ""
        value = field["value"]?.secretText ?? SecretText()
        seed = field["seed"]?.secretText
        isDangling = field["dangling"]?.isTrue ?? false
    }
}
