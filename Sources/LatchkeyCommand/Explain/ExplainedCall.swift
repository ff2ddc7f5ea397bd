internal import KeychainModel
internal import KeychainProtocol

/// One call as `latchkey explain` shows it: what was asked, where, how it ended
/// and what was nearly found. Of attributes it shows the kind and the size, never
/// the value.
struct ExplainedCall {
    let number: Int
    let record: CallRecord
    /// Why it ended so, beyond the status.
    let miss: [String]

    var text: String {
        var lines = ["\(number). \(function)  \(PrintableText.escaped(record.program))"]
        lines += shown(record.request.query)
        if !record.request.changes.entries.isEmpty {
            lines.append("     changes")
            lines += shown(record.request.changes)
        }
        lines.append(
            "     groups: \(groups.isEmpty ? "none" : groups.map(PrintableText.escaped).joined(separator: ", "))")
        lines.append("     \(outcome)")
        lines += miss.map { "     \(PrintableText.escaped($0))" }
        return lines.joined(separator: "\n") + "\n"
    }

    var json: JSONValue {
        .object([
            ("call", .integer(Int64(number))), ("function", .string(function)), ("program", .string(record.program)),
            ("query", Self.json(record.request.query)), ("changes", Self.json(record.request.changes)),
            ("groups", .array(groups.map { .string($0) })), ("status", .integer(Int64(status.rawValue))),
            ("name", .string(status.name ?? "OSStatus \(status.rawValue)")),
            ("reason", record.error.map { .string($0.reason.explanation) } ?? .null),
            ("nearest", .array(miss.map { .string($0) })),
        ])
    }

    private static func json(_ dictionary: QueryDictionary) -> JSONValue {
        .object(dictionary.entries.map { (key($0.key), .string(kind(of: $0))) })
    }

    private var function: String {
        switch record.request.operation {
        case .add: "SecItemAdd"
        case .copy: "SecItemCopyMatching"
        case .update: "SecItemUpdate"
        case .delete: "SecItemDelete"
        case .deleteGroups: "SecItemDeleteAllWithAccessGroups"
        case .addItems, .copyEach, .searchEach, .changePosition, .changes, .status, .device, .awaitDevice, .means, .evaluate,
            .setApplicationPassword, .doctor, .census, .audit:
            "a call of Latchkey's own"
        }
    }

    /// Where the call looked, or where it stored.
    private var groups: [String] {
        if case .string(let group) = record.request.query["agrp"] { return [group] }
        return record.request.operation == .add ? Array(record.groups.prefix(1)) : record.groups
    }

    private var status: Status { record.error?.status ?? .success }

    private var outcome: String {
        guard let error = record.error else {
            // A copy that asks for nothing to be returned gets no rows.
            return record.rows > 0 ? "errSecSuccess: \(record.rows) found" : "errSecSuccess"
        }
        let name = status.name ?? "OSStatus"
        return "\(name) (\(status.rawValue)): \(PrintableText.escaped(error.reason.explanation))"
    }

    // MARK: Entries

    private func shown(_ dictionary: QueryDictionary) -> [String] {
        let names = dictionary.entries.map { PrintableText.escaped(Self.key($0.key)) }
        let width = names.map(\.count).max() ?? 0
        return zip(names, dictionary.entries).map { name, entry in
            "     " + name + String(repeating: " ", count: width - name.count) + "  " + Self.kind(of: entry)
        }
    }

    private static func key(_ key: QueryDictionary.Key) -> String {
        if case .text(let text) = key { KeyNames.constant(text) } else { "(a key that is no string)" }
    }

    private static func kind(of entry: QueryDictionary.Entry) -> String {
        let key = if case .text(let text) = entry.key { text } else { "" }
        switch entry.value {
        case .string(let text):
            if let constant = KeyNames.constantValue(text, of: key) { return constant }
            // Which group a program asks for is what this is about.
            return key == "agrp" ? PrintableText.escaped(text) : "text, \(plural(text.count, "character"))"
        case .data(let bytes): return "data, \(plural(bytes.count, "byte"))"
        case .integer(let number): return key == "m_Limit" ? "\(number)" : "number"
        case .real: return "number"
        case .bool(let flag): return flag ? "true" : "false"
        case .date: return "date"
        case .uuid: return "UUID"
        case .null: return "null"
        case .array(let values): return "array of \(values.count)"
        case .dictionary: return "dictionary"
        case .accessControl: return "SecAccessControl"
        case .secret: return "data (secret)"
        case .foreign(let type): return PrintableText.escaped(type)
        }
    }

    private static func plural(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
