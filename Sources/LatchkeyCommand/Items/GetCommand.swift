internal import ArgumentParser
internal import KeychainClient
internal import KeychainPlatform
internal import KeychainProtocol

struct GetCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Write a secret to standard output.",
        discussion: """
            Looks for generic passwords by service, then for internet passwords by server. The secret \
            is written byte by byte as it was stored; only on a terminal a newline follows. Where \
            several items match nothing is written: their accounts are listed and the status is 2.

            EXAMPLES
              token=$(latchkey get mail alice)
              latchkey get backup-key |
                openssl enc -aes-256-cbc -pbkdf2 -pass stdin -in a -out a.enc
              latchkey get --clip=10 mail alice
              latchkey get --otp mail alice
              latchkey get mail --json | jq -r .value
              latchkey get --group exe./usr/bin/git git:https://git.example

            \(PartOptions.help)

            \(ReachOptions.help)

            --otp writes the code of this moment (RFC 6238) instead of the secret, which is an address \
            as otpauth://totp/…?secret=… or, in an item beside the login whose account ends in " (otp)", \
            also a bare secret in base32. That item is looked for first. Steam's (steam://…, or encoder=steam) \
            are five letters and digits. On a terminal the seconds for \
            which the code still holds are said.

            --clip puts the secret, or the code, on the clipboard instead of writing it, and takes it off \
            after 30 seconds or as many as are given (1 to 3600). Over SSH the terminal is asked to do that \
            (OSC 52; many do, some only when told to); else wl-copy, xclip or xsel, then the terminal. \
            After that time a display's clipboard is cleared only if it still holds the secret; a \
            terminal's is overwritten with a blank. Whatever keeps a history of the clipboard keeps the \
            secret, and wl-copy keeps it in a file of its own below /tmp meanwhile.

            --json writes {"service", "account", "kind", "group", "label", "created", "modified", \
            "encoding", "value"}, with --otp also "seconds_left" before "encoding". The encoding is "utf8" where the value is text, else "base64".
            """)

    @OptionGroup var which: ItemArguments

    @OptionGroup var parts: PartOptions

    @OptionGroup var place: ReachOptions

    @Flag(name: .customLong("otp"), help: "Write the one-time code of this moment.")
    var oneTime = false

    @Option(help: ArgumentHelp("Put it on the clipboard for a while, 1 to 3600 seconds.", valueName: "1-3600"))
    var clip: ClipboardTime?

    @Flag(help: "Write the item with its attributes as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        guard clip == nil || !json else {
            throw CommandFailure(.usage, "--clip writes nothing and --json does", "Leave one of them out.")
        }
        let lookup = SecretLookup(
            name: which.name(parts.parts), reach: place.reach, oneTime: oneTime, clip: clip, json: json,
            dataDirectory: store.dataDirectory)
        return try lookup.perform(in: surroundings)
    }
}

/// What `get` does, once its arguments are known.
struct SecretLookup {
    let name: ItemName
    var reach = ItemReach.own
    var oneTime = false
    var clip: ClipboardTime?
    var json = false
    /// No newline on a terminal.
    var isBare = false
    var dataDirectory: String?
    /// How one of several is named where it was.
    var choosing = PartChoice.options

    /// `get [--data-dir DIR] SERVICE [ACCOUNT]`, which scripts call: the argument
    /// parser takes longer to start than everything that follows. Any other form is
    /// the parser's, and nil. (An optional lookup would be ended by way of its type's tables,
    /// which are not in memory yet.)
    static func plain(_ arguments: [String], _ perform: (SecretLookup) -> ExitStatus) -> ExitStatus? {
        guard arguments.first == "get" else { return nil }
        var names = arguments.dropFirst()
        var dataDirectory: String?
        if names.first == "--data-dir", let folder = names.dropFirst().first, !folder.isEmpty, !folder.hasPrefix("-") {
            dataDirectory = folder
            names = names.dropFirst(2)
        }
        guard let service = names.first, names.count <= 2, names.allSatisfy({ !$0.hasPrefix("-") }) else { return nil }
        let name = ItemName(service: service, account: names.dropFirst().first)
        return perform(SecretLookup(name: name, dataDirectory: dataDirectory))
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try surroundings.requireKeychain(dataDirectory)
        let keychain = try CommandKeychain.open(dataDirectory: dataDirectory, reach: reach, in: surroundings)
        if oneTime { return try writeCode(name, keychain, surroundings) }
        if !json, let only = try keychain.secret(name) {
            try hand(only, on: surroundings.console)
        } else {
            let only = json ? try keychain.itemAndSecret(name) : nil
            let (item, value) = if let only { only } else { try searched(name, in: keychain) }
            try write(value, of: item, members: [], on: surroundings.console)
        }
        return .done
    }

    private func writeCode(
        _ name: ItemName, _ keychain: CommandKeychain, _ surroundings: Surroundings
    ) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let answer = try OneTimeLookup(name: name).answer(in: keychain, at: surroundings.configuration.clock)
        let left = answer.secondsLeft
        try write(answer.code, of: answer.item, members: [("seconds_left", .integer(Int64(left)))], on: console)
        if console.errorIsTerminal { console.note(left == 1 ? "1 second left." : "\(left) seconds left.") }
        return .done
    }

    private func write(
        _ value: SharedSecret, of item: StoredItem, members: [(String, JSONValue)], on console: any Console
    ) throws(CommandFailure) {
        if reach == .everyGroup, console.errorIsTerminal, let group = item.group {
            console.note("Of the group \(PrintableText.escaped(group)):")
        }
        guard json else { return try hand(value, on: console) }
        try printing { () throws(SystemCallError) in
            try console.write(SecretJSON.line(item.jsonMembers + members, value: value.bytes))
        }
    }

    private func hand(_ value: SharedSecret, on console: any Console) throws(CommandFailure) {
        if let clip { return try copy(value, clip, console) }
        try printing { () throws(SystemCallError) in
            try console.write(value.bytes)
            if console.outputIsTerminal, !isBare { try console.write("\n") }
        }
    }

    private func copy(
        _ value: SharedSecret, _ time: ClipboardTime, _ console: any Console
    ) throws(CommandFailure) {
        let clipboard = try Clipboard.chosen()
        try ClipboardCopy(clipboard: clipboard, time: time).perform(value)
        guard console.errorIsTerminal else { return }
        console.note(clipboard.told(for: time))
    }

    /// In two steps, for whatever is not exactly one item that opens.
    private func searched(
        _ name: ItemName, in keychain: CommandKeychain
    ) throws(CommandFailure) -> (StoredItem, SharedSecret) {
        let item = try keychain.findOne(
            name, advice: "Name one account: latchkey get SERVICE ACCOUNT", choosing: choosing)
        return (item, try keychain.value(of: item))
    }
}

extension CommandFailure {
    static let noItem = CommandFailure(
        .noMatch, "no item has that name", "`latchkey list` shows what there is; `latchkey set` stores a secret.")

    /// Several items have the name: which ones, and how to choose.
    static func several(
        _ items: [StoredItem], accountGiven: Bool, then advice: String, choosing: PartChoice = .options
    ) -> CommandFailure {
        let isAcrossGroups = Set(items.map(\.group)).count > 1
        let isOfOneAccount = accountGiven || Set(items.map(\.account)).count == 1
        let names = Set(items.map { [$0.account, $0.group ?? ""] }).count
        let lines = items.map { item in
            let account = item.account.isEmpty ? "(no account: \"\")" : PrintableText.escaped(item.account)
            let group = isAcrossGroups ? " in \(PrintableText.escaped(item.group ?? ""))" : ""
            let parts = names < items.count ? "  \(item.partsText)" : ""
            return "  \(account)\(group)\(item.isSynchronizable ? " (synchronizable)" : "")\(parts)"
        }
        let last =
            isAcrossGroups
            ? "Name one of the groups with --group, and an account where it has several."
            : isOfOneAccount ? choosing.advice(among: items) : advice
        return CommandFailure(
            .usage, lines: ["\(items.count) items have that name, with these accounts:"] + lines + [last])
    }
}
