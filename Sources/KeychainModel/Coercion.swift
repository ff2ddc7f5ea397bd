/// How a value becomes what its column takes; nil is errSecParam (spec section 2,
/// "coercion on input").
package enum Coercion {
    package static func coerce(_ value: RawValue, to kind: AttributeKind) -> AttributeValue? {
        switch kind {
        case .blob: blob(value)
        case .data: data(value)
        case .string: string(value).map(AttributeValue.string)
        case .number: number(value)
        // No moment is NaN or infinite: such a date would equal nothing, itself included.
        case .date: if case .date(let seconds) = value, seconds.isFinite { .date(seconds) } else { nil }
        case .sha1: if case .data(let bytes) = value, bytes.count == 20 { .data(bytes) } else { nil }
        case .uuid: uuid(value)
        case .access: access(value)
        case .lookup:
            if case .data(let bytes) = value, LookupAttributes(encoded: bytes) != nil { .data(bytes) } else { nil }
        case .accessControl, .ignored: nil
        }
    }

    private static func blob(_ value: RawValue) -> AttributeValue? {
        switch value {
        case .string(let text): .string(text)
        case .data(let bytes): .data(bytes)
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        default: nil
        }
    }

    private static func data(_ value: RawValue) -> AttributeValue? {
        guard let blob = blob(value), let bytes = blob.comparisonBytes(as: .blob) else { return nil }
        return .data(bytes)
    }

    private static func string(_ value: RawValue) -> String? {
        switch value {
        case .string(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self)
        case .uuid(let bytes): uuidText(bytes)
        default: nil
        }
    }

    private static func number(_ value: RawValue) -> AttributeValue? {
        switch value {
        case .integer(let number): .integer(number)
        case .real(let number): Int64(exactly: number).map(AttributeValue.integer) ?? .real(number)
        case .bool(let on): .integer(on ? 1 : 0)
        case .string(let text): decimal(text) ?? .string(text)
        default: nil
        }
    }

    /// Exactly the decimal form of an Int32; anything else stays text.
    private static func decimal(_ text: String) -> AttributeValue? {
        guard let number = Int32(text), text.utf8.elementsEqual(String(number).utf8) else { return nil }
        return .integer(Int64(number))
    }

    private static func uuid(_ value: RawValue) -> AttributeValue? {
        switch value {
        case .data(let bytes) where bytes.isEmpty || bytes.count == 16: .data(bytes)
        case .uuid(let bytes): .data(bytes)
        case .null: .data([])
        default: nil
        }
    }

    private static func access(_ value: RawValue) -> AttributeValue? {
        guard let text = string(value), text == "f" || ProtectionClass(rawValue: text) != nil else { return nil }
        return .string(text)
    }

    private static func uuidText(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var out: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { out.append(UInt8(ascii: "-")) }
            out.append(digits[Int(byte >> 4)])
            out.append(digits[Int(byte & 15)])
        }
        return String(decoding: out, as: UTF8.self)
    }
}
