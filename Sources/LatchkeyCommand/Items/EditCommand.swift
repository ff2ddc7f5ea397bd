internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import SecretServiceItems

struct EditCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change attributes of an item, or move it to another name; its secret stays.",
        discussion: """
            Looks for the item as `get` does. All changes happen together or not at all; where the new \
            name is another item's, nothing happens and both stay as they are. What changes is said on \
            a terminal. What programs of the Secret Service find it by follows, where that says the same: \
            `--to-account bob` of what secret-tool stored as user alice makes it user bob. What `import` laid \
            beside a login, ACCOUNT (otp) and others, goes along to its new name, unless another item has it \
            beside it, too.

            --attribute takes any attribute that `info` shows and a person may set, by its constant \
            (kSecAttrComment), the constant without kSecAttr (Comment) or its code (icmt). Values are \
            text, or bytes as <hex digits>; numbers; true and false; four characters for kSecAttrType \
            and kSecAttrCreator; dates as 2026-01-31T23:59:59Z.

            CLASS of --accessible is one of when-unlocked, after-first-unlock, always, each also with \
            -this-device-only, or when-passcode-set-this-device-only.

            EXAMPLES
              latchkey edit mail alice --label "Mail at work"
              latchkey edit mail alice --to-account alice@example.com
              latchkey edit --internet example.com --port 8443 --protocol https
              latchkey edit mail --attribute kSecAttrIsInvisible=true

            A server may be written as `set --internet` takes it, also that of --to-server, whose other parts \
            change where the address says them: a URL says all, without a port that of its protocol. Where \
            several items have one name and account, \
            --from-port, --from-path, --from-protocol and --from-label choose.

            \(GroupOption.help)

            --json writes {"service", "account", "kind", "changed"}: the names as they are now, and an \
            array of {"attribute", "from", "to"}.
            """)

    @OptionGroup var which: ItemArguments

    @OptionGroup var former: FormerPartOptions

    @OptionGroup var place: GroupOption

    @Option(help: "A title for people.")
    var label: String?

    @Option(help: "A remark.")
    var comment: String?

    @Option(help: "What kind of item it is, in words.")
    var description: String?

    @Option(name: .customLong("to-service"), help: "Move it to this service.")
    var toService: String?

    @Option(name: .customLong("to-account"), help: "Move it to this account.")
    var toAccount: String?

    @Option(name: .customLong("to-server"), help: "Move an internet password to this server.")
    var toServer: String?

    @Option(help: "The port of an internet password.")
    var port: String?

    @Option(help: "The path of an internet password.")
    var path: String?

    @Option(name: .customLong("protocol"), help: "The protocol of an internet password, as in URLs.")
    var protocolName: String?

    @Option(help: ArgumentHelp("When the item can be opened.", valueName: "class"))
    var accessible: String?

    @Option(
        name: .customLong("attribute"), help: ArgumentHelp("Any attribute; may be repeated.", valueName: "name=value"))
    var attributes: [String] = []

    @Flag(help: "Write what was changed as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        guard !options.isEmpty || !attributes.isEmpty || toServer != nil else {
            throw CommandFailure(
                .usage, "nothing to change was named", "Add an option such as --label; `latchkey edit --help` has all.")
        }
        try surroundings.requireKeychain(store.dataDirectory)
        let keychain = try CommandKeychain.open(store, reach: place.reach, in: surroundings)
        let item = try keychain.findOne(
            which.name(former.parts), advice: "Name one account: latchkey edit SERVICE ACCOUNT",
            choosing: .formerOptions)
        let changes = try changes(of: item.kind).filter { item[$0.attribute.code] != $0.kept }
        let moved = changes.reduce(into: item) { $0.take($1.attribute.code, $1.kept) }
        let lookups = lookups(of: item, as: moved)
        let along = SiblingMove(item, to: moved, in: keychain)
        if !changes.isEmpty {
            if let lookups { try keychain.refuseSecond(lookups.now, beside: item) }
            let found = lookups.map { (AttributeCode.lookup, RawValue.data($0.now.encoded)) }
            try along.perform(in: keychain) { () throws(CommandFailure) in
                try keychain.change(
                    item, whileFoundBy: lookups?.before,
                    to: changes.map { ($0.attribute.code, $0.value) } + (found.map { [$0] } ?? []))
            }
        }
        try report(changes, of: item, now: moved, surroundings.console)
        note(along, surroundings.console)
        if let lookups, surroundings.console.errorIsTerminal { note(lookups, surroundings.console) }
        return .done
    }

    /// By what programs of the Secret Service find it, where they name what changes; nil: that stays.
    private func lookups(
        of item: StoredItem, as moved: StoredItem
    ) -> (before: LookupAttributes, now: LookupAttributes)? {
        guard let before = item.lookup else { return nil }
        let now = before.following(from: item.allAttributes, to: moved.allAttributes)
        return now == before ? nil : (before, now)
    }

    private func note(_ along: SiblingMove, _ console: any Console) {
        if console.errorIsTerminal {
            for item in along.moved { console.note("\(item.displayName) went along.") }
        }
        for item in along.shared {
            console.note("\(item.displayName) stays: another item of the former name has it beside it, too.")
        }
    }

    private func note(_ lookups: (before: LookupAttributes, now: LookupAttributes), _ console: any Console) {
        for pair in lookups.now.pairs where !lookups.before.pairs.contains(pair) {
            let (name, value) = (PrintableText.escaped(pair.name), PrintableText.escaped(pair.value))
            console.note("Programs of the Secret Service find it by \(name) \"\(value)\" from here on.")
        }
    }

    private var options: [(AttributeCode, String)] {
        let all: [(AttributeCode, String?)] = [
            (.label, label), (.comment, comment), (.description, description), (.service, toService),
            (.account, toAccount), (.port, port), (.path, path), (.protocol, protocolName),
            (.accessible, accessible),
        ]
        return all.compactMap { code, text in text.map { (code, $0) } }
    }

    /// What the address says of the new place; of the other parts an item keeps what it has.
    private func newPlace() throws(CommandFailure) -> [(AttributeCode, String)] {
        guard let toServer else { return [] }
        let address = try InternetAddress.read(toServer)
        var parts: [(AttributeCode, String)] = [(.server, address.host)]
        // What is not there any more goes, unless an option says what comes instead.
        if address.parts.port != nil || address.saysPort && port == nil {
            parts.append((.port, "\(address.parts.port ?? 0)"))
        }
        if address.parts.path != nil || address.saysPath && path == nil {
            parts.append((.path, address.parts.path ?? ""))
        }
        if let name = address.parts.protocolName { parts.append((.protocol, name)) }
        return parts
    }

    private func changes(of kind: PasswordKind) throws(CommandFailure) -> [AttributeChange] {
        var changes: [AttributeChange] = []
        for (code, text) in try options + newPlace() { changes.append(try AttributeChange(code, text, for: kind)) }
        for text in attributes { changes.append(try AttributeChange.parse(text, for: kind)) }
        guard Set(changes.map(\.attribute.code)).count == changes.count else {
            throw CommandFailure(.usage, "one attribute was given two values", "Name each attribute once.")
        }
        return changes
    }

    // MARK: What is said

    private func report(
        _ changes: [AttributeChange], of item: StoredItem, now: StoredItem, _ console: any Console
    ) throws(CommandFailure) {
        if json {
            let line = JSONValue.object([
                ("service", .string(now.service)), ("account", .string(now.account)),
                ("kind", .string(item.kind.text)), ("changed", .array(changes.map { $0.json(from: item) })),
            ])
            try printing { () throws(SystemCallError) in try console.write("\(line.text)\n") }
        }
        guard console.errorIsTerminal else { return }
        if changes.isEmpty { console.note("Nothing to change: the item is so already.") }
        for change in changes { console.note(change.text(from: item)) }
    }
}

extension AttributeChange {
    private var name: String { KeyNames.constant("\(attribute.code)") }

    fileprivate func text(from item: StoredItem) -> String {
        let before = item[attribute.code].map { shown($0) } ?? "none"
        return "\(name): \(before) -> \(shown(kept))"
    }

    private func shown(_ value: AttributeValue) -> String {
        let text = PrintableText.escaped(AttributeText.text(value, of: attribute))
        if case .string = value { return "\"\(text)\"" }
        return text
    }

    fileprivate func json(from item: StoredItem) -> JSONValue {
        .object([
            ("attribute", .string(name)), ("from", item[attribute.code].map { AttributeText.json($0) } ?? .null),
            ("to", AttributeText.json(kept)),
        ])
    }
}
