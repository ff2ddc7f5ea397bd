internal import KeychainModel

/// What --json writes, on one line, members in the order given.
package enum JSONValue: Sendable {
    case string(String)
    case integer(Int64)
    case bool(Bool)
    case null
    case array([JSONValue])
    case object([(String, JSONValue)])

    package init(_ text: String?) { self = text.map { .string($0) } ?? .null }

    package static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    package var text: String {
        switch self {
        case .string(let text): JSONText.quoted(text)
        case .integer(let number): "\(number)"
        case .bool(let on): on ? "true" : "false"
        case .null: "null"
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { JSONText.quoted($0.0) + ":" + $0.1.text }.joined(separator: ",") + "}"
        }
    }
}

extension StoredItem {
    var json: JSONValue { .object(jsonMembers) }

    var jsonMembers: [(String, JSONValue)] {
        [
            ("service", .string(service)), ("account", .string(account)), ("kind", .string(kind.text)),
            ("group", JSONValue(group)), ("label", JSONValue(label)), ("created", JSONValue(created?.text)),
            ("modified", JSONValue(modified?.text)),
        ]
    }
}
