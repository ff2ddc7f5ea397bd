internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import SecretServiceReach

struct WhocanCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "whocan",
        abstract: "Say who could read an item, and by which rule.",
        discussion: """
            Who: the programs of the item's access group, a person, whoever has a copy of the folder; over the \
            session bus those that secret-service.policy leaves it to. On a \
            terminal in words; elsewhere one line a reader, its fields (who, rule) separated by a tab, then when the \
            item opens and what somebody has to prove first. Who did read it is in `latchkey log --item SERVICE`.

            EXAMPLES
              latchkey whocan mail alice
              latchkey whocan mail --group exe./usr/bin/app --json

            \(PartOptions.help)

            \(ReachOptions.help)

            --json writes {"service", "account", "kind", "group", "readers": [{"who", "rule", "posing"}], "opens", \
            "needs": [TEXT]}; "posing" says whether another program of this user can pose as that reader.
            """)

    @OptionGroup var which: ItemArguments

    @OptionGroup var parts: PartOptions

    @OptionGroup var place: ReachOptions

    @Flag(help: "Write everything as one JSON object.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try surroundings.requireKeychain(store.dataDirectory)
        let keychain = try CommandKeychain.open(store, reach: place.reach, in: surroundings)
        let item = try keychain.findOne(
            which.name(parts.parts), advice: "Name one account: latchkey whocan SERVICE ACCOUNT")
        let row = try keychain.row(of: item)
        let rule = isServed(surroundings) ? BusRule(of: item, row?.attributes.lookup) : .notServed
        let readers = Readers(item, row?.accessControl, try keychain.status(), overBus: rule)
        let console = surroundings.console
        try printing { () throws(SystemCallError) in
            try console.write(json ? readers.json.text + "\n" : readers.text(forPerson: console.outputIsTerminal))
        }
        return .done
    }

    /// Whether it is the keychain that latchkey-secret-service serves, which is what the policy
    /// is about: the user's own.
    private func isServed(_ surroundings: Surroundings) -> Bool {
        guard case .store(let own, _) = surroundings.configuration.target else { return false }
        guard let folder = store.dataDirectory else { return true }
        return FilePath(surroundings.absolute(folder)).resolved == FilePath(own.dataDirectory).resolved
    }
}

extension CommandKeychain {
    /// With all its attributes, and what somebody has to prove before its value is handed out.
    fileprivate func row(of item: StoredItem) throws(CommandFailure) -> AnswerRow? {
        let query = exactly(item) + [("r_Attributes", .bool(true))]
        let answer = try asking { () throws(KeychainError) in
            try perform(KeychainRequest(.copy, query: QueryDictionary(query)), isOneOfSeveral: true)
        }
        return answer.rows.first
    }
}

/// Who could read an item (THREAT_MODEL.md).
struct Readers: Sendable {
    struct Reader: Sendable, Hashable {
        let who: String
        let rule: String
        /// Whether another program of the user can pose as it.
        let canBePosedAs: Bool
    }

    private let item: StoredItem
    private let accessControl: AccessControl?
    private let status: KeychainStatus
    private let overBus: BusRule

    init(_ item: StoredItem, _ accessControl: AccessControl?, _ status: KeychainStatus, overBus: BusRule) {
        self.item = item
        self.overBus = overBus
        self.accessControl = accessControl
        self.status = status
    }

    var readers: [Reader] {
        [overBus.narrowing(Self.program(of: item.group ?? ""), of: item)] + people + [thief].compactMap { $0 }
    }

    /// The rungs of an identity, by the form of their names (ARCHITECTURE.md, "Who is calling").
    static func program(of group: String) -> Reader {
        func rest(_ prefix: String) -> String? {
            group.hasPrefix(prefix) ? String(group.dropFirst(prefix.count)) : nil
        }
        if group == AccessGroup.latchkey.name {
            return Reader(
                who: "every program of this user",
                rule: "the group \"latchkey\" may be named by all of them; it is also the default collection of "
                    + "org.freedesktop.secrets",
                canBePosedAs: true)
        }
        if AccessGroup(group).isCollection {
            return Reader(
                who: "whoever is on your session bus, and every program of this user that no sandbox holds",
                rule: "it is a collection of org.freedesktop.secrets", canBePosedAs: true)
        }
        if let name = rest("unit.user/") {
            return Reader(
                who: "the service \(name) of this user's manager", rule: "it is the unit's own group",
                canBePosedAs: true)
        }
        if let name = rest("unit.") {
            return Reader(
                who: "the system service \(name), which has a user of its own", rule: "it is the unit's own group",
                canBePosedAs: false)
        }
        for (prefix, kind) in [("flatpak.", "Flatpak"), ("snap.", "snap")] {
            if let name = rest(prefix) {
                return Reader(who: "the \(kind) \(name)", rule: "it is the sandbox's own group", canBePosedAs: true)
            }
        }
        if let path = rest("exe.") {
            return Reader(
                who: "the program \(path)", rule: "it is the group of an executable that only root can replace",
                canBePosedAs: true)
        }
        if group == "adhoc.unreadable" {
            return Reader(
                who: "every program that may not be looked at", rule: "they share one group", canBePosedAs: true)
        }
        if let name = rest("adhoc.") {
            return Reader(
                who: "the program \(name)",
                rule: "it is the group of a bundle identifier, or of the place of an executable; all scripts of one "
                    + "interpreter share its group", canBePosedAs: true)
        }
        return Reader(
            who: "programs that are entitled to \(group.isEmpty ? "no group" : group)",
            rule: "their entitlements name the group", canBePosedAs: true)
    }

    private var people: [Reader] {
        guard status.hasPasscode else {
            return [
                Reader(
                    who: "every program of this user outside a sandbox",
                    rule: "there is no passcode, so that a call in a person's name needs nobody who agrees",
                    canBePosedAs: true)
            ]
        }
        return [
            Reader(
                who: "a person with the passcode, and the program that they agree for",
                rule: "--group and --all, and calls like them; an agreement counts for five minutes in one "
                    + "terminal session", canBePosedAs: true)
        ]
    }

    private var thief: Reader? {
        let isAlways = item.protection == .always || item.protection == .alwaysThisDeviceOnly
        guard !status.hasPasscode || isAlways, status.protectors.contains("software-file") else { return nil }
        return Reader(
            who: "whoever has a copy of \(status.dataDirectory)",
            rule: isAlways && status.hasPasscode
                ? "its class opens without the passcode, and the key of the folder lies in it"
                : "there is no passcode, and the key of the folder lies in it",
            canBePosedAs: true)
    }

    /// When the class of the item is open.
    private var opens: String { item.protection?.sentence ?? "" }

    /// What has to be proved each time.
    var needs: [String] {
        guard let accessControl, !accessControl.isUnconstrained else { return [] }
        var needs: [String] = []
        let constraint = accessControl.constraint(for: "od")
        if constraint != .allowed { needs.append(Self.text(constraint)) }
        if accessControl.requiresApplicationPassword { needs.append("a password of the program's own") }
        return needs
    }

    private static func text(_ constraint: AccessConstraint) -> String {
        switch constraint {
        case .allowed: "nothing"
        case .denied: "nothing is enough: it is never handed out"
        case .deviceOwner: "the passcode or biometry"
        case .passcode: "the passcode"
        case .biometry, .enrolledBiometry: "biometry"
        case .watch: "a watch, which does not exist here"
        case .atLeast(let count, let elements):
            "\(count) of: " + elements.map(text).joined(separator: ", ")
        case .unsupported: "what this version does not know: it is never handed out"
        }
    }

    func text(forPerson isForPerson: Bool) -> String {
        let rows = readers.map { [$0.who, $0.rule] }
        guard isForPerson else {
            return TextTable(heading: [], rows: rows + [["opens", opens]] + needs.map { ["needs", $0] })
                .text(for: .program)
        }
        let lines =
            ["\(item.displayName) (group \(PrintableText.escaped(item.group ?? "-"))) can be read by:"]
            + readers.map { "  \(PrintableText.escaped($0.who)): \(PrintableText.escaped($0.rule))." }
            + ["It \(opens)."] + needs.map { "Before that somebody has to prove: \($0)." }
        return lines.joined(separator: "\n") + "\n"
    }

    var json: JSONValue {
        .object([
            ("service", .string(item.service)), ("account", .string(item.account)), ("kind", .string(item.kind.text)),
            ("group", JSONValue(item.group)),
            (
                "readers",
                .array(
                    readers.map { reader in
                        .object([
                            ("who", .string(reader.who)), ("rule", .string(reader.rule)),
                            ("posing", .bool(reader.canBePosedAs)),
                        ])
                    })
            ),
            ("opens", .string(opens)), ("needs", .strings(needs)),
        ])
    }
}
