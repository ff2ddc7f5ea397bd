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
        /// Bytes, which are no text even where they happen to be UTF-8.
        case bytes([UInt8])
    }

    /// Which of the two it is.
    public let form: Form

    /// Text.
    public init(_ text: String) { form = .text(text) }
    /// Bytes.
    public init(bytes: [UInt8]) { form = .bytes(bytes) }
    /// Text, from a literal.
    public init(stringLiteral text: String) { form = .text(text) }

    /// The text; nil for bytes, also where they happen to be UTF-8.
    public var string: String? { if case .text(let text) = form { text } else { nil } }

    /// The text, or the number of bytes.
    public var description: String {
        switch form {
        case .text(let text): text
        case .bytes(let bytes): "<\(bytes.count) bytes>"
        }
    }

    var raw: RawValue {
        switch form {
        case .text(let text): .string(text)
        case .bytes(let bytes): .data(bytes)
        }
    }

    init(_ value: AttributeValue?) {
        switch value {
        case .string(let text): self.init(text)
        case .data(let bytes): self.init(bytes: bytes)
        case .integer(let number): self.init("\(number)")
        case .real(let number): self.init("\(number)")
        case .date(let seconds): self.init("\(seconds)")
        case nil: self.init("")
        }
    }
}
