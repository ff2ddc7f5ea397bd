internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct LogCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show who read what: the keychain's audit record.",
        discussion: """
            One line an event: when, what, how often (a loop is one line), which program, which item, and what \
            became of it. read: a value was handed out. search, add, update, delete, agree, repair, log: calls that \
            changed something, or were refused. connect: somebody was not let in. gap: lines that had no place, or, by \
            the enclave, that a daemon had and could not write before it ended, so many at most. \
            The other events are said by the enclave itself, which no other program can keep from it: started, \
            unlocked, locked, attempt-failed, passcode-…, recovery-…, protector-…, agreed, keys-opened (how many \
            keys of items it gave to the daemon), head-lost. Items are recorded by keyed digests of their names; \
            the names of those that are there now are shown, of others the beginning of the digest. What came over a \
            session's bus is of latchkey-secret-service "for" the program that asked it: by that program's bare \
            process number, which is worth as much as any process of yours.

            The record is sealed and can be read while the keychain is unlocked. With a passcode that needs a person \
            who agrees, as `list --all` does. It is written each second and at a lock; the newest 28 to 32 MiB are \
            kept. What reads the folder without the daemon (a backup, a copy) is not in it.

            --verify reads all of it and says whether a line was removed, changed or cut off since it was \
            written. What happened in the second before the machine lost its power, or before somebody who can \
            write the folder cut it off, may be missing without showing. Old keys and an old record put back \
            together show as little (THREAT_MODEL.md). The status is 5 where something does not fit.

            EXAMPLES
              latchkey log --item mail
              latchkey log --since 1h --denied
              latchkey log --follow --json
              latchkey log --verify

            --json writes one object a line: {"time", "last", "event", "count", "by", "program", "pid", "for", "forPid", \
            "forBy", "strength", "contained", "inPersonsName", "kind", "protection", "group", "service", "account", \
            "item", "allowed", "status", "reason"}; with --verify one {"sound", "blocks", "lines", "completeUpTo", "unwritten", \
            "findings": [{"kind", "file", "block", "what"}]}.
            """)

    @Option(help: ArgumentHelp("Only lines about the items of this service, server or label.", valueName: "service"))
    var item: String?

    @Option(help: ArgumentHelp("With --item: only of this account.", valueName: "account"))
    var account: String?

    @Option(help: ArgumentHelp("Only programs whose name has this in it.", valueName: "text"))
    var program: String?

    @Option(help: ArgumentHelp("Only this event; may be given several times.", valueName: "event"))
    var event: [String] = []

    @Flag(help: "Only what was refused, and attempts that failed.")
    var denied = false

    @Option(help: ArgumentHelp("Only from then on: 2026-01-31T12:00:00Z, or 90s, 5m, 2h, 7d ago.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only until then.", valueName: "time"))
    var until: String?

    @Flag(help: "Go on with what happens, until Ctrl-C.")
    var follow = false

    @Flag(help: "Say whether the record is whole.")
    var verify = false

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    mutating func validate() throws {
        if account != nil, item == nil { throw ValidationError("--account goes with --item.") }
        if verify, follow { throw ValidationError("--verify and --follow do not go together.") }
        if verify, hasFilter { throw ValidationError("--verify looks at all of the record: leave out the filters.") }
        for name in event where !AuditRecord.Event.names.contains(name) {
            let known = AuditRecord.Event.names.joined(separator: ", ")
            throw ValidationError("There is no event \"\(name)\". There are: \(known).")
        }
        for text in [since, until] {
            if let text, LogMoment(text) == nil {
                throw ValidationError("A time is 2026-01-31T12:00:00Z, or a number with s, m, h or d: so long ago.")
            }
        }
    }

    private var hasFilter: Bool {
        item != nil || program != nil || !event.isEmpty || denied || since != nil || until != nil
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try surroundings.requireKeychain(store.dataDirectory)
        let ending = follow ? try surroundings.endOfWatch() : nil
        let keychain = try CommandKeychain.open(store, reach: .everyGroup, in: surroundings)
        var reading = LogReading(keychain, item: item, account: account)
        if verify { return try check(&reading, on: surroundings.console) }
        let clock = surroundings.configuration.clock
        let filter = LogFilter(
            program: program, events: event, deniedOnly: denied,
            since: since.flatMap { LogMoment($0) }?.seconds(at: clock.wallClock),
            until: until.flatMap { LogMoment($0) }?.seconds(at: clock.wallClock))
        var isBroken = false
        var unwritten: AuditPage.Unwritten?
        while true {
            let page = try reading.next()
            if follow, (page.unwritten == nil) != (unwritten == nil) {
                surroundings.console.note("latchkey: \(page.unwritten?.text ?? "The record is written again.")")
            }
            unwritten = page.unwritten
            isBroken = isBroken || page.findings.contains { $0.kind != .keysForgotten }
            try show(page.records.filter(filter.passes), reading.names, on: surroundings.console)
            guard page.isAtEnd else { continue }
            guard let ending, try !isOver(ending, clock) else { break }
        }
        if let unwritten, !follow { surroundings.console.note("latchkey: \(unwritten.text)") }
        if isBroken {
            surroundings.console.note(
                "latchkey: something does not fit in the record; `latchkey log --verify` says what.")
        }
        return .done
    }

    /// A second later, unless it is to end.
    private func isOver(_ ending: EventSignal, _ clock: any KeychainClock) throws(CommandFailure) -> Bool {
        do throws(SystemCallError) {
            return try waitForAny(of: [ending.descriptor], until: Deadline(after: .seconds(1), on: clock)) != nil
        } catch {
            throw CommandFailure(
                .fault, "nothing can be waited for (\(error))", "Close other programs, then try again.")
        }
    }

    private func show(
        _ records: [AuditRecord], _ names: [[UInt8]: AuditPage.Name], on console: any Console
    ) throws(CommandFailure) {
        let lines = records.map { LogLine($0, names[$0.item]) }
        let text = lines.map { line in
            json ? line.json.text + "\n" : line.text(forPerson: console.outputIsTerminal) + "\n"
        }.joined()
        guard !text.isEmpty else { return }
        try printing { () throws(SystemCallError) in try console.write(text) }
    }

    private func check(_ reading: inout LogReading, on console: any Console) throws(CommandFailure) -> ExitStatus {
        var verdict = LogVerdict()
        var isAtEnd = false
        while !isAtEnd {
            let page = try reading.next()
            verdict.take(page)
            isAtEnd = page.isAtEnd
        }
        let text = json ? verdict.json.text + "\n" : verdict.text
        try printing { () throws(SystemCallError) in try console.write(text) }
        return verdict.isSound ? .done : .damaged
    }
}

/// The record, one answer after the other.
struct LogReading {
    private let keychain: CommandKeychain
    private var query = AuditQuery()
    /// Items that are there, by what stands for them.
    private(set) var names: [[UInt8]: AuditPage.Name] = [:]

    init(_ keychain: CommandKeychain, item: String?, account: String?) {
        self.keychain = keychain
        query.name = item
        query.account = account
        query.wantsNames = true
    }

    mutating func next() throws(CommandFailure) -> AuditPage {
        let query = query
        let answer = try asking { () throws(KeychainError) in
            try keychain.perform(KeychainRequest(.audit(query)))
        }
        guard let page = answer.audit else {
            throw CommandFailure(KeychainError(.internalComponent, reason: .internalFault(what: "no record came")))
        }
        for name in page.names { names[name.digest] = name }
        self.query.from = page.next
        // Items that were not there when it began.
        self.query.wantsNames = page.records.contains { !$0.item.isEmpty && names[$0.item] == nil }
        // Whoever follows is asked once: with the end of that agreement it ends.
        if page.isAtEnd { self.query.asksNobody = true }
        return page
    }
}

/// A moment as a person gives it.
struct LogMoment: Sendable {
    private enum Form {
        case at(Double)
        case ago(Double)
    }

    private let form: Form

    init?(_ text: String) {
        if let moment = Timestamp(text: text) {
            form = .at(moment.secondsSince2001)
            return
        }
        guard let span = TimeSpan(text) else { return nil }
        form = .ago(Double(span.seconds))
    }

    /// In seconds since 2001-01-01T00:00:00Z.
    func seconds(at now: Double) -> Double {
        switch form {
        case .at(let moment): moment
        case .ago(let seconds): now - seconds
        }
    }
}

/// Which lines a person wants to see, of those that are about the items.
struct LogFilter: Sendable {
    let program: String?
    let events: [String]
    let deniedOnly: Bool
    let since: Double?
    let until: Double?

    func passes(_ record: AuditRecord) -> Bool {
        if let program, !record.program.contains(program), record.served?.path.contains(program) != true {
            return false
        }
        if !events.isEmpty, !events.contains(record.event.name) { return false }
        if deniedOnly, record.refusal == nil, record.event != .attemptFailed { return false }
        if let since, record.last < since { return false }
        if let until, record.first > until { return false }
        return true
    }
}
