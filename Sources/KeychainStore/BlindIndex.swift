internal import KeychainCrypto
package import KeychainModel
package import KeychainPlatform

/// Makes the values of blind columns: equal values of an attribute give equal
/// bytes, and without the index key nobody can tell which.
///
/// Message: class ‖ attribute ‖ kind ‖ length ‖ value bytes (architecture
/// section 4; FORMATS.md, "Blind values").
package final class BlindIndex: Sendable {
    private let key: BlindingKey

    package init(_ indexKey: borrowing SecretBytes) { key = BlindingKey(indexKey.copy()) }

    /// nil for a value that the column cannot hold, which matches nothing.
    package func blind(_ value: AttributeValue, of attribute: SchemaAttribute, in itemClass: ItemClass) -> [UInt8]? {
        guard let bytes = value.comparisonBytes(as: attribute.kind) else { return nil }
        return key.digest(message(Self.domain(attribute.code, itemClass), attribute.kind.rawValue, bytes))
    }

    /// Identities join by equality of a certificate's pkhh and a key's klbl, so
    /// the two share one domain.
    private static func domain(_ code: AttributeCode, _ itemClass: ItemClass) -> String {
        code == "pkhh" || code == "klbl" ? "join:pkhh" : "\(itemClass.rawValue):\(code)"
    }

    private func message(_ domain: String, _ kind: UInt8, _ value: [UInt8]) -> [UInt8] {
        var out = Array(domain.utf8)
        out.reserveCapacity(out.count + value.count + 10)
        out.append(0)
        out.append(kind)
        out.append(contentsOf: AttributeValue.bigEndian(UInt64(value.count)))
        out.append(contentsOf: value)
        return out
    }

    /// The blind value of an item's whole uniqueness tuple; absent and empty are
    /// equal in it.
    package func primaryKey(of attributes: AttributeMap, in itemClass: ItemClass) -> [UInt8] {
        var out: [UInt8] = Array("\(itemClass.rawValue):primary key\0".utf8)
        for attribute in Schema.of(itemClass).primaryKey {
            let value = attributes[attribute.code] ?? attribute.defaultValue
            let bytes = value?.comparisonBytes(as: attribute.kind) ?? []
            out.append(attribute.kind.rawValue)
            out.append(contentsOf: AttributeValue.bigEndian(UInt64(bytes.count)))
            out.append(contentsOf: bytes)
        }
        return key.digest(out)
    }

    /// The blind value of the two attributes that queries give together.
    package func pair(of attributes: AttributeMap, in itemClass: ItemClass) -> [UInt8]? {
        guard let (first, second) = StoreSchema.pair(of: itemClass) else { return nil }
        let schema = Schema.of(itemClass)
        var out: [UInt8] = Array("\(itemClass.rawValue):pair\0".utf8)
        for code in [first, second] {
            guard let attribute = schema[code], let bytes = attributes[code]?.comparisonBytes(as: attribute.kind)
            else { return nil }
            out.append(contentsOf: AttributeValue.bigEndian(UInt64(bytes.count)))
            out.append(contentsOf: bytes)
        }
        return key.digest(out)
    }

    /// What stands under `sha1`: the length and behaviour of Apple's digest,
    /// keyed, over a keyed code of the data, so that nobody outside can test
    /// guesses of the secret with it.
    package func itemDigest(of attributes: AttributeMap, dataCode: [UInt8], in itemClass: ItemClass) -> [UInt8] {
        var out: [UInt8] = Array("\(itemClass.rawValue):sha1\0".utf8)
        for attribute in Schema.of(itemClass).attributes where attribute.traits.contains(.digested) {
            guard let bytes = attributes[attribute.code]?.comparisonBytes(as: attribute.kind) else { continue }
            out.append(contentsOf: Array("\(attribute.code)".utf8))
            out.append(contentsOf: AttributeValue.bigEndian(UInt64(bytes.count)))
            out.append(contentsOf: bytes)
        }
        out.append(contentsOf: dataCode)
        return key.digest(out, byteCount: 20)
    }

    /// A keyed code of an item's data, for ``itemDigest(of:dataCode:in:)``.
    package func dataCode(_ secret: borrowing SecretBytes) -> [UInt8] { key.digest(secret, purpose: "data") }
}
