internal import KeychainModel
internal import ArgumentParser
internal import KeychainPlatform

struct ListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the names of stored items, never their secrets.",
        discussion: """
            On a terminal a table with a heading, where a server has its protocol, port and path beside it; \
            elsewhere one line an item, its fields (service, \
            account, kind, modified, label; with --all also group) separated by tabs. Control characters in \
            names are shown escaped. Nobody is asked for a list: items that a person has to agree to (programs \
            store them, with an access control) are not in it, and `latchkey get` finds them by their names.

            EXAMPLES
              latchkey list
              latchkey list mail --json | jq -r '.[].account'
              latchkey list --all

            \(ReachOptions.help)

            --json writes an array of {"service", "account", "kind", "group", "label", "created", "modified", \
            "protocol", "port", "path"}; the last three are null where an item has none.
            """)

    @Argument(help: "Only the items of this service or server.")
    var service: String?

    @OptionGroup var place: ReachOptions

    @Flag(help: "Write an array of objects as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let missing = surroundings.missingKeychain(store.dataDirectory)
        if let missing, service == nil {
            for line in CommandFailure.noKeychain(at: missing).lines { console.note("latchkey: \(line)") }
        }
        let found =
            missing == nil
            ? try CommandKeychain.open(store, reach: place.reach, in: surroundings).list(service: service) : nil
        let items = found?.items ?? []
        try printing { () throws(SystemCallError) in
            if json {
                let objects = items.map { JSONValue.object($0.jsonMembers + $0.placeMembers) }
                return try console.write("\(JSONValue.array(objects).text)\n")
            }
            let reader: TextTable.Reader = console.outputIsTerminal ? .person : .program
            try console.write(table(items, for: reader).text(for: reader))
        }
        let mayLackItems = found?.mayLackItems ?? false
        if mayLackItems {
            guard service == nil || !items.isEmpty else { throw .mayBeSetAside }
            console.note(CommandFailure.itemsMayBeMissing)
        }
        if items.isEmpty {
            guard service == nil else { throw missing.map { .noKeychain(at: $0) } ?? .noItem }
            if missing == nil, !mayLackItems, console.errorIsTerminal, place.reach == .own {
                console.note("Nothing is stored yet. `latchkey set SERVICE` stores a secret.")
            }
        }
        return .done
    }

    private func table(_ items: [StoredItem], for reader: TextTable.Reader) -> TextTable {
        let isOfAll = place.reach == .everyGroup
        return TextTable(
            heading: ["SERVICE", "ACCOUNT", "KIND", "MODIFIED", "LABEL"] + (isOfAll ? ["GROUP"] : []),
            rows: items.map { item in
                [
                    reader == .person ? item.place : item.service, item.account, item.kind.text,
                    item.modified?.text ?? "", item.label ?? "",
                ]
                    + (isOfAll ? [item.group ?? ""] : [])
            })
    }
}
