import KeychainCrypto
import KeychainPlatform
import Testing

/// What the Secret Service's sessions are encrypted with.
@Suite struct SessionCryptoTests {

    @Test func bothSidesDeriveOneKey() throws {
        let (one, other) = (try OakleyExchange(), try OakleyExchange())
        #expect(one.publicValue.count == OakleyExchange.byteCount && one.publicValue != other.publicValue)
        let key = try one.key(with: SecretBytes(copying: other.publicValue))
        let same = try other.key(with: SecretBytes(copying: one.publicValue))
        let isSame = key.isEqual(to: same)
        #expect(isSame && key.count == SessionCipher.keyByteCount)
        // As some libraries send it: without the zeros before it, or with more.
        for zeros in [1, 2, 3000] {
            let padding = [UInt8](repeating: 0, count: zeros)
            let padded = try other.key(with: SecretBytes(copying: padding + one.publicValue))
            let isSamePadded = padded.isEqual(to: same)
            #expect(isSamePadded)
        }
    }

    @Test func aPublicValueThatGivesTheKeyAwayIsRefused() throws {
        let exchange = try OakleyExchange()
        // p ends in 64 ones; p - 1 in 63 and a zero.
        let prime = try #require(Self.prime)
        var last = prime
        last[127] -= 1
        var above = prime
        above[127] = 0
        above[126] = 0
        let values: [[UInt8]] = [
            [], [0], [1], [UInt8](repeating: 0, count: 128), last, prime, [UInt8](repeating: 0xFF, count: 128),
            [1] + [UInt8](repeating: 0, count: 128), [UInt8](repeating: 1, count: 130),
            [UInt8](repeating: 0, count: 3000), [UInt8](repeating: 0, count: 4096) + [2],
        ]
        for value in values {
            #expect(throws: CryptoError.malformed) { _ = try exchange.key(with: SecretBytes(copying: value)).count }
        }
        #expect(try exchange.key(with: SecretBytes(copying: above)).count == 16)
        #expect(try exchange.key(with: SecretBytes(copying: [2])).count == 16)
    }

    /// RFC 2409, 6.2.
    private static var prime: [UInt8]? {
        let digits =
            "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
            + "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
            + "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF"
        return bytes(digits)
    }

    private static func bytes(_ digits: String) -> [UInt8]? {
        var rest = Substring(digits)
        var out: [UInt8] = []
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            out.append(byte)
            rest = rest.dropFirst(2)
        }
        return out
    }

    /// NIST SP 800-38A, F.2.1 (CBC-AES128): the first block; a padded block follows it.
    @Test func itIsTheCipherOfTheStandard() throws {
        let key = try #require(Self.bytes("2b7e151628aed2a6abf7158809cf4f3c"))
        let vector = try #require(Self.bytes("000102030405060708090a0b0c0d0e0f"))
        let plain = try #require(Self.bytes("6bc1bee22e409f96e93d7e117393172a"))
        let first = try #require(Self.bytes("7649abac8119b246cee98e9b12e9197d"))
        let cipher = SessionCipher(key: SecretBytes(copying: key))
        let sealed = try cipher.encrypt(SecretBytes(copying: plain), vector: vector)
        #expect(sealed.count == 32 && Array(sealed.insecureArray().prefix(16)) == first)
        #expect(try cipher.decrypt(sealed, vector: vector).insecureArray() == plain)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 4096]) func whatIsEncryptedComesBack(count: Int) throws {
        let cipher = SessionCipher(key: .random(count: 16))
        let vector = Random.bytes(16)
        let plain = Random.bytes(count)
        let sealed = try cipher.encrypt(SecretBytes(copying: plain), vector: vector)
        #expect(sealed.count == (count / 16 + 1) * 16)
        #expect(try cipher.decrypt(sealed, vector: vector).insecureArray() == plain)
        for broken in [sealed.count - 1, 0] where broken != sealed.count {
            let part = sealed.copy(0..<broken)
            #expect(throws: CryptoError.malformed) { _ = try cipher.decrypt(part, vector: vector).count }
        }
        #expect(throws: CryptoError.malformed) {
            _ = try cipher.decrypt(sealed, vector: Array(vector.dropLast())).count
        }
    }
}
