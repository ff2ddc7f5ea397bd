internal import KeychainPlatform

/// 1Password's unencrypted export (support.1password.com/1pux-format): accounts,
/// vaults, items. Files are fetched from the archive as they are met.
struct OnePasswordSource {
    /// The content of a document of the archive, or why it cannot be had.
    typealias Files = (_ documentID: String) -> Result<SharedSecret, ImportFailure>

    private let files: Files
    private var document = ImportedDocument(.onePassword)
    private var count = 0

    static func read(_ root: JSONNode, files: Files) throws(ImportFailure) -> ImportedDocument {
        guard case .onePassword = JSONExport(root), case .array(let accounts)? = root["accounts"] else {
            throw ImportFailure(
                .wrongSource, "export.data of a 1PUX file has accounts of vaults, this has none", "Export it anew.")
        }
        return withoutActuallyEscaping(files) { files in
            var source = OnePasswordSource(files: files)
            for account in accounts { source.take(account: account) }
            return source.document
        }
    }

    private init(files: @escaping Files) { self.files = files }

    private mutating func take(account: JSONNode) {
        for vault in account["vaults"]?.elements ?? [] {
            let name = vault["attrs"]?["name"]?.text ?? ""
            for listed in vault["items"]?.elements ?? [] {
                count += 1
                // Exports before version 3 put each item into an object of its own.
                take(listed["item"] ?? listed, vault: name, .item(count))
            }
        }
    }

    private mutating func take(_ item: JSONNode, vault: String, _ place: SourcePlace) {
        guard item["state"]?.text != "trashed", !(item["trashed"]?.isTrue ?? false) else {
            return document.name(place, item["overview"]?["title"]?.text ?? "", "it lies in the trash")
        }
        var missing: [String] = []
        let files = files
        document.add(place) { entry in
            entry.take("vault", SecretText(vault), as: .folder)
            if !Self.isLogin(item) { entry.become(.note) }
            for member in item.members where !member.value.isBlank {
                Self.take(member, &entry, files, &missing)
            }
        }
        for reason in missing { document.name(place, reason) }
    }

    /// Categories that hold a password: logins (001), passwords (005), database,
    /// server, router and other accounts. Whatever else has a password is one too.
    private static func isLogin(_ item: JSONNode) -> Bool {
        let details = item["details"]
        let fields = details?["loginFields"]?.elements ?? []
        return ["001", "005"].contains(item["categoryUuid"]?.text ?? "")
            || fields.contains { $0["designation"]?.text == "password" && $0["value"]?.isBlank == false }
            || details?["password"]?.isBlank == false
    }

    private static func take(
        _ member: JSONNode.Member, _ entry: inout EntryBuilder, _ files: Files, _ missing: inout [String]
    ) {
        let text = member.value.secretText ?? SecretText()
        switch member.name {
        case "overview": takeOverview(member.value, &entry)
        case "details": takeDetails(member.value, &entry, files, &missing)
        case "createdAt": entry.take(created: member.name, SourceDate.seconds(text), written: text)
        case "categoryUuid": entry.take(member.name, text, as: .kind)
        default: entry.take(member.name, SecretText("…"), as: .notStored(why: why(member.name)))
        }
    }

    private static func why(_ name: String) -> String {
        switch name {
        case "uuid", "id": "a number of 1Password's own"
        case "updatedAt": "the keychain sets the date of change itself"
        case "passwordHistory": "an item has no former values"
        case "favIndex", "state", "ps", "pbe", "pgrng", "watchtowerExclusions", "icons": "a mark of the program's own"
        case "passkey": "a passkey is no password"
        default: "nothing is known of it"
        }
    }

    /// 1Password calls an address "website" where a person has called it nothing.
    private static func label(of url: JSONNode) -> SecretText {
        guard let label = url["label"], label.text != "website" else { return SecretText() }
        return label.secretText ?? SecretText()
    }

    private static func takeOverview(_ overview: JSONNode, _ entry: inout EntryBuilder) {
        for member in overview.members where !member.value.isBlank {
            let (name, text) = ("overview." + member.name, member.value.secretText ?? SecretText())
            switch member.name {
            case "title": entry.take(name, text, as: .label)
            case "url": entry.take(name, text, as: .address)
            case "urls":
                for url in member.value.elements {
                    entry.take("overview.urls.url", url["url"]?.secretText ?? SecretText(), as: .address)
                    entry.take("overview.urls.label", label(of: url), as: .note)
                }
            case "tags":
                for tag in member.value.elements { entry.take(line: "tag", of: name, tag.secretText ?? SecretText()) }
            case "subtitle", "ainfo":
                entry.take(name, text, as: .notStored(why: "made by 1Password out of other fields"))
            default: entry.take(name, SecretText("…"), as: .notStored(why: why(member.name)))
            }
        }
    }

    private static func takeDetails(
        _ details: JSONNode, _ entry: inout EntryBuilder, _ files: Files, _ missing: inout [String]
    ) {
        for member in details.members where !member.value.isBlank {
            let (name, text) = ("details." + member.name, member.value.secretText ?? SecretText())
            switch member.name {
            case "notesPlain": entry.take(notes: name, text)
            case "password": entry.take(name, text, as: .value)
            case "loginFields": for field in member.value.elements { takeLoginField(field, &entry) }
            case "sections":
                for section in member.value.elements { takeSection(section, &entry, files, &missing) }
            case "documentAttributes": takeFile(member.value, name, &entry, files, &missing)
            default:
                entry.take(name, SecretText("…"), as: .notStored(why: why(member.name)))
                if member.name == "passkey" { entry.name(EntryBuilder.passkey) }
            }
        }
    }

    private static func takeLoginField(_ field: JSONNode, _ entry: inout EntryBuilder) {
        let value = field["value"]?.secretText ?? SecretText()
        switch field["designation"]?.text {
        case "username": entry.take("details.loginFields.username", value, as: .account)
        case "password": entry.take("details.loginFields.password", value, as: .value)
        default:
            let name = field["name"]?.text ?? ""
            entry.take(line: name.isEmpty ? "field" : name, of: "details.loginFields", value)
        }
    }

    private static func takeSection(
        _ section: JSONNode, _ entry: inout EntryBuilder, _ files: Files, _ missing: inout [String]
    ) {
        let heading = section["title"]?.text ?? ""
        for field in section["fields"]?.elements ?? [] {
            let title = field["title"]?.text ?? ""
            let name = [heading, title.isEmpty ? field["id"]?.text ?? "field" : title].filter { !$0.isEmpty }
                .joined(separator: " / ")
            for value in field["value"]?.members ?? [] where !value.value.isBlank {
                let source = "details.sections.\(value.name)"
                switch value.name {
                case "totp": entry.take(source, value.value.secretText ?? SecretText(), as: .oneTimeSecret)
                case "file": takeFile(value.value, source, &entry, files, &missing)
                default: takeLeaves(value.value, name, source, &entry)
                }
            }
        }
    }

    /// A value, or the parts of one (an address, an e-mail with its provider).
    private static func takeLeaves(
        _ node: JSONNode, _ name: String, _ source: String, _ entry: inout EntryBuilder
    ) {
        if let text = node.secretText { return entry.take(line: name, of: source, text) }
        for member in node.members { takeLeaves(member.value, "\(name) / \(member.name)", source, &entry) }
        for element in node.elements { takeLeaves(element, name, source, &entry) }
    }

    private static func takeFile(
        _ file: JSONNode, _ source: String, _ entry: inout EntryBuilder, _ files: Files, _ missing: inout [String]
    ) {
        let (name, identifier) = (file["fileName"]?.text ?? "", file["documentId"]?.text ?? "")
        switch files(identifier) {
        case .success(let content):
            entry.take(
                attachment: name.isEmpty ? identifier : name,
                SecretText(TextSlice(content, 0..<content.bytes.count)), field: source)
        case .failure(let failure): missing.append("its file is not stored: \(failure.message)")
        }
    }
}
