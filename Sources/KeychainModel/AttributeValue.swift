/// One value of an attribute, exactly as given: its type is part of what comes back.
///
/// Two strings are equal here when their bytes are (Swift's own `==` would also
/// join "é" with "e" + accent, which the keychain keeps apart).
package enum AttributeValue: Sendable {
    case string(String)
    case data([UInt8])
    case integer(Int64)
    case real(Double)
    /// Seconds since 2001-01-01T00:00:00Z.
    case date(Double)
}

extension AttributeValue: Hashable {
    package static func == (a: AttributeValue, b: AttributeValue) -> Bool {
        switch (a, b) {
        case (.string(let x), .string(let y)): x.hasSameBytes(as: y)
        case (.data(let x), .data(let y)): x == y
        case (.integer(let x), .integer(let y)): x == y
        case (.real(let x), .real(let y)): x == y
        case (.date(let x), .date(let y)): x == y
        case (.string, _), (.data, _), (.integer, _), (.real, _), (.date, _): false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .string(let text): text.hashBytes(into: &hasher)
        case .data(let bytes): hasher.combine(bytes)
        case .integer(let number): hasher.combine(number)
        case .real(let number), .date(let number): hasher.combine(number)
        }
    }
}

extension AttributeValue {
    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .real(let number): Int64(exactly: number.rounded(.towardZero))
        case .string, .data, .date: nil
        }
    }

    /// How many bytes the value takes, for the limits.
    package var byteCount: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let bytes): bytes.count
        case .integer, .real, .date: 8
        }
    }

    /// Whether a column of `kind` takes both for the same value: equality of
    /// ``comparisonBytes(as:)``, without making them where both are text or data.
    package func isEqual(to other: AttributeValue, as kind: AttributeKind) -> Bool {
        switch (self, other) {
        case (.string(let one), .string(let two)) where kind.comparesBytes: return one.hasSameBytes(as: two)
        case (.data(let one), .data(let two)) where kind.comparesBytes: return one == two
        default:
            guard let one = comparisonBytes(as: kind), let two = other.comparisonBytes(as: kind) else { return false }
            return one == two
        }
    }

    /// The bytes by which a column of `kind` compares (architecture section 4):
    /// blob columns hash bytes, number columns a 64-bit integer or tagged text,
    /// dates a big-endian double. nil: a value that such a column cannot hold.
    package func comparisonBytes(as kind: AttributeKind) -> [UInt8]? {
        switch kind {
        case .blob, .data, .string, .sha1, .uuid, .access, .lookup:
            switch self {
            case .string(let text): Array(text.utf8)
            case .data(let bytes): bytes
            case .integer, .real: littleEndianInt32
            case .date: nil
            }
        case .number:
            switch self {
            case .integer(let number): [0] + Self.bigEndian(UInt64(bitPattern: number))
            case .real(let number): [2] + Self.bigEndian(number.bitPattern)
            case .string(let text): [1] + Array(text.utf8)
            case .data, .date: nil
            }
        case .date:
            if case .date(let seconds) = self { Self.bigEndian(seconds.bitPattern) } else { nil }
        case .accessControl, .ignored: nil
        }
    }

    /// A number in a blob column: 4 bytes little-endian (spec section 2).
    private var littleEndianInt32: [UInt8] {
        let low = UInt32(truncatingIfNeeded: integer ?? 0)
        return unsafe withUnsafeBytes(of: low.littleEndian) { unsafe Array($0) }
    }

    package static func bigEndian(_ value: UInt64) -> [UInt8] {
        unsafe withUnsafeBytes(of: value.bigEndian) { unsafe Array($0) }
    }
}
