internal import KeychainCrypto
package import KeychainPlatform

/// What a person writes down: 128 random bits and a checksum of 12, as 28 letters
/// and digits of Crockford's base 32 (https://www.crockford.com/base32.html), in
/// seven groups of four: `ABCD-EFGH-…`.
///
/// Read back without regard to case, spaces and hyphens; I and L are read as 1, O
/// as 0. The checksum tells a slip of the pen from a code of another keychain.
package enum RecoveryCode {
    static let byteCount = 16
    private static let symbolCount = 28
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// The code as it is shown.
    static func text(of bytes: borrowing SecretBytes) -> SecretBytes {
        precondition(bytes.count == byteCount)
        var plain = [UInt8](repeating: 0, count: byteCount + 2)
        defer { plain.wipe() }
        for index in 0..<byteCount { plain[index] = bytes[index] }
        (plain[byteCount], plain[byteCount + 1]) = checksum(of: bytes)
        var text: [UInt8] = []
        defer { text.wipe() }
        text.reserveCapacity(symbolCount + symbolCount / 4)
        for index in 0..<symbolCount {
            if index > 0 && index % 4 == 0 { text.append(UInt8(ascii: "-")) }
            text.append(alphabet[Int(fiveBits(of: plain, at: index))])
        }
        return SecretBytes(copying: text)
    }

    /// nil for what is no such code, a mistyped one among them.
    package static func parse(_ typed: borrowing SecretBytes) -> SecretBytes? {
        guard typed.count <= 128 else { return nil }
        // 140 bits: the last four of the 18 bytes are none.
        var bytes = [UInt8](repeating: 0, count: byteCount + 2)
        defer { bytes.wipe() }
        guard read(typed, into: &bytes) == symbolCount else { return nil }
        var code = SecretBytes(copying: bytes)
        code.truncate(to: byteCount)
        guard (bytes[byteCount], bytes[byteCount + 1]) == checksum(of: code) else { return nil }
        return code
    }

    /// How many symbols there are; nil for one too many, or for what is none.
    private static func read(_ typed: borrowing SecretBytes, into bytes: inout [UInt8]) -> Int? {
        var count = 0
        for index in 0..<typed.count {
            let byte = typed[index]
            guard byte != UInt8(ascii: "-"), byte != UInt8(ascii: " ") else { continue }
            guard let symbol = symbol(of: byte), count < symbolCount else { return nil }
            put(symbol, at: count, into: &bytes)
            count += 1
        }
        return count
    }

    private static func symbol(of byte: UInt8) -> UInt8? {
        let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
        switch upper {
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        case UInt8(ascii: "O"): return 0
        default: return alphabet.firstIndex(of: upper).map { UInt8($0) }
        }
    }

    /// The first 12 bits of SHA-256, in two bytes whose last four bits are zero.
    private static func checksum(of code: borrowing SecretBytes) -> (UInt8, UInt8) {
        let digest = KeyDerivation.digest("latchkey recovery code 1", code)
        return (digest[0], digest[1] & 0xF0)
    }

    private static func fiveBits(of bytes: [UInt8], at index: Int) -> UInt8 {
        (0..<5).reduce(0) { result, offset in
            let bit = index * 5 + offset
            return result << 1 | (bytes[bit / 8] >> (7 - bit % 8)) & 1
        }
    }

    private static func put(_ symbol: UInt8, at index: Int, into bytes: inout [UInt8]) {
        for offset in 0..<5 where (symbol >> (4 - offset)) & 1 == 1 {
            let bit = index * 5 + offset
            bytes[bit / 8] |= 1 << (7 - bit % 8)
        }
    }
}
