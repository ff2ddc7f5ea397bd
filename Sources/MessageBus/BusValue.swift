package import KeychainPlatform

/// One value of a D-Bus message (D-Bus Specification 0.43, "Type System").
///
/// Byte arrays are taken for secrets: whoever sends one to a keychain mostly sends one.
package enum BusValue: Sendable {
    case boolean(Bool)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case string(String)
    case path(ObjectPath)
    case bytes(SharedSecret)
    case descriptor(Descriptor)
    /// An array of anything but bytes; the signature is that of its elements.
    case array(of: String, [BusValue])
    case structure([BusValue])
    indirect case entry(BusValue, BusValue)
    indirect case variant(BusValue)
    /// Of a type that no method of ours takes: a number of another size.
    case other(Character)

    package var signature: String { Self.signature(of: CollectionOfOne(self)) }

    /// Of values one behind the other.
    static func signature(of values: some Sequence<BusValue>) -> String {
        var text = ""
        for value in values { value.write(to: &text) }
        return text
    }

    private func write(to signature: inout String) {
        switch self {
        case .boolean: signature += "b"
        case .int32: signature += "i"
        case .uint32: signature += "u"
        case .int64: signature += "x"
        case .uint64: signature += "t"
        case .string: signature += "s"
        case .path: signature += "o"
        case .bytes: signature += "ay"
        case .descriptor: signature += "h"
        case .array(let element, _):
            signature += "a"
            signature += element
        case .structure(let values):
            signature += "("
            for value in values { value.write(to: &signature) }
            signature += ")"
        case .entry(let key, let value):
            signature += "{"
            key.write(to: &signature)
            value.write(to: &signature)
            signature += "}"
        case .variant: signature += "v"
        case .other(let type): signature.append(type)
        }
    }
}

extension BusValue {
    package static func paths(_ paths: [ObjectPath]) -> BusValue { .array(of: "o", paths.map { .path($0) }) }

    /// a{ss}
    package static func texts(_ pairs: [(String, String)]) -> BusValue {
        .array(of: "{ss}", pairs.map { .entry(.string($0.0), .string($0.1)) })
    }

    /// a{sv}
    package static func properties(_ pairs: [(String, BusValue)]) -> BusValue {
        .array(of: "{sv}", pairs.map { .entry(.string($0.0), .variant($0.1)) })
    }

    package var integer: Int32? { if case .int32(let number) = self { number } else { nil } }
    package var moment: UInt64? { if case .uint64(let number) = self { number } else { nil } }
    package var text: String? { if case .string(let text) = self { text } else { nil } }
    package var flag: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
    package var objectPath: ObjectPath? { if case .path(let path) = self { path } else { nil } }
    package var secret: SharedSecret? { if case .bytes(let bytes) = self { bytes } else { nil } }
    package var content: BusValue? { if case .variant(let value) = self { value } else { nil } }
    package var members: [BusValue]? { if case .structure(let members) = self { members } else { nil } }

    /// Of an array of object paths.
    package var objectPaths: [ObjectPath]? {
        guard case .array(of: "o", let elements) = self else { return nil }
        return elements.compactMap(\.objectPath)
    }

    /// Of an array of strings.
    package var texts: [String]? {
        guard case .array(of: "s", let elements) = self else { return nil }
        return elements.compactMap(\.text)
    }

    /// Of a{ss}.
    package var textPairs: [(name: String, value: String)]? {
        guard case .array(of: "{ss}", let entries) = self else { return nil }
        return entries.compactMap { entry in
            guard case .entry(.string(let name), .string(let value)) = entry else { return nil }
            return (name, value)
        }
    }

    /// Of a{sv}.
    package var propertyPairs: [(name: String, value: BusValue)]? {
        guard case .array(of: "{sv}", let entries) = self else { return nil }
        return entries.compactMap { entry in
            guard case .entry(.string(let name), .variant(let value)) = entry else { return nil }
            return (name, value)
        }
    }
}

/// Where an object of a bus is: "/" or elements of letters, digits and underscores, each
/// behind a slash (D-Bus Specification 0.43, "Valid Object Paths").
package struct ObjectPath: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// "/", which the Secret Service says for "none".
    package static let none = ObjectPath(unchecked: "/")

    package init?(_ text: String) {
        guard Self.isPath(text.utf8.span) else { return nil }
        self.text = text
    }

    private init(unchecked text: String) { self.text = text }

    /// "/" alone, or elements that are not empty, each behind one
    /// (D-Bus Specification 0.43, "Valid Object Paths").
    private static func isPath(_ text: Span<UInt8>) -> Bool {
        let slash = UInt8(ascii: "/")
        guard !text.isEmpty, text[0] == slash else { return false }
        for index in 1..<text.count {
            guard isElementByte(text[index]) || text[index] == slash && text[index - 1] != slash else { return false }
        }
        return text.count == 1 || text[text.count - 1] != slash
    }

    fileprivate static func isElementByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The object of that name below this one.
    ///
    /// - Precondition: the name is an element of a path.
    package func appending(_ name: String) -> ObjectPath {
        precondition(!name.isEmpty && name.utf8.allSatisfy { Self.isElementByte($0) }, "no element of a path")
        return ObjectPath(unchecked: text == "/" ? "/" + name : text + "/" + name)
    }

    /// The elements below another path; nil: it is not below it.
    package func elements(below parent: ObjectPath) -> [String]? {
        let slash = UInt8(ascii: "/")
        let above = parent.text == "/" ? 0 : parent.text.utf8.count
        let rest = text.utf8.dropFirst(above)
        // Of a path every byte is a character, and nothing else is told apart here.
        guard rest.count > 1, rest.first == slash, text.utf8.prefix(above).elementsEqual(parent.text.utf8.prefix(above))
        else { return nil }
        return rest.dropFirst().split(separator: slash).map { String(Substring($0)) }
    }

    package var description: String { text }
}
