package import KeychainModel

/// Writes protobuf fields, byte for byte as the general encoder writes them
/// (a test compares them), where every call or every row needs it.
///
/// Fields are written in the order of their numbers; of those without presence
/// the caller leaves out the defaults, which ``text(_:_:)``, ``bytes(_:_:)`` and
/// ``number(_:_:)`` do.
package struct FieldWriter {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    package mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    // MARK: Fields without presence: their default is not written.

    package mutating func number(_ field: UInt64, _ value: UInt64) {
        if value != 0 { presentNumber(field, value) }
    }

    package mutating func text(_ field: UInt64, _ value: String) {
        if !value.isEmpty { presentText(field, value) }
    }

    package mutating func bytes(_ field: UInt64, _ value: [UInt8]) {
        if !value.isEmpty { presentBytes(field, value) }
    }

    /// Zigzag: the lowest bit is the sign.
    package mutating func signed(_ field: UInt64, _ value: Int64) {
        if value != 0 { presentSigned(field, value) }
    }

    package mutating func double(_ field: UInt64, _ value: Double) {
        // Minus zero is written: it is not the default.
        if value.bitPattern != 0 { presentDouble(field, value) }
    }

    // MARK: Fields with presence: what is written is there.

    package mutating func presentNumber(_ field: UInt64, _ value: UInt64) {
        varint(FieldType.varint.tag(field))
        varint(value)
    }

    /// Zigzag: the lowest bit is the sign.
    package mutating func presentSigned(_ field: UInt64, _ value: Int64) {
        presentNumber(field, UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    package mutating func presentDouble(_ field: UInt64, _ value: Double) {
        varint(FieldType.fixed64.tag(field))
        fixed(value.bitPattern, byteCount: 8)
    }

    package mutating func presentText(_ field: UInt64, _ value: String) {
        varint(FieldType.bytes.tag(field))
        varint(UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    package mutating func presentBytes(_ field: UInt64, _ value: [UInt8]) {
        varint(FieldType.bytes.tag(field))
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// A message within this one.
    package mutating func message(_ field: UInt64, _ content: (inout FieldWriter) -> Void) {
        varint(FieldType.bytes.tag(field))
        let start = bytes.count
        bytes.append(0)
        content(&self)
        var count = UInt64(bytes.count - start - 1)
        var at = start
        while count >= 0x80 {
            bytes[at] = UInt8(count & 0x7F) | 0x80
            count >>= 7
            at += 1
            bytes.insert(0, at: at)
        }
        bytes[at] = UInt8(count)
    }

    /// Fields that are written already.
    package mutating func append(_ fields: FieldWriter) { bytes.append(contentsOf: fields.bytes) }

    // MARK: Attributes

    /// An attribute (WireAttribute) in a field of its own.
    package mutating func attribute(_ field: UInt64, _ code: AttributeCode, _ value: AttributeValue) {
        message(field) { writer in
            if code.rawValue != 0 {
                writer.varint(FieldType.fixed32.tag(1))
                writer.fixed(UInt64(code.rawValue), byteCount: 4)
            }
            switch value {
            case .string(let text): writer.presentText(2, text)
            case .data(let bytes): writer.presentBytes(3, bytes)
            case .integer(let number): writer.presentSigned(4, number)
            case .real(let number): writer.presentDouble(5, number)
            case .date(let seconds): writer.presentDouble(6, seconds)
            }
        }
    }

    // MARK: Parts of fields

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Little-endian.
    private mutating func fixed(_ value: UInt64, byteCount: UInt64) {
        for index in 0..<byteCount { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
}
