internal import ArgumentParser
internal import KeychainPlatform

struct RemoveCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove an item, or with --all every item of a service.",
        discussion: """
            Looks for items as `get` does. One match is removed at once. Several are removed only \
            with --all, after a question on a terminal or with --yes; otherwise their accounts are \
            listed and the status is 2. What `import` laid beside a login, ACCOUNT (otp), \
            ACCOUNT (note) and files, is an item of its own: it stays, and is named.

            EXAMPLES
              latchkey rm mail alice
              latchkey rm mail --all --yes

            \(PartOptions.help)

            \(GroupOption.help) --all-groups looks in all groups; --all is every match wherever that is looked for.

            --json writes {"removed"}: how many items.
            """)

    @OptionGroup var which: ItemArguments

    @OptionGroup var parts: PartOptions

    @OptionGroup var place: GroupOption

    // `--all` is taken: every match, as it always was.
    @Flag(name: .customLong("all-groups"), help: "Look in the access groups of every program.")
    var everyGroup = false

    @Flag(help: "Remove every item that matches.")
    var all = false

    @Flag(help: "Remove several without asking.")
    var yes = false

    @Flag(help: "Write how many were removed as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    mutating func validate() throws {
        if everyGroup, place.group != nil { throw ValidationError("--all-groups is every group: leave out --group.") }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let reach = everyGroup ? .everyGroup : place.reach
        try surroundings.requireKeychain(store.dataDirectory)
        let keychain = try CommandKeychain.open(store, reach: reach, in: surroundings)
        let found = try keychain.find(which.name(parts.parts))
        guard !found.isEmpty else { throw .noItem }
        if found.count > 1 { try confirm(found, surroundings.console) }
        var removed = 0
        for item in found where try keychain.remove(item) { removed += 1 }
        // Somebody else was quicker.
        guard removed > 0 else { throw .noItem }
        try report(removed, surroundings.console)
        if found.count == 1 {
            for sibling in Sibling.all(of: found[0], in: keychain) {
                surroundings.console.note("\(sibling.displayName) is left beside it.")
            }
        }
        return .done
    }

    private func confirm(_ found: [StoredItem], _ console: any Console) throws(CommandFailure) {
        guard all else {
            throw .several(
                found, accountGiven: which.account != nil,
                then: "Name one account, or add --all: latchkey rm SERVICE ACCOUNT")
        }
        if yes { return }
        guard console.inputIsTerminal else {
            throw CommandFailure(
                .usage, "\(found.count) items match and nobody can be asked; nothing was removed",
                "Add --yes to remove them all.")
        }
        let groups = Set(found.map(\.group)).count
        let place = groups > 1 ? ", in \(groups) groups" : ""
        let answer = console.promptForLine("Remove \(found.count) items of this service\(place)? [y/N] ")
        guard answer == "y" || answer == "Y" || answer == "yes" else {
            throw CommandFailure(.usage, "nothing was removed", "Answer y, or add --yes.")
        }
    }

    private func report(_ removed: Int, _ console: any Console) throws(CommandFailure) {
        if json {
            let line = JSONValue.object([("removed", .integer(Int64(removed)))]).text
            try printing { () throws(SystemCallError) in try console.write("\(line)\n") }
        }
        if console.errorIsTerminal { console.note(removed == 1 ? "Removed." : "Removed \(removed) items.") }
    }
}
