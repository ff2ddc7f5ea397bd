internal import KeychainPlatform

/// A KeePass database, opened by pykeepass or keepassxc-cli (``KeePassProgram``),
/// which say what is in it as JSON.
enum KeePassSource {
    private static let dataLimit = 1 << 30

    /// - Parameters:
    ///   - path: absolute.
    ///   - keyFile: the path of a key file, or nil where there is none.
    static func read(
        _ path: String, password: borrowing SecretBytes, keyFile: String?
    ) throws(ImportFailure) -> ImportedDocument {
        let python = try ImportTool(
            "python3", package: "python3 python3-pykeepass", at: ["/usr/bin/python3", "/usr/local/bin/python3"])
        let run = try python.run(
            ["-I", "-c", KeePassProgram.text, path, keyFile ?? ""], input: password, outputLimit: dataLimit)
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

    private static func fields(_ item: JSONNode) -> [(name: String, value: SecretText)] {
        (item["fields"]?.elements ?? []).map { field in
            (field["name"]?.text ?? "", field["value"]?.secretText ?? SecretText())
        }
    }

    private static func take(_ item: JSONNode, folder: String, _ entry: inout EntryBuilder) {
        entry.take("group", SecretText(folder), as: .folder)
        let all = fields(item)
        let password = all.first { $0.name == "Password" }?.value ?? SecretText()
        let user = all.first { $0.name == "UserName" }?.value ?? SecretText()
        if password.isEmpty, user.isEmpty, all.first(where: { $0.name == "URL" })?.value.isEmpty != false {
            entry.become(.note)
        }
        let seeds = OneTimeFields(all)
        for (name, value) in all where !seeds.names.contains(name) { take(name, value, &entry) }
        for (name, value) in seeds.found { entry.take(name, value, as: .oneTimeSecret) }
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

/// One-time secrets in the fields of an entry, as KeePassXC (`otp`), KeePass 2.47
/// (`TimeOtp-…`) and KeeTrayTOTP (`TOTP Seed`, `TOTP Settings`) write them.
struct OneTimeFields {
    /// Each with the name of the field that holds its secret.
    private(set) var found: [(name: String, value: SecretText)] = []
    /// The fields that are part of one of them.
    private(set) var names: Set<String> = []

    init(_ fields: [(name: String, value: SecretText)]) {
        func field(_ name: String) -> SecretText? { fields.first { $0.name == name && !$0.value.isEmpty }?.value }
        if let otp = field("otp") { add("otp", otp, []) }
        if let seed = field("TimeOtp-Secret-Base32") {
            add(
                "TimeOtp-Secret-Base32",
                Self.address(
                    seed, period: field("TimeOtp-Period"), digits: field("TimeOtp-Length"),
                    algorithm: field("TimeOtp-Algorithm")),
                ["TimeOtp-Period", "TimeOtp-Length", "TimeOtp-Algorithm"])
        }
        if let seed = field("TOTP Seed"), let parts = Self.settings(field("TOTP Settings")) {
            add(
                "TOTP Seed", Self.address(seed, period: parts.period, digits: parts.digits, algorithm: nil),
                ["TOTP Settings"])
        }
    }

    private mutating func add(_ name: String, _ value: SecretText, _ others: [String]) {
        found.append((name, value))
        names.formUnion([name] + others)
    }

    /// "30;6". Anything else (Steam's alphabet) stays a line of the note.
    private static func settings(_ text: SecretText?) -> (period: SecretText?, digits: SecretText?)? {
        guard let text else { return (nil, nil) }
        let parts = text.text.split(separator: ";")
        guard parts.count == 2, parts.allSatisfy({ UInt16($0) != nil }) else { return nil }
        return (SecretText(String(parts[0])), SecretText(String(parts[1])))
    }

    /// The form that every program takes (Google Authenticator, "Key URI Format").
    private static func address(
        _ seed: SecretText, period: SecretText?, digits: SecretText?, algorithm: SecretText?
    ) -> SecretText {
        var whole = SecretText("otpauth://totp/?secret=")
        whole.append(seed)
        if let period { whole.append("&period=\(period.text)") }
        if let digits { whole.append("&digits=\(digits.text)") }
        if let algorithm {
            whole.append("&algorithm=\(algorithm.text.replacing("HMAC-", with: "").replacing("-", with: ""))")
        }
        return whole
    }
}
