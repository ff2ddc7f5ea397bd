package import KeychainPlatform

/// A part of a source in secret memory, still in the form in which the source
/// writes it. Nothing is copied until somebody asks for the value.
package struct TextSlice: Sendable {
    /// How the source writes the bytes.
    package enum Form: Sendable {
        /// As they are.
        case plain
        /// Between quotes of CSV: a quote stands twice (RFC 4180, section 2.7).
        case quoted
        /// Between quotes of JSON (RFC 8259, section 7); checked by ``JSONReader``.
        case json
        /// RFC 4648, section 4; checked by ``Base64``.
        case base64
    }

    let owner: SharedSecret
    let range: Range<Int>
    let form: Form

    package init(_ owner: SharedSecret, _ range: Range<Int>, _ form: Form = .plain) {
        self.owner = owner
        self.range = range
        self.form = form
    }

    package var isEmpty: Bool { range.isEmpty }
    /// Decoding never makes it longer.
    var longestCount: Int { range.count }

    /// Appends the bytes that the slice stands for.
    func write(to writer: inout SecretWriter) {
        unsafe owner.bytes.withUnsafeBytes { bytes in
            let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
            switch form {
            case .plain: unsafe writer.append(part)
            case .quoted: unsafe Self.writeQuoted(part, &writer)
            case .json: unsafe JSONText.write(part, to: &writer)
            case .base64: unsafe Base64.write(part, to: &writer)
            }
        }
    }

    private static func writeQuoted(_ bytes: UnsafeRawBufferPointer, _ writer: inout SecretWriter) {
        var index = 0
        while index < bytes.count {
            let byte = unsafe bytes[index]
            writer.append(byte)
            index += byte == UInt8(ascii: "\"") ? 2 : 1
        }
    }
}

/// A value put together from parts of a source and words of ours, made only when
/// it is asked for.
package struct SecretText: Sendable {
    package enum Piece: Sendable {
        case words(String)
        case slice(TextSlice)
    }

    package private(set) var pieces: [Piece] = []

    package init() {}
    package init(_ slice: TextSlice) { if !slice.isEmpty { pieces = [.slice(slice)] } }
    package init(_ words: String) { if !words.isEmpty { pieces = [.words(words)] } }

    package var isEmpty: Bool { pieces.isEmpty }

    package mutating func append(_ words: String) { if !words.isEmpty { pieces.append(.words(words)) } }
    package mutating func append(_ text: SecretText) { pieces += text.pieces }

    /// The value, in memory that is wiped.
    package func secret() -> SecretBytes {
        var writer = SecretWriter(byteCount: longestCount)
        for piece in pieces {
            switch piece {
            case .words(let words): writer.append(words)
            case .slice(let slice): slice.write(to: &writer)
            }
        }
        return writer.finish()
    }

    /// An upper bound of the value's length.
    package var longestCount: Int {
        pieces.reduce(0) { sum, piece in
            switch piece {
            case .words(let words): sum + words.utf8.count
            case .slice(let slice): sum + slice.longestCount
            }
        }
    }

    /// For what is no secret: names, titles, addresses.
    package var text: String {
        secret().withBytes { span in unsafe span.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
    }
}

extension TextSlice {
    /// The bytes that these are the base64 of; nil where they are none.
    package var base64: TextSlice? {
        Base64.isValid(owner.bytes, range) ? TextSlice(owner, range, .base64) : nil
    }
}
