internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform

struct InfoCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show every attribute of an item, never its secret.",
        discussion: """
            Looks for items as `get` does. The names are those of the constants that programs use \
            (kSecAttrComment). On a terminal a table; elsewhere one line an attribute, name and value \
            separated by a tab. Bytes that are no text are hex digits in angle brackets. The secret is \
            not opened.

            EXAMPLES
              latchkey info mail alice
              latchkey info mail --json | jq -r .attributes.kSecAttrComment

            \(PartOptions.help)

            \(ReachOptions.help)

            --json writes {"service", "account", "kind", "group", "label", "created", "modified", \
            "accessible", "synchronizable", "attributes"}. The last is an object with a member for each \
            attribute by its constant: text, a number, a date, or {"hex"} for bytes.
            """)

    @OptionGroup var which: ItemArguments

    @OptionGroup var parts: PartOptions

    @OptionGroup var place: ReachOptions

    @Flag(help: "Write the attributes as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try surroundings.requireKeychain(store.dataDirectory)
        let keychain = try CommandKeychain.open(store, reach: place.reach, in: surroundings)
        let item = try keychain.findOne(
            which.name(parts.parts), advice: "Name one account: latchkey info SERVICE ACCOUNT")
        let console = surroundings.console
        try printing { () throws(SystemCallError) in
            if json { return try console.write("\(item.wholeJSON.text)\n") }
            try console.write(Self.table(item).text(for: console.outputIsTerminal ? .person : .program))
        }
        if !json, console.outputIsTerminal, item.collection != nil {
            console.note("Whoever is on your session bus sees it where `latchkey secret-service` serves it.")
        }
        return .done
    }

    private static func table(_ item: StoredItem) -> TextTable {
        let rows = item.namedAttributes.map { attribute, value in
            let text = AttributeText.text(value, of: attribute)
            let words = attribute.code == .accessible ? item.protection.map { " (\($0.sentence))" } : nil
            return [KeyNames.constant("\(attribute.code)"), text + (words ?? "")]
        }
        return TextTable(heading: ["ATTRIBUTE", "VALUE"], rows: [["kSecClass", item.kind.constant]] + rows)
    }
}

extension StoredItem {
    /// What `info --json` writes.
    fileprivate var wholeJSON: JSONValue {
        let all = namedAttributes.map { (KeyNames.constant("\($0.code)"), AttributeText.json($1)) }
        return .object(
            jsonMembers + [
                ("accessible", JSONValue(protection?.commandName)), ("synchronizable", .bool(isSynchronizable)),
                ("attributes", .object(all)),
            ])
    }
}

extension PasswordKind {
    fileprivate var constant: String {
        KeyNames.constantValue(itemClass.rawValue, of: "class") ?? itemClass.rawValue
    }
}
