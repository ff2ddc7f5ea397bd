internal import KeychainProtocol

/// A name in an item's address: text or, where another program stored them, bytes.
///
/// Apple documents names such as the account as strings, and its keychain keeps
/// data there as well; so does this one. Whoever reads other people's items meets
/// both.
public struct ItemText: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The two kinds of name.
    public enum Form: Hashable, Sendable {
        /// Text, compared by its UTF-8 bytes in the keychain.
        case text(String)
        /// Bytes, which are no text even where they happen to be UTF-8. A number that
        /// another program stored is the four bytes by which the keychain compares it.
        case bytes([UInt8])

        /// Whether the keychain takes them for the same of their kind: byte by byte.
        public static func == (a: Form, b: Form) -> Bool {
            switch (a, b) {
            case (.text(let x), .text(let y)): x.hasSameBytes(as: y)
            case (.bytes(let x), .bytes(let y)): x == y
            case (.text, .bytes), (.bytes, .text): false
            }
        }

        /// Hashes the bytes.
        public func hash(into hasher: inout Hasher) {
            switch self {
            case .text(let text): text.hashBytes(into: &hasher)
            case .bytes(let bytes): hasher.combine(bytes)
            }
        }
    }

    /// Which of the two it is.
    public let form: Form
    /// The number that another program stored, so that it stays one.
    private let number: AttributeValue?

    /// Text.
    public init(_ text: String) { self.init(.text(text)) }
    /// Bytes.
    public init(bytes: [UInt8]) { self.init(.bytes(bytes)) }
    /// Text, from a literal.
    public init(stringLiteral text: String) { self.init(.text(text)) }

    private init(_ form: Form, number: AttributeValue? = nil) {
        self.form = form
        self.number = number
    }

    /// Whether both have the same bytes, be they text or not: so the keychain compares
    /// names, and "é" and "e" with an accent are two. Whoever needs to know whether both
    /// are text compares ``form``.
    public static func == (a: ItemText, b: ItemText) -> Bool { a.bytes == b.bytes }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    /// By which the keychain compares it.
    var bytes: [UInt8] {
        switch form {
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        }
    }

    /// The text; nil for bytes, also where they happen to be UTF-8, and for a number.
    public var string: String? { if case .text(let text) = form { text } else { nil } }

    /// The text, the number, or how many bytes.
    public var description: String {
        switch (number, form) {
        case (.integer(let number), _): "\(number)"
        case (.real(let number), _): "\(number)"
        case (_, .text(let text)): text
        case (_, .bytes(let bytes)): "<\(bytes.count) bytes>"
        }
    }

    /// What finds it, and stores it as it was.
    var raw: RawValue {
        if let number { return number.raw }
        switch form {
        case .text(let text): return .string(text)
        case .bytes(let bytes): return .data(bytes)
        }
    }

    /// - Parameter value: of a column that takes text, bytes and numbers.
    init(_ value: AttributeValue?) {
        switch value {
        case .string(let text): self.init(text)
        case .data(let bytes): self.init(bytes: bytes)
        case .integer, .real, .date: self.init(.bytes(value?.comparisonBytes(as: .blob) ?? []), number: value)
        case nil: self.init("")
        }
    }
}

extension AttributeValue {
    /// The same in a caller's dictionary.
    var raw: RawValue {
        switch self {
        case .string(let text): .string(text)
        case .data(let bytes): .data(bytes)
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .date(let seconds): .date(seconds)
        }
    }
}
