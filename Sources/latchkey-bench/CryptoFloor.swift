import Crypto
import Foundation
import KeychainCrypto
import KeychainPlatform

/// The floor of opening one row: AES-256-GCM by swift-crypto itself, over as many
/// bytes as a row of the store has, and reading the attributes out of them.
final class CryptoFloor {
    private let key = SymmetricKey(size: .bits256)
    private let bound = Data(Random.bytes(130))
    private let metadata: Data
    private let rowKey: Data
    private let secret: Data
    private let encoded: [UInt8]

    /// Nonce and tag of a box.
    private static let overhead = 28

    /// - Parameter sizes: bytes of the sealed metadata, row key and secret.
    init(_ sizes: (metadata: Int, rowKey: Int, secret: Int)) throws {
        let boxes = try [sizes.metadata, sizes.rowKey, sizes.secret].map { [key, bound] size in
            let plain = Data(Random.bytes(size - Self.overhead))
            guard let box = try AES.GCM.seal(plain, using: key, authenticating: bound).combined else {
                throw BenchFailure("sealing")
            }
            return box
        }
        (metadata, rowKey, secret) = (boxes[0], boxes[1], boxes[2])
        encoded = Self.attributes(byteCount: sizes.metadata - Self.overhead)
    }

    private func open(_ box: Data) throws {
        let plain = try AES.GCM.open(AES.GCM.SealedBox(combined: box), using: key, authenticating: bound)
        guard !plain.isEmpty else { throw BenchFailure("opening") }
    }

    /// The metadata of a row.
    func openOne() throws { try open(metadata) }

    /// Metadata, row key, secret.
    func openThree() throws { for box in [metadata, rowKey, secret] { try open(box) } }

    // MARK: Storing

    private let blinding = BlindingKey(SecretBytes(copying: [UInt8](repeating: 9, count: BlindingKey.byteCount)))
    private let message = [UInt8](repeating: 7, count: 64)

    /// What a new row takes: metadata, its key under another one, and its value under that new
    /// key, with so many blind values.
    func sealThree(_ blindCount: Int) throws {
        let fresh = SymmetricKey(size: .bits256)
        let sealed = try [(metadata, key), (rowKey, key), (secret, fresh)].map { box, key in
            let plain = box.dropFirst(Self.overhead)
            return try AES.GCM.seal(plain, using: key, authenticating: bound).combined?.count == box.count
        }
        guard sealed.allSatisfy({ $0 }) else { throw BenchFailure("sealing") }
        for _ in 0..<blindCount where blinding.digest(message).isEmpty { throw BenchFailure("blinding") }
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
