package import KeychainPlatform

/// A JSON value whose strings stay in secret memory.
package indirect enum JSONNode: Sendable {
    case object([Member])
    case array([JSONNode])
    case string(TextSlice)
    /// As it is written.
    case number(String)
    case bool(Bool)
    case null

    package struct Member: Sendable {
        package let name: String
        package let value: JSONNode
    }

    /// Where a text is no JSON, and how.
    package struct Flaw: Error, Hashable, Sendable {
        package let line: Int
        package let reason: Reason

        package enum Reason: String, Sendable {
            case notJSON = "this is no JSON"
            case cutShort = "the text ends too early"
            case notText = "bytes that are no text"
            case tooDeep = "values are nested too deep"
            case halfCharacter = "half of a character stands alone"
        }
    }

    /// Reads a whole text.
    package static func parse(_ source: SourceText) throws(Flaw) -> JSONNode {
        try parse(source.content, 0..<source.count) { source.line(at: $0) }
    }

    /// Reads a part, to the end of it; `line` numbers a place for messages.
    package static func parse(
        _ content: SharedSecret, _ range: Range<Int>, line: (Int) -> Int
    ) throws(Flaw) -> JSONNode {
        var reader = JSONReader(content, range)
        do throws(JSONReader.Stop) { return try reader.whole() } catch {
            throw Flaw(line: line(error.offset), reason: error.reason)
        }
    }
}

extension JSONNode {
    package var members: [Member] { if case .object(let members) = self { members } else { [] } }
    package var elements: [JSONNode] { if case .array(let elements) = self { elements } else { [] } }

    /// The first member of that name.
    package subscript(name: String) -> JSONNode? { members.first { $0.name == name }?.value }

    /// A string; numbers and truth values as they are written.
    package var secretText: SecretText? {
        switch self {
        case .string(let slice): SecretText(slice)
        case .number(let digits): SecretText(digits)
        case .bool(let on): SecretText(on ? "true" : "false")
        case .null, .array, .object: nil
        }
    }

    package var text: String { secretText?.text ?? "" }

    package var isTrue: Bool { if case .bool(true) = self { true } else { false } }

    /// Says nothing: null, an empty string, list or object, or false.
    package var isBlank: Bool {
        switch self {
        case .null, .bool(false): true
        case .string(let slice): slice.isEmpty
        case .array(let elements): elements.allSatisfy(\.isBlank)
        case .object(let members): members.allSatisfy(\.value.isBlank)
        case .number, .bool(true): false
        }
    }
}
