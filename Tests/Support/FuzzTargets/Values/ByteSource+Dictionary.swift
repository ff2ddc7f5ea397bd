import KeychainModel

// How a caller's dictionary stands in an input: for each entry a byte for the
// key (a number of the vocabulary, 254 no text, 255 other text), then the value.
extension ByteSource {
    private static let deepestList = 3

    mutating func dictionary() -> QueryDictionary {
        var dictionary = QueryDictionary()
        let count = Int(byte())
        while !isAtEnd, dictionary.entries.count < count { dictionary.append(key(), value()) }
        return dictionary
    }

    private mutating func key() -> QueryDictionary.Key {
        let number = Int(byte())
        if number < Vocabulary.keys.count { return .text(Vocabulary.keys[number]) }
        return number == 254 ? .foreign : .text(text())
    }

    mutating func value(depth: Int = 0) -> RawValue {
        switch byte() % 15 {
        case 0: return .string(choice(of: Vocabulary.texts))
        case 1: return .string(text())
        case 2: return .data(data())
        case 3: return .integer(Int64(bitPattern: number()))
        case 4: return .integer(Int64(Int8(bitPattern: byte())))
        case 5: return .real(real())
        case 6: return .bool(flag())
        case 7: return .date(real())
        case 8: return .uuid(string(of: 16))
        case 9: return .null
        case 10 where depth < Self.deepestList: return list(depth)
        case 10, 11: return .dictionary
        case 12: return .accessControl(accessControl())
        case 13: return .secret
        default: return .foreign(type: text())
        }
    }

    private mutating func list(_ depth: Int) -> RawValue {
        let count = Int(byte() % 8)
        return .array((0..<count).map { _ in value(depth: depth + 1) })
    }

    /// One that its flags can make.
    mutating func accessControl() -> AccessControl {
        let protection = choice(of: ProtectionClass.allCases.map(\.rawValue) + ["f"])
        let flags = AccessControlFlags(rawValue: number())
        return AccessControl(protection: protection, flags: flags)
            ?? AccessControl(unconstrained: ProtectionClass(rawValue: protection) ?? .always)
    }

    /// The rights of a caller: one byte.
    mutating func entitlements() -> Entitlements {
        let bits = byte()
        var entitlements = Entitlements()
        entitlements.keychainAccessGroups = bits & 1 == 0 ? ["group.a", "group.b"] : ["group.a"]
        if bits & 2 != 0 { entitlements.flags = Vocabulary.entitlements }
        if bits & 4 != 0 { entitlements.nameableGroups = ["latchkey"] }
        if bits & 8 != 0 { entitlements.keychainAccessGroups.append("com.apple.token") }
        return entitlements
    }

    /// Attributes as they are on the wire and in a seal, of any code.
    mutating func attributes() -> AttributeMap {
        var map = AttributeMap()
        let count = Int(byte() % 32)
        while !isAtEnd, map.count < count {
            let code = AttributeCode(rawValue: UInt32(truncatingIfNeeded: number() >> 32))
            if map[code] == nil { map.append(code, attributeValue()) } else { _ = attributeValue() }
        }
        return map
    }

    private mutating func attributeValue() -> AttributeValue {
        switch byte() % 5 {
        case 0: .string(text())
        case 1: .data(data())
        case 2: .integer(Int64(bitPattern: number()))
        case 3: .real(real())
        default: .date(real())
        }
    }
}

extension ByteSink {
    mutating func dictionary(_ dictionary: QueryDictionary) {
        byte(UInt8(clamping: dictionary.entries.count))
        for entry in dictionary.entries {
            key(entry.key)
            value(entry.value)
        }
    }

    private mutating func key(_ key: QueryDictionary.Key) {
        switch key {
        case .foreign: byte(254)
        case .text(let name):
            if let index = Vocabulary.keys.firstIndex(of: name) { return byte(UInt8(index)) }
            byte(255)
            text(name)
        }
    }

    private mutating func value(_ value: RawValue) {
        switch value {
        case .string(let content): string(content)
        case .data(let content): tagged(2) { $0.data(content) }
        case .integer(let number): tagged(3) { $0.number(UInt64(bitPattern: number)) }
        case .real(let number): tagged(5) { $0.number(number.bitPattern) }
        case .bool(let on): tagged(6) { $0.byte(on ? 1 : 0) }
        case .date(let moment): tagged(7) { $0.number(moment.bitPattern) }
        case .uuid(let content): tagged(8) { $0.raw(content) }
        case .null: byte(9)
        case .array(let values): list(values)
        case .dictionary: byte(11)
        case .accessControl: tagged(12) { $0.byte(0) }
        case .secret: byte(13)
        case .foreign(let type): tagged(14) { $0.text(type) }
        }
    }

    private mutating func string(_ content: String) {
        if let index = Vocabulary.texts.firstIndex(of: content) { return tagged(0) { $0.byte(UInt8(index)) } }
        tagged(1) { $0.text(content) }
    }

    private mutating func list(_ values: [RawValue]) {
        byte(10)
        byte(UInt8(min(values.count, 7)))
        for element in values.prefix(7) { value(element) }
    }

    private mutating func tagged(_ tag: UInt8, _ body: (inout ByteSink) -> Void) {
        byte(tag)
        body(&self)
    }
}
