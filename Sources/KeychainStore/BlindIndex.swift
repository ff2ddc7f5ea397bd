internal import KeychainCrypto
package import KeychainModel
package import KeychainPlatform
internal import Synchronization

/// Makes the values of blind columns: equal values of an attribute give equal
/// bytes, and without the index key nobody can tell which.
///
/// Message: class ‖ attribute ‖ kind ‖ length ‖ value bytes (architecture
/// section 4; FORMATS.md, "Blind values").
package final class BlindIndex: Sendable {
    private let key: BlindingKey
    /// What every message of an attribute begins with: its domain, 0, its kind.
    private let prefixes: [ItemClass: Prefixes]
    private let groups = Mutex<[ItemClass: [AccessGroup: [UInt8]]]>([:])
    private static let mostGroups = 1024

    package init(_ indexKey: borrowing SecretBytes) {
        key = BlindingKey(indexKey.copy())
        prefixes = Dictionary(
            uniqueKeysWithValues: ItemClass.stored.map { ($0, Prefixes(Schema.of($0))) })
    }

    /// Of the attributes of a class: a few dozen at the most, so a walk is quicker than hashing.
    private struct Prefixes {
        private let codes: [AttributeCode]
        private let all: [[UInt8]]

        init(_ schema: Schema) {
            codes = schema.attributes.map(\.code)
            all = schema.attributes.map { attribute in
                Array(domain(attribute.code, schema.itemClass).utf8) + [0, attribute.kind.rawValue]
            }
        }

        subscript(code: AttributeCode) -> [UInt8]? { codes.firstIndex(of: code).map { all[$0] } }
    }

    /// nil for a value that the column cannot hold, which matches nothing.
    package func blind(_ value: AttributeValue, of attribute: SchemaAttribute, in itemClass: ItemClass) -> [UInt8]? {
        guard let bytes = value.comparisonBytes(as: attribute.kind), let prefix = prefixes[itemClass]?[attribute.code]
        else { return nil }
        var message = prefix
        message.reserveCapacity(prefix.count + 8 + bytes.count)
        Self.append(bytes, to: &message)
        return key.digest(message)
    }

    /// Identities join by equality of a certificate's pkhh and a key's klbl, so
    /// the two share one domain.
    private static func domain(_ code: AttributeCode, _ itemClass: ItemClass) -> String {
        code == "pkhh" || code == "klbl" ? "join:pkhh" : "\(itemClass.rawValue):\(code)"
    }

    /// Of a message of several attributes.
    private static func beginning(_ itemClass: ItemClass, _ purpose: StaticString) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(640)
        message.append(contentsOf: itemClass.rawValue.utf8)
        purpose.withUTF8Buffer { unsafe message.append(contentsOf: $0) }
        return message
    }

    /// A length of 8 bytes, big-endian, and the bytes.
    private static func append(_ bytes: some Collection<UInt8>, to message: inout [UInt8]) {
        unsafe withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { unsafe message.append(contentsOf: $0) }
        message.append(contentsOf: bytes)
    }

    /// One blind value for each name with its value.
    package func lookups(_ attributes: LookupAttributes, in itemClass: ItemClass) -> [[UInt8]] {
        guard let prefix = prefixes[itemClass]?[.lookup] else { return [] }
        return attributes.pairs.map { pair in
            var message = prefix
            Self.append(pair.name.utf8, to: &message)
            Self.append(pair.value.utf8, to: &message)
            return key.digest(message)
        }
    }

    /// The same of attributes as they are encoded (``LookupAttributes``).
    func lookups(encoded bytes: [UInt8], in itemClass: ItemClass) -> [[UInt8]] {
        guard !bytes.isEmpty, let prefix = prefixes[itemClass]?[.lookup] else { return [] }
        var reader = EncodedPairs(bytes)
        var found: [[UInt8]] = []
        while let (name, value) = reader.next() {
            var message = prefix
            message.reserveCapacity(prefix.count + 16 + name.count + value.count)
            Self.append(name, to: &message)
            Self.append(value, to: &message)
            found.append(key.digest(message))
        }
        return found
    }

    /// The blind value of an access group's name, which every search compares
    /// with. Kept: a daemon meets few groups, and each with every call.
    package func blind(_ group: AccessGroup, in itemClass: ItemClass) -> [UInt8]? {
        if let known = groups.withLock({ $0[itemClass]?[group] }) { return known }
        guard let attribute = Schema.of(itemClass)[.accessGroup],
            let made = blind(.string(group.name), of: attribute, in: itemClass)
        else { return nil }
        groups.withLock { groups in
            if groups[itemClass, default: [:]].count >= Self.mostGroups { groups[itemClass] = [:] }
            groups[itemClass, default: [:]][group] = made
        }
        return made
    }

    /// What stands for an item's names in the audit record: no column has such a value.
    ///
    /// - Parameter account: nil: of whatever account.
    package func auditDigest(_ itemClass: ItemClass, name: String, account: String?) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(64 + name.utf8.count + (account?.utf8.count ?? 0))
        message.append(contentsOf: "audit:".utf8)
        message.append(contentsOf: itemClass.rawValue.utf8)
        message.append(0)
        Self.append(name.utf8, to: &message)
        if let account { Self.append(account.utf8, to: &message) }
        return key.digest(message)
    }

    /// The blind value of an item's whole uniqueness tuple; absent and empty are
    /// equal in it.
    package func primaryKey(of attributes: AttributeMap, in itemClass: ItemClass) -> [UInt8] {
        var out = Self.beginning(itemClass, ":primary key\0")
        for attribute in Schema.of(itemClass).primaryKey {
            let value = attributes[attribute.code] ?? attribute.defaultValue
            let bytes = value?.comparisonBytes(as: attribute.kind) ?? []
            out.append(attribute.kind.rawValue)
            Self.append(bytes, to: &out)
        }
        return key.digest(out)
    }

    /// The blind value of the two attributes that queries give together.
    package func pair(of attributes: AttributeMap, in itemClass: ItemClass) -> [UInt8]? {
        guard let (first, second) = StoreSchema.pair(of: itemClass) else { return nil }
        let schema = Schema.of(itemClass)
        guard let (one, other) = Self.both(attributes[first], schema[first], attributes[second], schema[second])
        else { return nil }
        var out = Self.beginning(itemClass, ":pair\0")
        Self.append(one, to: &out)
        Self.append(other, to: &out)
        return key.digest(out)
    }

    private static func both(
        _ one: AttributeValue?, _ oneAttribute: SchemaAttribute?, _ other: AttributeValue?,
        _ otherAttribute: SchemaAttribute?
    ) -> ([UInt8], [UInt8])? {
        guard let oneAttribute, let otherAttribute, let first = one?.comparisonBytes(as: oneAttribute.kind),
            let second = other?.comparisonBytes(as: otherAttribute.kind)
        else { return nil }
        return (first, second)
    }

    /// What stands under `sha1`: the length and behaviour of Apple's digest,
    /// keyed, over a keyed code of the data, so that nobody outside can test
    /// guesses of the secret with it.
    package func itemDigest(of attributes: AttributeMap, dataCode: [UInt8], in itemClass: ItemClass) -> [UInt8] {
        var out = Self.beginning(itemClass, ":sha1\0")
        for attribute in Schema.of(itemClass).attributes where attribute.traits.contains(.digested) {
            guard let bytes = attributes[attribute.code]?.comparisonBytes(as: attribute.kind) else { continue }
            unsafe withUnsafeBytes(of: attribute.code.rawValue.bigEndian) { unsafe out.append(contentsOf: $0) }
            Self.append(bytes, to: &out)
        }
        out.append(contentsOf: dataCode)
        return key.digest(out, byteCount: 20)
    }

    /// A keyed code of an item's data, for ``itemDigest(of:dataCode:in:)``.
    package func dataCode(_ secret: borrowing SecretBytes) -> [UInt8] { key.digest(secret, purpose: "data") }
}
