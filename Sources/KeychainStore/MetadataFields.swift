internal import KeychainModel

/// Reads the fields of a sealed metadata message (Protos/latchkey_values.proto)
/// without the general decoder, which costs more than opening the seal: every
/// row of every answer passes here.
///
/// Wire format: protobuf.dev/programming-guides/encoding. What it accepts, the
/// general decoder accepts and reads alike (a test compares them over mutations);
/// it refuses more: a field that no version of ours writes, and a group.
struct MetadataFields {
    var attributes = AttributeMap()
    var accessControl: [UInt8] = []
    var sealID: [UInt8] = []
    var dataCode: [UInt8] = []

    /// nil for bytes that no version of ours wrote.
    init?(_ bytes: [UInt8]) {
        var reader = FieldReader(bytes[...])
        attributes.reserve(24)
        while !reader.isAtEnd {
            switch reader.varint() {
            case Self.tag(1, .bytes):
                guard let message = reader.bytes(), let (code, value) = Self.attribute(message) else { return nil }
                attributes.append(code, value)
            case Self.tag(2, .bytes):
                guard let encoded = reader.bytes() else { return nil }
                accessControl = Array(encoded)
            case Self.tag(3, .bytes):
                guard let id = reader.bytes() else { return nil }
                sealID = Array(id)
            case Self.tag(4, .bytes):
                guard let code = reader.bytes() else { return nil }
                dataCode = Array(code)
            default: return nil
            }
        }
    }

    private static func attribute(_ message: ArraySlice<UInt8>) -> (AttributeCode, AttributeValue)? {
        var reader = FieldReader(message)
        var code: UInt32 = 0
        var value: AttributeValue?
        while !reader.isAtEnd {
            switch reader.varint() {
            case Self.tag(1, .fixed32):
                guard let number = reader.fixed32() else { return nil }
                code = number
            case Self.tag(2, .bytes):
                guard let text = reader.text() else { return nil }
                value = .string(text)
            case Self.tag(3, .bytes):
                guard let bytes = reader.bytes() else { return nil }
                value = .data(Array(bytes))
            case Self.tag(4, .varint):
                guard let number = reader.varint() else { return nil }
                // Zigzag: the lowest bit is the sign.
                value = .integer(Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
            case Self.tag(5, .fixed64):
                guard let bits = reader.fixed64() else { return nil }
                value = .real(Double(bitPattern: bits))
            case Self.tag(6, .fixed64):
                guard let bits = reader.fixed64() else { return nil }
                value = .date(Double(bitPattern: bits))
            default: return nil
            }
        }
        guard let value else { return nil }
        return (AttributeCode(rawValue: code), value)
    }

    private enum WireType: UInt64 {
        case varint = 0
        case fixed64 = 1
        case bytes = 2
        case fixed32 = 5
    }

    private static func tag(_ field: UInt64, _ type: WireType) -> UInt64 { field << 3 | type.rawValue }
}

/// A place in a run of protobuf fields. Nothing is read past the end.
private struct FieldReader {
    private let source: ArraySlice<UInt8>
    private var at: Int

    init(_ bytes: ArraySlice<UInt8>) {
        source = bytes
        at = bytes.startIndex
    }

    var isAtEnd: Bool { at == source.endIndex }

    mutating func varint() -> UInt64? {
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

    mutating func bytes() -> ArraySlice<UInt8>? {
        guard let count = varint(), count <= UInt64(source.endIndex - at) else { return nil }
        defer { at += Int(count) }
        return source[at..<at + Int(count)]
    }

    mutating func text() -> String? {
        guard let slice = bytes() else { return nil }
        return unsafe slice.withUnsafeBufferPointer { unsafe String(validating: $0, as: UTF8.self) }
    }

    mutating func fixed32() -> UInt32? { fixed(4).map { UInt32(truncatingIfNeeded: $0) } }

    mutating func fixed64() -> UInt64? { fixed(8) }

    /// Little-endian.
    private mutating func fixed(_ count: Int) -> UInt64? {
        guard source.endIndex - at >= count else { return nil }
        defer { at += count }
        var value: UInt64 = 0
        for index in (at..<at + count).reversed() { value = value << 8 | UInt64(source[index]) }
        return value
    }
}
