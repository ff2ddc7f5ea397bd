internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

struct ExplainCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show a program's keychain calls and why each ended as it did.",
        usage:
            "latchkey explain [--json] -- <command> [<argument> ...]\n       latchkey explain [--call <call>] [--json]",
        discussion: """
            Runs the command and writes each of its keychain calls to standard error: the function, \
            the dictionary without values, the access groups that were tried, the status, the reason \
            and the nearest miss: which items would have matched with less asked for, in which group \
            they lie, what an item is unique by. Nothing is changed by looking. The status is the \
            command's own.

            Without a command it reads a dictionary from standard input, a key and a value a line, \
            and says what a call with it would give; nothing is stored, changed or removed, and no \
            secret is read.

            It tells also of items of access groups that the program is not in, as long as the \
            keychain has no passcode and `latchkey` runs outside any sandbox.

            EXAMPLES
              latchkey explain -- swift run app
              printf 'kSecClass: kSecClassGenericPassword\\nkSecAttrServer: "a"\\n' |
                latchkey explain

            --json writes one object a line: {"call", "function", "program", "query", "changes", \
            "groups", "status", "name", "reason", "nearest"}.
            """)

    @Option(help: ArgumentHelp("Which call a typed dictionary is for.", valueName: "copy|add|delete"))
    var call: TypedCall = .copy

    @Flag(help: "Write each call as a line of JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    enum TypedCall: String, ExpressibleByArgument {
        case copy, add, delete
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        command.isEmpty ? try explainTyped(surroundings) : try explainCommand(surroundings)
    }

    // MARK: A command

    private func explainCommand(_ surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let keychain = surroundings.keychain(store.dataDirectory.map(surroundings.absolute))
        let (console, json, folder) = (surroundings.console, json, store.dataDirectory)
        let count = Mutex(0)
        let listener = try ExplainListener.start { record in
            let number = count.withLock { count in
                count += 1
                return count
            }
            // Whoever only looks makes none.
            let missing = surroundings.missingKeychain(folder)
            console.note(Self.explain(number, record, missing == nil ? keychain : nil, json))
        }
        defer { listener.end() }
        let name = ExplainedKeychain.variable
        let environment =
            ProcessEnvironment.variables.filter { !$0.hasPrefix("\(name)=") } + ["\(name)=\(listener.path)"]
        let status: Int32
        do throws(SystemCallError) {
            status = try ForegroundCommand.run(command, environment: environment)
        } catch {
            throw .notStarted(command, error)
        }
        if count.withLock({ $0 }) == 0 {
            console.note("latchkey: no keychain call was seen: the command made none, or does not use Latchkey.")
        }
        return ExitStatus(rawValue: status)
    }

    private static func explain(
        _ number: Int, _ record: CallRecord, _ keychain: (any KeychainTransport)?, _ json: Bool
    ) -> String {
        let miss: [String]
        do throws(KeychainError) {
            miss = try keychain.map { keychain throws(KeychainError) in
                try NearestMiss(record: record, keychain: keychain).lines()
            } ?? ["there is no keychain yet"]
        } catch {
            miss = ["what is near cannot be looked at: \(error.reason.explanation)"]
        }
        let call = ExplainedCall(number: number, record: record, miss: miss)
        return json ? call.json.text : call.text
    }

    // MARK: A typed dictionary

    private func explainTyped(_ surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try surroundings.requireKeychain(store.dataDirectory)
        let keychain = surroundings.keychain(store.dataDirectory.map(surroundings.absolute))
        let query = try readDictionary(surroundings.console)
        let session = try asking { () throws(KeychainError) in try keychain.session() }
        let (error, rows) = outcome(of: query, keychain, session)
        let operation: KeychainRequest.Operation =
            switch call {
            case .copy: .copy
            case .add: .add
            case .delete: .delete
            }
        let record = CallRecord(
            request: KeychainRequest(operation, query: query), error: error, rows: rows, groups: session.groups,
            nameableGroups: session.nameableGroups, program: "typed")
        let text = Self.explain(1, record, keychain, json)
        try printing { () throws(SystemCallError) in try surroundings.console.write("\(text)\n") }
        return .done
    }

    private func readDictionary(_ console: any Console) throws(CommandFailure) -> QueryDictionary {
        var lines: [String] = []
        if console.inputIsTerminal {
            console.note("A key and a value a line; an empty line ends the dictionary.")
            while let line = console.promptForLine("  "), !line.isEmpty { lines.append(line) }
        } else {
            let input: SecretBytes?
            do throws(SystemCallError) { input = try console.readSecret(atMost: 1 << 20) } catch {
                throw CommandFailure(.usage, "standard input cannot be read (\(error))", "Pipe a dictionary in.")
            }
            guard let input else {
                throw CommandFailure(.usage, "the dictionary is longer than 1 MiB", "Give a shorter one.")
            }
            lines = String(decoding: input.insecureArray(), as: UTF8.self)
                // CR LF is one character.
                .split(whereSeparator: \.isNewline).map(String.init)
        }
        var query = QueryDictionary()
        for line in lines {
            guard let entry = try TypedDictionary.entry(line) else { continue }
            guard query[entry.key] == nil else {
                throw CommandFailure(.usage, "\(KeyNames.constant(entry.key)) is there twice", "Give each key once.")
            }
            query.append(.text(entry.key), entry.value)
        }
        return query
    }

    /// What the call would answer, found out by a search for attributes.
    private func outcome(
        of query: QueryDictionary, _ keychain: any KeychainTransport, _ session: SessionInformation
    ) -> (KeychainError?, rows: Int) {
        do throws(KeychainError) {
            switch call {
            case .copy: return (nil, try found(query, keychain))
            case .delete:
                try checkDelete(query, session)
                return (nil, try found(query, keychain))
            case .add:
                try checkAdd(query, session, keychain)
                return (nil, 0)
            }
        } catch {
            return (error, 0)
        }
    }

    private func found(
        _ query: QueryDictionary, _ keychain: any KeychainTransport
    ) throws(KeychainError) -> Int {
        var search = query
        search.entries.removeAll { $0.key == .text("r_Data") || $0.key == .text("r_Attributes") }
        search.append(.text("r_Attributes"), .bool(true))
        if call == .delete, search["m_Limit"] == nil { search.append(.text("m_Limit"), .string("m_LimitAll")) }
        return try keychain.perform(KeychainRequest(.copy, query: search)).rows.count
    }

    /// As the keychain checks it: some keys of a search are none of a delete.
    private func checkDelete(_ query: QueryDictionary, _ session: SessionInformation) throws(KeychainError) {
        let parsed = try QueryParser.parse(query, for: .delete, entitlements: Entitlements())
        try checkGroup(of: query, session)
        try parsed.checkKeys(for: .delete)
    }

    private func checkGroup(of query: QueryDictionary, _ session: SessionInformation) throws(KeychainError) {
        if case .string(let group) = query["agrp"],
            !AccessGroup(group).isNamed(by: session.groups + session.nameableGroups)
        {
            throw KeychainError(.missingEntitlement, reason: .groupNotEntitled(group: group))
        }
    }

    /// As the keychain checks it, without storing anything.
    private func checkAdd(
        _ query: QueryDictionary, _ session: SessionInformation, _ keychain: any KeychainTransport
    ) throws(KeychainError) {
        let parsed = try QueryParser.parse(query, for: .add, entitlements: Entitlements())
        try checkGroup(of: query, session)
        try parsed.checkKeys(for: .add)
        try parsed.requireNoObject()
        var taken = QueryDictionary([("class", .string(parsed.itemClass.rawValue)), ("r_Attributes", .bool(true))])
        taken.entries += NearestMiss.address(of: query, parsed.itemClass)
        if let group = query["agrp"] ?? session.groups.first.map({ .string($0) }) { taken.append(.text("agrp"), group) }
        do throws(KeychainError) { _ = try keychain.perform(KeychainRequest(.copy, query: taken)) } catch {
            if error.status == .itemNotFound { return }
            throw error
        }
        throw KeychainError(.duplicateItem, reason: .duplicate)
    }
}
