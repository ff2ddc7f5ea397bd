internal import KeychainPlatform

/// Bitwarden's unencrypted JSON export ("Vault export", .json).
enum BitwardenSource {
    static func read(_ root: JSONNode) throws(ImportFailure) -> ImportedDocument {
        guard root["encrypted"]?.isTrue != true else {
            throw ImportFailure(
                .wrongSource, "this Bitwarden export is encrypted",
                "Export again with the format .json (not \u{201c}.json (Encrypted)\u{201d}), and remove that file afterwards."
            )
        }
        guard case .array(let items)? = root["items"] else {
            throw ImportFailure(.wrongSource, "a Bitwarden export has items, this has none", "Export it anew.")
        }
        var document = ImportedDocument(.bitwardenJSON)
        let folders = names(root["folders"]).merging(names(root["collections"])) { one, _ in one }
        for member in root.members where !["encrypted", "items", "folders", "collections"].contains(member.name) {
            if !member.value.isBlank { document.ledger.note(member.name, .notStored(why: "not part of an item")) }
        }
        for (index, item) in items.enumerated() {
            guard case .object = item else {
                document.name(.item(index + 1), "this is no object")
                continue
            }
            if item["deletedDate"].map({ !$0.isBlank }) == true {
                document.name(.item(index + 1), item["name"]?.text ?? "", "it lies in the trash")
                continue
            }
            document.add(.item(index + 1)) { entry in take(item, folders, &entry) }
        }
        return document
    }

    private static func names(_ node: JSONNode?) -> [String: String] {
        Dictionary((node?.elements ?? []).map { ($0["id"]?.text ?? "", $0["name"]?.text ?? "") }) { one, _ in one }
    }

    private static func take(_ item: JSONNode, _ folders: [String: String], _ entry: inout EntryBuilder) {
        // 1: login, 2: note, 3: card, 4: identity, 5: SSH key.
        let kind = item["type"]?.text ?? ""
        if kind != "1" { entry.become(.note) }
        let isNew = !["1", "2", "3", "4", "5"].contains(kind)
        for member in item.members where !member.value.isBlank {
            let (name, value) = (member.name, member.value)
            switch name {
            case "name": entry.take(name, value, as: .label)
            case "notes": if let text = entry.text(name, value) { entry.take(notes: name, text) }
            case "login": takeLogin(value, &entry)
            case "fields": takeFields(value, &entry)
            case "folderId": takeFolder(name, [value], folders, &entry)
            case "collectionIds": takeFolder(name, value.elements, folders, &entry)
            case "creationDate":
                if let text = entry.text(name, value) { entry.take(created: name, SourceDate.iso(text), written: text) }
            case "type": entry.take(name, value, as: .kind)
            case let name where isNew && why(name) == nil: takeNew(name, value, &entry)
            default: takeOther(name, value, why(name), &entry)
            }
        }
    }

    /// Of a kind that is newer than this any text may be what a person needs.
    private static func takeNew(_ name: String, _ value: JSONNode, _ entry: inout EntryBuilder) {
        if case .bool = value { return takeOther(name, value, nil, &entry) }
        entry.take(leaves: value, of: name)
    }

    /// Cards, identities and keys, and whatever is newer than this.
    private static func takeOther(
        _ name: String, _ value: JSONNode, _ why: String?, _ entry: inout EntryBuilder
    ) {
        if let why {
            entry.take(name, SecretText("…"), as: .notStored(why: why))
        } else if value.secretText == nil || ["card", "identity", "sshKey"].contains(name) {
            entry.take(leaves: value, of: name)
        } else {
            entry.take(name, SecretText("…"), as: .notStored(why: "nothing is known of it"))
        }
    }

    /// nil: it may hold what a person needs.
    private static func why(_ name: String) -> String? {
        switch name {
        case "id", "organizationId": "a number of Bitwarden's own"
        case "revisionDate", "passwordRevisionDate": "the keychain sets the date of change itself"
        case "passwordHistory": "an item has no former values"
        case "fido2Credentials": "a passkey is no password"
        case "favorite", "reprompt", "secureNote", "archivedDate": "a mark of the program's own"
        case "attachments": "the export does not hold them"
        default: nil
        }
    }

    private static func takeLogin(_ login: JSONNode, _ entry: inout EntryBuilder) {
        guard case .object(let members) = login else {
            return entry.take("login", SecretText("…"), as: .notStored(why: "it is no object"))
        }
        for member in members where !member.value.isBlank {
            let (name, value) = ("login." + member.name, member.value)
            switch member.name {
            case "username": entry.take(name, value, as: .account)
            case "password": entry.take(name, value, as: .value)
            case "totp": entry.take(name, value, as: .oneTimeSecret)
            case "uri": entry.take(name, value, as: .address)
            case "uris": takeAddresses(name, value, &entry)
            case "fido2Credentials":
                entry.take(name, SecretText("…"), as: .notStored(why: why(member.name) ?? ""))
                entry.name(EntryBuilder.passkey)
            default: takeOther(name, value, why(member.name), &entry)
            }
        }
    }

    private static func takeAddresses(_ name: String, _ uris: JSONNode, _ entry: inout EntryBuilder) {
        guard case .array(let elements) = uris else { return entry.take(name, uris, as: .address) }
        for uri in elements where !uri.isBlank {
            guard case .object(let members) = uri else {
                entry.take(name, uri, as: .address)
                continue
            }
            for member in members where !member.value.isBlank {
                let field = "\(name).\(member.name)"
                if member.name == "uri" {
                    entry.take(field, member.value, as: .address)
                } else {
                    entry.take(field, SecretText("…"), as: .notStored(why: "how the program compares addresses"))
                }
            }
        }
    }

    /// Text, hidden text and switches; a linked field has no value of its own.
    private static func takeFields(_ fields: JSONNode, _ entry: inout EntryBuilder) {
        guard case .array(let elements) = fields else { return entry.take(leaves: fields, of: "fields") }
        for field in elements where !field.isBlank {
            guard case .object = field else {
                entry.take(leaves: field, of: "fields", as: "field")
                continue
            }
            let name = field["name"]?.text ?? ""
            if let value = field["value"], !value.isBlank || value.secretText.map({ !$0.isEmpty }) ?? false {
                entry.take(leaves: value, of: "fields", as: name.isEmpty ? "field" : name)
            } else {
                entry.take("fields", SecretText("…"), as: .notStored(why: "a field without a value of its own"))
            }
        }
    }

    private static func takeFolder(
        _ field: String, _ ids: [JSONNode], _ names: [String: String], _ entry: inout EntryBuilder
    ) {
        for id in ids {
            if let name = names[id.text] {
                entry.take(field, SecretText(name), as: .folder)
            } else {
                entry.take(field, SecretText("…"), as: .notStored(why: "the export does not name this folder"))
            }
        }
    }
}
