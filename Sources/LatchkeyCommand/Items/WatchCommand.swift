internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct WatchCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Say what happens to stored items, as it happens.",
        discussion: """
            One line a change: what happened (added, changed, removed, set-aside, unknown), the kind of \
            item (generic, internet, certificate, key), how many, the access group, and the position \
            after it, separated by tabs. Never which items, and no secret. A line comes once the change is \
            on the disk; none is left out when the daemon ends and starts again. "unknown" means that the \
            keychain no longer knows what happened since the position: look at everything anew. "set-aside" \
            means that items turned out damaged (`latchkey doctor`).

            Watches what `latchkey list` shows, until Ctrl-C. With --count it ends with 1 where a signal ends it \
            before so many changes came.

            EXAMPLES
              latchkey watch
              latchkey watch --count 1 && echo "something changed"
              position=$(latchkey watch --position)
              latchkey watch --after "$position" --json   # all since then, and on

            --json writes {"event", "kind", "items", "group", "position"}, one object a line; of an unknown \
            event kind and group are null and items is 0.
            """)

    @Option(help: ArgumentHelp("Begin after this position instead of now.", valueName: "position"))
    var after: String?

    @Option(help: ArgumentHelp("End after so many changes.", valueName: "n"))
    var count: Int?

    @Flag(help: "Write the position of now and end.")
    var position = false

    @Flag(help: "Write each change as one JSON object.")
    var json = false

    @OptionGroup var store: StoreOptions

    mutating func validate() throws {
        if let count, count < 1 { throw ValidationError("--count needs a number above 0.") }
        if let after, ChangePosition(after) == nil {
            throw ValidationError("--after needs a position, as `latchkey watch --position` writes it.")
        }
        if position, after != nil || count != nil {
            throw ValidationError("--position goes with neither --after nor --count.")
        }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let ending = try surroundings.endOfWatch()
        let keychain = try CommandKeychain.open(store, in: surroundings)
        var watch = ItemWatch(keychain, after: after.flatMap { ChangePosition($0) }, until: ending)
        let console = surroundings.console
        if position {
            let now = try watch.begin()
            try printing { () throws(SystemCallError) in
                try console.write(json ? JSONValue.object([("position", .string("\(now)"))]).text + "\n" : "\(now)\n")
            }
            return .done
        }
        _ = try watch.begin()
        if console.outputIsTerminal { console.note("Watching; Ctrl-C ends it.") }
        var left = count
        while left != 0, let change = try watch.next() {
            let line = ChangeLine(change)
            try printing { () throws(SystemCallError) in
                try console.write(json ? line.json.text + "\n" : line.text(forPerson: console.outputIsTerminal) + "\n")
            }
            left = left.map { $0 - 1 }
        }
        // Whoever waits for a number of changes does not take the end for them.
        return (left ?? 0) == 0 ? .done : .noMatch
    }
}

/// The changes of the command line's items, one after the other.
struct ItemWatch {
    private let keychain: CommandKeychain
    private let ending: EventSignal
    private var position: ChangePosition?
    private var told: ArraySlice<KeychainChange> = []

    init(_ keychain: CommandKeychain, after position: ChangePosition?, until ending: EventSignal) {
        self.keychain = keychain
        self.position = position
        self.ending = ending
    }

    /// Where it begins: from here on nothing is missed.
    mutating func begin() throws(CommandFailure) -> ChangePosition {
        if let position { return position }
        let request = KeychainRequest(.changePosition(keychain.observed))
        let answer = try asking { () throws(KeychainError) in try keychain.transport.perform(request) }
        guard let now = answer.changes?.position else {
            throw CommandFailure(KeychainError(.internalComponent, reason: .internalFault(what: "no position came")))
        }
        position = now
        return now
    }

    /// nil: it is to end.
    mutating func next() throws(CommandFailure) -> KeychainChange? {
        while told.isEmpty {
            guard let batch = try wait(from: try begin()) else { return nil }
            told = batch.changes[...]
            position = batch.position
        }
        return told.popFirst()
    }

    private func wait(from position: ChangePosition) throws(CommandFailure) -> ChangeBatch? {
        try asking { () throws(KeychainError) in
            try keychain.transport.changes(after: position, in: keychain.observed, orUntil: ending)
        }
    }
}

/// How a change is written.
private struct ChangeLine {
    private let event: String
    private let items: KeychainChange.Items?
    private let position: ChangePosition

    init(_ change: KeychainChange) {
        position = change.position
        switch change.event {
        case .added(let items): (event, self.items) = ("added", items)
        case .changed(let items): (event, self.items) = ("changed", items)
        case .removed(let items): (event, self.items) = ("removed", items)
        case .setAside(let items): (event, self.items) = ("set-aside", items)
        case .unknown: (event, items) = ("unknown", nil)
        }
    }

    private var kind: String? { items?.itemClass.commandName }

    /// A person has no use for the position.
    func text(forPerson: Bool) -> String {
        let fields = [
            event, kind ?? "-", "\(items?.count ?? 0)", items?.group.map { PrintableText.escaped($0.name) } ?? "-",
        ]
        return forPerson ? fields.joined(separator: "  ") : (fields + ["\(position)"]).joined(separator: "\t")
    }

    var json: JSONValue {
        .object([
            ("event", .string(event)), ("kind", JSONValue(kind)), ("items", .integer(Int64(items?.count ?? 0))),
            ("group", JSONValue(items?.group?.name)), ("position", .string("\(position)")),
        ])
    }
}
