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
package enum RawValue: Sendable, Hashable {
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
