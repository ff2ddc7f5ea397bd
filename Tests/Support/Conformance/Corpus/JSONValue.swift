internal import Foundation

/// One value of a corpus file, with its JSON type kept: 1 is no truth value here.
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

extension JSONValue: Decodable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() { self = .null; return }
        if let flag = try? container.decode(Bool.self) { self = .bool(flag); return }
        if let number = try? container.decode(Int64.self) { self = .integer(number); return }
        if let number = try? container.decode(Double.self) { self = .real(number); return }
        if let text = try? container.decode(String.self) { self = .string(text); return }
        if let values = try? container.decode([JSONValue].self) { self = .array(values); return }
        self = .object(try container.decode([String: JSONValue].self))
    }

    package init(parsing bytes: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    }
}

extension JSONValue {
    package subscript(key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var bool: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    package var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    package var object: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    package var isNull: Bool { self == .null }

    /// The only member of an object that has one.
    package var only: (key: String, value: JSONValue)? {
        guard let object, object.count == 1 else { return nil }
        return object.first.map { ($0.key, $0.value) }
    }

    /// Whether a string anywhere below, key or value, fulfils `condition`.
    package func contains(where condition: (JSONValue) -> Bool) -> Bool {
        if condition(self) { return true }
        switch self {
        case .array(let values): return values.contains { $0.contains(where: condition) }
        case .object(let members): return members.values.contains { $0.contains(where: condition) }
        case .null, .bool, .integer, .real, .string: return false
        }
    }
}

extension JSONValue: CustomStringConvertible {
    /// Compact, keys in order; long text is cut.
    package var description: String {
        switch self {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .string(let text): text.count > 80 ? "\"\(text.prefix(77))…\"" : "\"\(text)\""
        case .array(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
        }
    }
}
