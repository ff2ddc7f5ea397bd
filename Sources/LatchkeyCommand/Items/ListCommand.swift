internal import KeychainModel
internal import ArgumentParser
internal import KeychainPlatform

struct ListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the names of stored items, never their secrets.",
        discussion: """
            On a terminal a table with a heading; elsewhere one line an item, its fields (service, \
            account, kind, modified, label) separated by tabs. Control characters in names are \
            shown escaped.

            EXAMPLES
              latchkey list
              latchkey list mail --json | jq -r '.[].account'

            --json writes an array of {"service", "account", "kind", "group", "label", "created", "modified"}.
            """)

    @Argument(help: "Only the items of this service or server.")
    var service: String?

    @Flag(help: "Write an array of objects as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let keychain = try CommandKeychain.open(store, in: surroundings)
        let items = try keychain.list(service: service)
        let console = surroundings.console
        try printing { () throws(SystemCallError) in
            if json { return try console.write("\(JSONValue.array(items.map(\.json)).text)\n") }
            try console.write(Self.table(items).text(for: console.outputIsTerminal ? .person : .program))
        }
        if items.isEmpty {
            guard service == nil else { throw .noItem }
            if console.errorIsTerminal {
                console.note("Nothing is stored yet. `latchkey set SERVICE` stores a secret.")
            }
        }
        return .done
    }

    private static func table(_ items: [StoredItem]) -> TextTable {
        TextTable(
            heading: ["SERVICE", "ACCOUNT", "KIND", "MODIFIED", "LABEL"],
            rows: items.map { [$0.service, $0.account, $0.kind.text, $0.modified?.text ?? "", $0.label ?? ""] })
    }
}
