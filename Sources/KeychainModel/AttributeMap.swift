/// The attributes of an item or of a query, in the order they were set. A few
/// dozen at the most, so a walk is quicker than hashing.
package struct AttributeMap: Sendable, Hashable {
    package private(set) var entries: [(code: AttributeCode, value: AttributeValue)] = []

    package init() {}

    package subscript(code: AttributeCode) -> AttributeValue? {
        get {
            for entry in entries where entry.code == code { return entry.value }
            return nil
        }
        set {
            if let index = entries.firstIndex(where: { $0.code == code }) {
                if let newValue { entries[index].value = newValue } else { entries.remove(at: index) }
            } else if let newValue {
                entries.append((code, newValue))
            }
        }
    }

    /// Adds an attribute that is known not to be there yet (decoding, defaults).
    package mutating func append(_ code: AttributeCode, _ value: AttributeValue) { entries.append((code, value)) }

    package mutating func reserve(_ count: Int) { entries.reserveCapacity(count) }

    package var isEmpty: Bool { entries.isEmpty }
    package var count: Int { entries.count }

    /// Takes over every attribute of `changes`.
    package mutating func merge(_ changes: AttributeMap) {
        for (code, value) in changes.entries { self[code] = value }
    }

    package static func == (a: AttributeMap, b: AttributeMap) -> Bool {
        a.count == b.count && a.entries.allSatisfy { b[$0.code] == $0.value }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(count) }
}
