internal import Foundation

/// What the runner tells the daemon for tests, a line of JSON each; the daemon
/// answers with a line, "ok" or what went wrong.
package enum DaemonCommand: Sendable {
    /// Who every client is from here on.
    case become(CaseContext)
    /// Persistent references in hexadecimal digits.
    case corruptItems([String])
    case corruptMetadataKey(String)
    /// What the person does from now on when asked.
    case answer(String)
    /// What the person remembers.
    case passcode(String)

    package static let ready = "ok"

    package var line: String {
        switch self {
        case .become(let context): Self.line("become", context.json)
        case .corruptItems(let references): Self.line("corruptItems", .array(references.map(JSONValue.string)))
        case .answer(let result): Self.line("answer", .string(result))
        case .passcode(let text): Self.line("passcode", .string(text))
        case .corruptMetadataKey(let protection): Self.line("corruptMetadataKey", .string(protection))
        }
    }

    private static func line(_ name: String, _ value: JSONValue) -> String {
        JSONValue.object([name: value]).serialized
    }

    package init(line: String) throws {
        let json = try JSONValue(parsing: line.utf8)
        switch (json.only?.key, json.only?.value) {
        case ("become", let context?): self = .become(CaseContext(context))
        case ("corruptItems", .array(let references)): self = .corruptItems(references.compactMap(\.string))
        case ("answer", .string(let result)): self = .answer(result)
        case ("passcode", .string(let text)): self = .passcode(text)
        case ("corruptMetadataKey", .string(let protection)): self = .corruptMetadataKey(protection)
        default: throw CorpusError("unknown command \(line)")
        }
    }
}

extension JSONValue {
    /// One line that ``init(parsing:)`` reads back.
    var serialized: String {
        switch self {
        case .null, .bool, .integer, .real: "\(self)"
        case .string(let text): Self.quoted(text)
        case .array(let values): "[" + values.map(\.serialized).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.key) + ":" + $0.value.serialized }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": out += "\\\(scalar)"
            case _ where scalar.value < 0x20: out += "\\u00" + String(scalar.value + 0x100, radix: 16).dropFirst()
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}
