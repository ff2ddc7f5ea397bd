package import KeychainPlatform

/// The text of a source as UTF-8 without its byte-order mark, in secret memory.
///
/// What is no text in the source is no UTF-8 here either, so that whoever reads
/// a line of it can name that line and go on with the next.
package struct SourceText: Sendable {
    package enum Encoding: String, Sendable {
        case utf8 = "UTF-8"
        case utf16LittleEndian = "UTF-16, little-endian"
        case utf16BigEndian = "UTF-16, big-endian"
    }

    package let content: SharedSecret
    package let encoding: Encoding

    /// The encoding is that of the byte-order mark. Without one it is UTF-8, but for a text
    /// whose first character shows by a zero beside it that it has two bytes (RFC 4627
    /// section 3: what begins with ASCII).
    package init(_ raw: consuming SecretBytes) {
        let start = (0..<min(3, raw.count)).map { raw[$0] }
        if start.starts(with: [0xff, 0xfe]) {
            encoding = .utf16LittleEndian
            content = SharedSecret(UTF16Text.decoded(raw, from: 2, low: 0))
        } else if start.starts(with: [0xfe, 0xff]) {
            encoding = .utf16BigEndian
            content = SharedSecret(UTF16Text.decoded(raw, from: 2, low: 1))
        } else if raw.count.isMultiple(of: 2), start.count > 1, start[0] != 0, start[1] == 0 {
            encoding = .utf16LittleEndian
            content = SharedSecret(UTF16Text.decoded(raw, from: 0, low: 0))
        } else if raw.count.isMultiple(of: 2), start.count > 1, start[0] == 0, start[1] != 0 {
            encoding = .utf16BigEndian
            content = SharedSecret(UTF16Text.decoded(raw, from: 0, low: 1))
        } else {
            encoding = .utf8
            content = SharedSecret(start == [0xef, 0xbb, 0xbf] ? raw.copy(3..<raw.count) : raw)
        }
    }

    package var count: Int { content.bytes.count }

    /// The number of the line that holds a byte, from 1.
    package func line(at offset: Int) -> Int {
        1 + content.bytes.count(of: UInt8(ascii: "\n"), in: 0..<offset)
    }

    /// The first byte that is no blank, or nil in an empty text.
    package var firstMark: UInt8? {
        unsafe content.bytes.withUnsafeBytes { unsafe $0.first { !Self.blanks.contains($0) } }
    }

    private static let blanks: [UInt8] = [0x20, 0x09, 0x0a, 0x0d]
}

/// UTF-16 (RFC 2781) as UTF-8.
private enum UTF16Text {
    /// A byte that stands in no UTF-8 (RFC 3629, section 1).
    private static let notText: UInt8 = 0xff

    /// Halves of pairs that stand alone, and half a unit at the end, become
    /// bytes that are no text. `low`: where in a unit its low byte is.
    static func decoded(_ raw: borrowing SecretBytes, from start: Int, low: Int) -> SecretBytes {
        // A unit of two bytes becomes three at the most.
        var writer = SecretWriter(byteCount: raw.count / 2 * 3 + 1)
        unsafe raw.withUnsafeBytes { bytes in
            func unit(_ at: Int) -> UInt16? {
                guard at + 1 < bytes.count else { return nil }
                return unsafe UInt16(bytes[at + low]) | UInt16(bytes[at + 1 - low]) << 8
            }
            var at = start
            while let first = unit(at) {
                at += 2
                if let second = unit(at), UTF16.isLeadSurrogate(first), UTF16.isTrailSurrogate(second) {
                    at += 2
                    write(UTF16.decode(UTF16.EncodedScalar([first, second])), &writer)
                } else if let scalar = Unicode.Scalar(first) {
                    write(scalar, &writer)
                } else {
                    writer.append(notText)
                }
            }
            if at < bytes.count { writer.append(notText) }
        }
        return writer.finish()
    }

    private static func write(_ scalar: Unicode.Scalar, _ writer: inout SecretWriter) {
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { writer.append(byte) }
    }
}

extension SourceText {
    /// Where the lines are, without their ends; an empty last one is none.
    package var lines: [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        while start < count {
            let end = content.bytes.firstIndex(in: start..<count) { $0 == UInt8(ascii: "\n") } ?? count
            let isWindows = end > start && content.bytes[end - 1] == UInt8(ascii: "\r")
            lines.append(start..<(isWindows ? end - 1 : end))
            start = end + 1
        }
        return lines
    }
}
