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
                document.name(.item(index + 1), "it lies in the trash")
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
        if item["type"]?.text != "1" { entry.become(.note) }
        for member in item.members where !member.value.isBlank {
            let (name, value) = (member.name, member.value)
            switch name {
            case "name": entry.take(name, value.secretText ?? SecretText(), as: .label)
            case "notes": entry.take(notes: name, value.secretText ?? SecretText())
            case "login": takeLogin(value, &entry)
            case "fields": takeFields(value, &entry)
            case "card", "identity", "sshKey": takeAll(name, value, &entry)
            case "folderId": takeFolder(name, [value], folders, &entry)
            case "collectionIds": takeFolder(name, value.elements, folders, &entry)
            case "creationDate":
                let text = value.secretText ?? SecretText()
                entry.take(created: name, SourceDate.iso(text), written: text)
            case "type": entry.take(name, value.secretText ?? SecretText(), as: .kind)
            default: entry.take(name, SecretText("…"), as: .notStored(why: why(name)))
            }
        }
    }

    private static func why(_ name: String) -> String {
        switch name {
        case "id", "organizationId": "a number of Bitwarden's own"
        case "revisionDate": "the keychain sets the date of change itself"
        case "passwordHistory": "an item has no former values"
        case "fido2Credentials": "a passkey is no password"
        case "favorite", "reprompt", "secureNote", "archivedDate": "a mark of the program's own"
        case "attachments": "the export does not hold them"
        default: "nothing is known of it"
        }
    }

    private static func takeLogin(_ login: JSONNode, _ entry: inout EntryBuilder) {
        for member in login.members where !member.value.isBlank {
            let (name, value) = ("login." + member.name, member.value)
            let text = value.secretText ?? SecretText()
            switch member.name {
            case "username": entry.take(name, text, as: .account)
            case "password": entry.take(name, text, as: .value)
            case "totp": entry.take(name, text, as: .oneTimeSecret)
            case "uri": entry.take(name, text, as: .address)
            case "uris":
                for uri in value.elements { takeAddress(uri, &entry) }
            default: entry.take(name, SecretText("…"), as: .notStored(why: why(member.name)))
            }
        }
    }

    private static func takeAddress(_ uri: JSONNode, _ entry: inout EntryBuilder) {
        for member in uri.members where !member.value.isBlank {
            let text = member.value.secretText ?? SecretText()
            if member.name == "uri" {
                entry.take("login.uris.uri", text, as: .address)
            } else {
                entry.take("login.uris.\(member.name)", text, as: .notStored(why: "how the program compares addresses"))
            }
        }
    }

    /// Text, hidden text and switches; a linked field has no value of its own.
    private static func takeFields(_ fields: JSONNode, _ entry: inout EntryBuilder) {
        for field in fields.elements {
            let name = field["name"]?.text ?? ""
            if let value = field["value"]?.secretText, !value.isEmpty {
                entry.take(line: name.isEmpty ? "field" : name, of: "fields", value)
            } else if !field.isBlank {
                entry.take("fields", SecretText("…"), as: .notStored(why: "a field without a value of its own"))
            }
        }
    }

    private static func takeAll(_ prefix: String, _ node: JSONNode, _ entry: inout EntryBuilder) {
        for member in node.members where !member.value.isBlank {
            let name = "\(prefix).\(member.name)"
            if let text = member.value.secretText {
                entry.take(line: member.name, of: name, text)
            } else {
                entry.take(name, SecretText("…"), as: .notStored(why: "nothing is known of it"))
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
