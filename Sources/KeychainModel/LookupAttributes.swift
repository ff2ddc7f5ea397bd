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
        var reader = EncodedPairs(bytes)
        var pairs: [Pair] = []
        while let (name, value) = reader.next() {
            guard pairs.count < Self.most, let name = String(validUTF8: name), let value = String(validUTF8: value)
            else { return nil }
            pairs.append(Pair(name: name, value: value))
        }
        guard reader.isWhole else { return nil }
        self.pairs = pairs
    }

    /// Whether they are the one encoding of some attributes.
    package static func isEncoding(_ bytes: [UInt8]) -> Bool {
        var reader = EncodedPairs(bytes)
        var count = 0
        while let (name, value) = reader.next() {
            count += 1
            guard count <= most, name.isUTF8, value.isUTF8 else { return false }
        }
        return reader.isWhole
    }

    package var encoded: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(pairs.reduce(0) { $0 + 8 + $1.name.utf8.count + $1.value.utf8.count })
        for pair in pairs {
            Self.append(pair.name, to: &out)
            Self.append(pair.value, to: &out)
        }
        return out
    }

    private static func append(_ text: String, to out: inout [UInt8]) {
        let length = UInt32(text.utf8.count)
        for shift: UInt32 in [24, 16, 8, 0] { out.append(UInt8(truncatingIfNeeded: length >> shift)) }
        out.append(contentsOf: text.utf8)
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

/// Goes through encoded lookup attributes where they lie: every search compares some with
/// those of each row that it finds.
package struct EncodedPairs {
    private let bytes: [UInt8]
    private var at = 0
    private var lastName: Range<Int>?
    /// Whether everything so far is the one encoding of something (but for UTF-8), to the end.
    private(set) var isWhole = true

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// In the order of the names' bytes; nil at the end, and at what no version of ours wrote.
    package mutating func next() -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
        guard isWhole, at < bytes.count else { return nil }
        guard let name = part(), let value = part(), lastName.map({ precedes($0, name) }) ?? true else {
            isWhole = false
            return nil
        }
        lastName = name
        return (bytes[name], bytes[value])
    }

    private mutating func part() -> Range<Int>? {
        guard bytes.count - at >= 4 else { return nil }
        let length =
            Int(bytes[at]) << 24 | Int(bytes[at + 1]) << 16 | Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])
        let start = at + 4
        guard length <= bytes.count - start else { return nil }
        at = start + length
        return start..<at
    }

    private func precedes(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        bytes[one].lexicographicallyPrecedes(bytes[other])
    }
}

extension LookupAttributes {
    /// As ``include(_:)``, of two encodings; false where either is none.
    package static func encoded(_ bytes: [UInt8], includes others: [UInt8]) -> Bool {
        var (own, wanted) = (EncodedPairs(bytes), EncodedPairs(others))
        while let (name, value) = wanted.next() {
            repeat {
                guard let held = own.next() else { return false }
                if held.name.elementsEqual(name) {
                    guard held.value.elementsEqual(value) else { return false }
                    break
                }
            } while true
        }
        return wanted.isWhole
    }
}

extension AttributeMap {
    /// Whether it is an item of the Secret Service, whatever it is found by there.
    package var hasLookup: Bool { self[.lookup] != nil }

    /// As they are stored; nothing where there are none.
    package var encodedLookup: [UInt8] { if case .data(let bytes)? = self[.lookup] { bytes } else { [] } }

    /// nil where there are none, or bytes that no version of ours wrote.
    package var lookup: LookupAttributes? {
        guard case .data(let bytes) = self[.lookup] else { return nil }
        return LookupAttributes(encoded: bytes)
    }
}
