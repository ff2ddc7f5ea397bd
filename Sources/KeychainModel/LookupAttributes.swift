/// Names and values, in no order, that a program of the Secret Service finds an item
/// by: an item answers to every subset of what it has (freedesktop.org "Secret Service
/// API Draft", 0.2, "Lookup Attributes").
///
/// Encoded as the value of the attribute `look`: for each name, in the order of their
/// bytes, the length of the name in 4 bytes (big-endian), the name in UTF-8, and the
/// value alike (FORMATS.md, "Lookup attributes").
package struct LookupAttributes: Sendable, Equatable {
    package struct Pair: Sendable, Equatable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        package static func == (a: Pair, b: Pair) -> Bool {
            a.name.hasSameBytes(as: b.name) && a.value.hasSameBytes(as: b.value)
        }
    }

    /// In the order of the names' bytes; no name is there twice.
    package let pairs: [Pair]

    /// As many as one item, or one search, may have.
    package static let most = 256

    package static let none = LookupAttributes(sorted: [])

    private init(sorted pairs: [Pair]) { self.pairs = pairs }

    /// nil where a name is there twice, or there are more than ``most``.
    package init?(_ pairs: [Pair]) {
        guard pairs.count <= Self.most else { return nil }
        let sorted = pairs.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for (one, next) in zip(sorted, sorted.dropFirst()) where one.name.hasSameBytes(as: next.name) { return nil }
        self.pairs = sorted
    }

    /// nil for bytes that are not the one encoding of some attributes.
    package init?(encoded bytes: [UInt8]) {
        var rest = bytes[...]
        var pairs: [Pair] = []
        while !rest.isEmpty {
            guard let name = Self.text(&rest), let value = Self.text(&rest), pairs.count < Self.most else { return nil }
            pairs.append(Pair(name: name, value: value))
        }
        self.init(pairs)
        guard encoded == bytes else { return nil }
    }

    package var encoded: [UInt8] {
        var out: [UInt8] = []
        for pair in pairs {
            for text in [pair.name, pair.value] {
                let length = UInt32(text.utf8.count)
                out += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
                out += text.utf8
            }
        }
        return out
    }

    private static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.count >= 4 else { return nil }
        let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(4)
        guard length <= rest.count, let text = String(validating: rest.prefix(length), as: UTF8.self) else {
            return nil
        }
        rest = rest.dropFirst(length)
        return text
    }

    package subscript(name: String) -> String? {
        for pair in pairs where pair.name.hasSameBytes(as: name) { return pair.value }
        return nil
    }

    package var isEmpty: Bool { pairs.isEmpty }

    /// Whether every one of `others` is among these.
    package func include(_ others: LookupAttributes) -> Bool {
        others.pairs.allSatisfy { pair in self[pair.name]?.hasSameBytes(as: pair.value) == true }
    }
}

extension AttributeMap {
    /// nil where there are none, or bytes that no version of ours wrote.
    package var lookup: LookupAttributes? {
        guard case .data(let bytes) = self[.lookup] else { return nil }
        return LookupAttributes(encoded: bytes)
    }
}
