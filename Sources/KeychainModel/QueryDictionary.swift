/// A caller's dictionary as it came through a door: keys in their order, values
/// made plain, nothing checked yet.
package struct QueryDictionary: Sendable, Hashable {
    package struct Entry: Sendable, Hashable {
        package let key: Key
        package let value: RawValue
    }

    package enum Key: Sendable, Hashable {
        case text(String)
        /// A key that is not a string; refused by every call.
        case foreign
    }

    package var entries: [Entry] = []

    package init() {}

    package init(_ pairs: [(String, RawValue)]) {
        entries = pairs.map { Entry(key: .text($0.0), value: $0.1) }
    }

    package mutating func append(_ key: Key, _ value: RawValue) { entries.append(Entry(key: key, value: value)) }

    /// The first value under a key.
    package subscript(key: String) -> RawValue? {
        for entry in entries {
            if case .text(let text) = entry.key, text == key { return entry.value }
        }
        return nil
    }
}

/// One value of a caller's dictionary. The bytes of kSecValueData never are in
/// it: they travel apart, in memory that is wiped.
///
/// Two strings are equal here when their bytes are, as in ``AttributeValue``.
package enum RawValue: Sendable {
    case string(String)
    case data([UInt8])
    case integer(Int64)
    case real(Double)
    case bool(Bool)
    /// Seconds since 2001-01-01T00:00:00Z.
    case date(Double)
    case uuid([UInt8])
    case null
    case array([RawValue])
    case dictionary
    case accessControl(AccessControl)
    /// kSecValueData given as data; its bytes travel apart.
    case secret
    /// An object of a type that the keychain knows nothing of.
    case foreign(type: String)

    /// An LAContext: only that it is one; the call goes through it. No type can
    /// have this name.
    package static let authenticationContext = RawValue.foreign(type: "<LAContext>")
}

extension RawValue: Hashable {
    package static func == (a: RawValue, b: RawValue) -> Bool {
        // One at a time: of all pairs at once the compiler cannot tell that none is left out.
        switch a {
        case .string(let x): if case .string(let y) = b { x.hasSameBytes(as: y) } else { false }
        case .data(let x): if case .data(let y) = b { x == y } else { false }
        case .integer(let x): if case .integer(let y) = b { x == y } else { false }
        case .real(let x): if case .real(let y) = b { x == y } else { false }
        case .bool(let x): if case .bool(let y) = b { x == y } else { false }
        case .date(let x): if case .date(let y) = b { x == y } else { false }
        case .uuid(let x): if case .uuid(let y) = b { x == y } else { false }
        case .null: if case .null = b { true } else { false }
        case .array(let x): if case .array(let y) = b { x == y } else { false }
        case .dictionary: if case .dictionary = b { true } else { false }
        case .accessControl(let x): if case .accessControl(let y) = b { x == y } else { false }
        case .secret: if case .secret = b { true } else { false }
        case .foreign(let x): if case .foreign(let y) = b { x.hasSameBytes(as: y) } else { false }
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .string(let text), .foreign(let text): text.hashBytes(into: &hasher)
        case .data(let bytes), .uuid(let bytes): hasher.combine(bytes)
        case .integer(let number): hasher.combine(number)
        case .real(let number), .date(let number): hasher.combine(number)
        case .bool(let flag): hasher.combine(flag)
        case .array(let list): hasher.combine(list)
        case .accessControl(let access): hasher.combine(access)
        case .null: hasher.combine(0)
        case .dictionary: hasher.combine(1)
        case .secret: hasher.combine(2)
        }
    }
}
