import KeychainCrypto
import KeychainPlatform

/// The floor of opening one row: AES-256-GCM as swift-crypto does it, over as
/// many bytes as a row of the store has, and reading the attributes out of them.
final class CryptoFloor {
    private let key = SealingKey.random()
    private let bound: AssociatedData
    private let metadata: [UInt8]
    private let rowKey: [UInt8]
    private let secret: [UInt8]
    private let encoded: [UInt8]

    /// - Parameter sizes: bytes of the sealed metadata, row key and secret.
    init(_ sizes: (metadata: Int, rowKey: Int, secret: Int)) {
        var bound = AssociatedData("benchmark")
        bound.append(Random.bytes(100))
        self.bound = bound
        metadata = key.seal(Random.bytes(sizes.metadata - SealingKey.overhead), bound: bound)
        rowKey = key.seal(Random.bytes(sizes.rowKey - SealingKey.overhead), bound: bound)
        secret = key.seal(Random.bytes(sizes.secret - SealingKey.overhead), bound: bound)
        encoded = Self.attributes(byteCount: sizes.metadata - SealingKey.overhead)
    }

    /// The metadata of a row.
    func openOne() throws { _ = try key.openArray(metadata, bound: bound) }

    /// Metadata, row key, secret.
    func openThree() throws {
        _ = try key.openArray(metadata, bound: bound)
        _ = try key.open(rowKey, bound: bound)
        _ = try key.open(secret, bound: bound)
    }

    // MARK: Decoding

    /// Ten attributes, each code, length and bytes.
    private static func attributes(byteCount: Int) -> [UInt8] {
        let each = min(200, max(1, byteCount / 10 - 5))
        return (0..<10).flatMap { [UInt8($0), 0, 0, 0, UInt8(each)] + [UInt8](repeating: 97, count: each) }
    }

    /// Walks over them and copies each out as text.
    func decode() throws {
        var found: [(UInt8, String)] = []
        found.reserveCapacity(10)
        var at = 0
        while at + 5 <= encoded.count {
            let count = Int(encoded[at + 4])
            found.append((encoded[at], String(decoding: encoded[at + 5..<at + 5 + count], as: UTF8.self)))
            at += 5 + count
        }
        guard found.count == 10 else { throw BenchFailure("decoding") }
    }
}
