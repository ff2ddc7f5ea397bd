package import KeychainModel

/// How a protobuf field lies on the wire
/// (protobuf.dev/programming-guides/encoding, "Message Structure").
public enum FieldType: UInt64, Sendable {
    case varint = 0
    case fixed64 = 1
    case bytes = 2
    case fixed32 = 5

    /// What stands before a field's value.
    @inlinable
    package func tag(_ field: UInt64) -> UInt64 { field << 3 | rawValue }
}

/// A place in a run of protobuf fields. Nothing is read past the end.
///
/// Beside the general decoder, whose dispatch costs more than opening a seal, for
/// the few messages of which every call has one or every row.
///
/// Public for the compiler alone, as `SecretBytes` is: it inlines nothing of a `package` type.
public struct FieldReader: Sendable {
    @usableFromInline let source: ArraySlice<UInt8>
    @usableFromInline var at: Int

    @inlinable
    package init(_ bytes: ArraySlice<UInt8>) {
        source = bytes
        at = bytes.startIndex
    }

    @inlinable package var isAtEnd: Bool { at == source.endIndex }

    @inlinable
    package mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while at < source.endIndex, shift < 64 {
            let byte = source[at]
            at += 1
            value |= UInt64(byte & 0x7F) << shift
            // The tenth byte has room for one bit.
            if shift == 63, byte > 1 { return nil }
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    /// Zigzag: the lowest bit is the sign.
    @inlinable
    package mutating func signed() -> Int64? {
        varint().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    @inlinable
    package mutating func bytes() -> ArraySlice<UInt8>? {
        guard let count = varint(), count <= UInt64(source.endIndex - at) else { return nil }
        defer { at += Int(count) }
        return source[at..<at + Int(count)]
    }

    package mutating func text() -> String? {
        bytes().flatMap { String(validUTF8: $0) }
    }

    @inlinable
    package mutating func fixed32() -> UInt32? { fixed(4).map { UInt32(truncatingIfNeeded: $0) } }

    @inlinable
    package mutating func double() -> Double? { fixed(8).map { Double(bitPattern: $0) } }

    /// Little-endian.
    @inlinable
    mutating func fixed(_ count: Int) -> UInt64? {
        guard source.endIndex - at >= count else { return nil }
        defer { at += count }
        var value: UInt64 = 0
        for index in (at..<at + count).reversed() { value = value << 8 | UInt64(source[index]) }
        return value
    }
}

extension FieldReader {
    /// An attribute (WireAttribute) that lies in a field of its own; nil for what no
    /// version of ours writes.
    package mutating func attribute() -> (AttributeCode, AttributeValue)? {
        guard let message = bytes() else { return nil }
        var reader = FieldReader(message)
        var code: UInt32 = 0
        var value: AttributeValue?
        while !reader.isAtEnd {
            switch reader.varint() {
            case FieldType.fixed32.tag(1):
                guard let number = reader.fixed32() else { return nil }
                code = number
            case FieldType.bytes.tag(2):
                guard let text = reader.text() else { return nil }
                value = .string(text)
            case FieldType.bytes.tag(3):
                guard let bytes = reader.bytes() else { return nil }
                value = .data(Array(bytes))
            case FieldType.varint.tag(4):
                guard let number = reader.signed() else { return nil }
                value = .integer(number)
            case FieldType.fixed64.tag(5):
                guard let number = reader.double() else { return nil }
                value = .real(number)
            case FieldType.fixed64.tag(6):
                guard let number = reader.double() else { return nil }
                value = .date(number)
            default: return nil
            }
        }
        guard let value else { return nil }
        return (AttributeCode(rawValue: code), value)
    }
}
