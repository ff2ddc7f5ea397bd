internal import KeychainModel
internal import LatchkeyCommand
internal import LatchkeyImport

/// What an import did, item by item and column by column. Holds no value.
struct ImportReport: Sendable {
    let format: SourceFormat
    let isDryRun: Bool
    let flaws: [ImportedDocument.Flaw]
    let fields: [FieldLedger.Row]
    let items: [(item: PlannedItem, outcome: Importer.Outcome)]

    /// Whether all of the source is in the keychain now (or would be).
    var isComplete: Bool {
        flaws.isEmpty
            && items.allSatisfy { _, outcome in
                switch outcome {
                case .added, .unchanged, .replaced, .renamed: true
                case .conflict, .superseded, .failed: false
                }
            }
    }

    /// Why the keychain itself, and not what was to be stored, kept items out: a full disk, say.
    var outage: KeychainError? {
        for case (_, .failed(let error)) in items where ExitStatus(error) == .unavailable { return error }
        return nil
    }

    func count(_ name: OutcomeName) -> Int { items.count { OutcomeName($0.outcome) == name } }

    func count(_ role: PlannedItem.Role) -> Int { items.count { $0.item.role == role } }

    /// Those that a person may want to know of one by one.
    var notable: [(item: PlannedItem, outcome: Importer.Outcome)] {
        items.filter { ![.added, .unchanged].contains(OutcomeName($0.outcome)) }
    }

    /// What a dry run would add, by name: of a keyring a person sees no file beforehand.
    private var named: [(item: PlannedItem, outcome: Importer.Outcome)] {
        guard isDryRun, SourceFormat.overBus.contains(format) else { return [] }
        return items.filter { OutcomeName($0.outcome) == .added }
    }
}

/// An outcome without what goes with it, as JSON names it.
enum OutcomeName: String, Sendable, CaseIterable {
    case added, unchanged, replaced, renamed, conflict, superseded, failed

    init(_ outcome: Importer.Outcome) {
        self =
            switch outcome {
            case .added: .added
            case .unchanged: .unchanged
            case .replaced: .replaced
            case .renamed: .renamed
            case .conflict: .conflict
            case .superseded: .superseded
            case .failed: .failed
            }
    }
}

extension FieldDestination {
    /// As a person reads it, and as JSON names it.
    var words: (text: String, name: String) {
        switch self {
        case .value: ("the value", "value")
        case .account: ("account", "account")
        case .label: ("label", "label")
        case .address: ("server, port, path and protocol, or service", "address")
        case .note: ("the value of a note beside the item", "note")
        case .oneTimeSecret: ("the value of a one-time secret beside the item", "oneTimeSecret")
        case .securityDomain: ("security domain", "securityDomain")
        case .folder: ("comment", "comment")
        case .creationDate: ("creation date", "creationDate")
        case .modificationDate: ("date of change", "modificationDate")
        case .lookupAttributes: ("lookup attributes", "lookupAttributes")
        case .contentType: ("description", "contentType")
        case .group: ("access group", "group")
        case .attachment: ("the value of an item beside the item", "attachment")
        case .kind: ("which kind of item", "kind")
        case .notStored(let why): ("not stored: \(why)", "notStored")
        }
    }

    var why: String? { if case .notStored(let why) = self { why } else { nil } }
}

// MARK: For people

extension ImportReport {
    var text: String {
        let would = isDryRun ? "Would have" : "Has"
        var lines = ["\(format.name): \(items.count) \(items.count == 1 ? "item" : "items")."]
        lines.append(
            "\(would) " + OutcomeName.allCases.filter { count($0) > 0 }.map(summary).joined(separator: ", ") + ".")
        if items.isEmpty { lines.removeLast() }
        let beside = Self.roles.filter { count($0.role) > 0 }.map { role, one, many in
            "\(count(role)) \(count(role) == 1 ? one : many)"
        }
        if !beside.isEmpty {
            lines.append("Stored as items of their own beside the others: \(beside.joined(separator: ", ")).")
        }
        lines += section("Not read in whole", flaws.map { "\($0.place): \($0.reason)" })
        lines += section("Items to look at", notable.map(line))
        lines += section("Would be added", named.map { Self.name($0.item) })
        lines += section(
            "Where the fields went", fields.map { "\($0.field) (\($0.count)): \($0.destination.words.text)" })
        return lines.map { PrintableText.escaped($0) + "\n" }.joined()
    }

    private static let roles: [(role: PlannedItem.Role, one: String, many: String)] = [
        (.note, "note", "notes"), (.oneTimeSecret, "one-time secret", "one-time secrets"),
        (.attachment, "file", "files"),
    ]

    private func summary(_ name: OutcomeName) -> String {
        let number = count(name)
        return switch name {
        case .added: "added \(number)"
        case .unchanged: "left \(number) unchanged"
        case .replaced: "replaced \(number)"
        case .renamed: "stored \(number) under another account"
        case .conflict: "kept what was there for \(number)"
        case .superseded: "passed over \(number) for a later row"
        case .failed: "failed with \(number)"
        }
    }

    private func section(_ heading: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? [] : ["\(heading):"] + lines.map { "  \($0)" }
    }

    private static func name(_ item: PlannedItem) -> String {
        let name = [item.service, item.account].filter { !$0.isEmpty }.map(cut).joined(separator: ", ")
        return item.group.map { "\(name) (\($0.name))" } ?? name
    }

    /// A name may be as long as a book; JSON has the whole of it.
    private static func cut(_ name: String) -> String { name.count > 80 ? name.prefix(80) + "…" : name }

    private func line(_ item: PlannedItem, _ outcome: Importer.Outcome) -> String {
        let what =
            switch outcome {
            case .added: "added"
            case .unchanged: "unchanged"
            case .replaced: "replaced"
            case .renamed(let account): "stored under the account \(Self.cut(account))"
            case .conflict: "kept what was there (--on-conflict replace or rename)"
            case .superseded: "a later row has the same place"
            case .failed(let error): error.reason.plainExplanation
            }
        return "\(item.origin): \(Self.name(item)): \(what)"
    }
}

// MARK: For programs

extension ImportReport {
    var json: JSONValue {
        var members: [(String, JSONValue)] = [("format", .string(format.rawValue)), ("dryRun", .bool(isDryRun))]
        for name in [OutcomeName.added, .unchanged, .replaced, .renamed] {
            members.append((name.rawValue, number(count(name))))
        }
        members.append(("conflicts", number(count(.conflict) + count(.superseded))))
        members.append(("failed", number(count(OutcomeName.failed))))
        members.append(("flaws", .array(flaws.map(object))))
        members.append(("items", .array(notable.map(object))))
        members.append(("fields", .array(fields.map(object))))
        members.append(("notes", number(count(.note))))
        members.append(("oneTimeSecrets", number(count(.oneTimeSecret))))
        members.append(("attachments", number(count(.attachment))))
        return .object(members)
    }

    private func object(_ flaw: ImportedDocument.Flaw) -> JSONValue {
        .object([("place", .string("\(flaw.place)")), ("reason", .string(flaw.reason))])
    }

    private func number(_ count: Int) -> JSONValue { .integer(Int64(count)) }

    private func object(_ row: FieldLedger.Row) -> JSONValue {
        .object([
            ("field", .string(row.field)), ("destination", .string(row.destination.words.name)),
            ("count", number(row.count)), ("why", JSONValue(row.destination.why)),
        ])
    }

    private func object(_ item: PlannedItem, _ outcome: Importer.Outcome) -> JSONValue {
        var (renamed, reason): (String?, String?)
        if case .renamed(let account) = outcome { renamed = account }
        if case .failed(let error) = outcome { reason = error.reason.plainExplanation }
        return .object([
            ("place", .string("\(item.origin)")), ("outcome", .string(OutcomeName(outcome).rawValue)),
            ("service", .string(item.service)), ("account", .string(item.account)), ("renamedTo", JSONValue(renamed)),
            ("reason", JSONValue(reason)),
        ])
    }
}
