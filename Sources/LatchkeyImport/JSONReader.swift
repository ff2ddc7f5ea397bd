internal import KeychainPlatform

/// Reads JSON (RFC 8259) without taking its strings out of secret memory.
struct JSONReader {
    struct Stop: Error {
        let offset: Int
        let reason: JSONNode.Flaw.Reason
    }

    /// No exporter nests nearly as deep.
    private static let deepest = 64

    private let content: SharedSecret
    private var position: Int
    private let end: Int
    private var depth = 0

    init(_ content: SharedSecret, _ range: Range<Int>) {
        self.content = content
        position = range.lowerBound
        end = range.upperBound
    }

    mutating func whole() throws(Stop) -> JSONNode {
        let node = try value()
        skipBlanks()
        guard position == end else { throw stop(.notJSON) }
        return node
    }

    private func stop(_ reason: JSONNode.Flaw.Reason) -> Stop { Stop(offset: position, reason: reason) }

    private var byte: UInt8? { position < end ? content.bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { position += 1 }
    }

    private mutating func value() throws(Stop) -> JSONNode {
        skipBlanks()
        switch byte {
        case UInt8(ascii: "{"): return .object(try nested(Self.members))
        case UInt8(ascii: "["): return .array(try nested(Self.elements))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw stop(.cutShort)
        default: return .number(try number())
        }
    }

    private mutating func nested<R>(_ body: (inout JSONReader) throws(Stop) -> R) throws(Stop) -> R {
        guard depth < Self.deepest else { throw stop(.tooDeep) }
        depth += 1
        position += 1
        let result = try body(&self)
        depth -= 1
        return result
    }

    private static func members(_ reader: inout JSONReader) throws(Stop) -> [JSONNode.Member] {
        var members: [JSONNode.Member] = []
        while try reader.hasAnother(until: UInt8(ascii: "}"), isFirst: members.isEmpty) {
            guard reader.byte == UInt8(ascii: "\"") else { throw reader.stop(.notJSON) }
            let name = SecretText(try reader.string()).text
            reader.skipBlanks()
            guard reader.byte == UInt8(ascii: ":") else { throw reader.stop(.notJSON) }
            reader.position += 1
            members.append(JSONNode.Member(name: name, value: try reader.value()))
        }
        return members
    }

    private static func elements(_ reader: inout JSONReader) throws(Stop) -> [JSONNode] {
        var elements: [JSONNode] = []
        while try reader.hasAnother(until: UInt8(ascii: "]"), isFirst: elements.isEmpty) {
            elements.append(try reader.value())
        }
        return elements
    }

    /// Whether one more follows; takes the comma before it, or the closing mark.
    private mutating func hasAnother(until closing: UInt8, isFirst: Bool) throws(Stop) -> Bool {
        skipBlanks()
        if byte == closing {
            position += 1
            return false
        }
        if !isFirst {
            guard byte == UInt8(ascii: ",") else { throw stop(byte == nil ? .cutShort : .notJSON) }
            position += 1
            skipBlanks()
        }
        guard byte != nil else { throw stop(.cutShort) }
        return true
    }

    private mutating func word(_ word: StaticString, _ node: JSONNode) throws(Stop) -> JSONNode {
        for expected in Array("\(word)".utf8) {
            guard byte == expected else { throw stop(byte == nil ? .cutShort : .notJSON) }
            position += 1
        }
        return node
    }

    // MARK: Numbers

    /// RFC 8259, section 6.
    private mutating func number() throws(Stop) -> String {
        let start = position
        if byte == UInt8(ascii: "-") { position += 1 }
        if byte == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if byte == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            position += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        return SecretText(TextSlice(content, start..<position)).text
    }

    private mutating func digits() throws(Stop) {
        let start = position
        while let byte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw stop(byte == nil ? .cutShort : .notJSON) }
    }

    // MARK: Strings

    private mutating func string() throws(Stop) -> TextSlice {
        position += 1
        let start = position
        while true {
            position =
                content.bytes.firstIndex(in: position..<end) { byte in
                    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20
                } ?? end
            guard byte == UInt8(ascii: "\\") else { break }
            position += 1
            try escape()
        }
        if let byte, byte < 0x20 { throw stop(.notJSON) }
        guard byte != nil else { throw stop(.cutShort) }
        guard content.bytes.isUTF8(start..<position) else { throw stop(.notText) }
        position += 1
        return TextSlice(content, start..<position - 1, .json)
    }

    private mutating func escape() throws(Stop) {
        guard let letter = byte else { throw stop(.cutShort) }
        position += 1
        guard letter == UInt8(ascii: "u") else {
            guard JSONText.short(letter) != nil else { throw stop(.notJSON) }
            return
        }
        var index = position
        let end = end
        let scalar = unsafe content.bytes.withUnsafeBytes { bytes in
            unsafe JSONText.escapedScalar(UnsafeRawBufferPointer(rebasing: bytes[0..<end]), &index)
        }
        guard scalar != nil else { throw stop(.halfCharacter) }
        position = index
    }
}
