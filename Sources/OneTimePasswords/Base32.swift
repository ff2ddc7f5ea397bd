internal import KeychainPlatform

/// RFC 4648 section 6, as people hand secrets about: small letters are capital ones; blanks,
/// line ends and hyphens do not count; padding may be missing. What is left over behind the
/// last whole byte is dropped, as the programs do that show codes: secrets of random letters
/// are seldom whole bytes.
enum Base32 {
    /// Nil where it is not that.
    static func decoded(_ text: borrowing SecretBytes) -> SecretBytes? {
        var out = SecretBytes(count: text.count * 5 / 8)
        var count = 0
        var bits: UInt32 = 0
        var bitCount = 0
        var isPadded = false
        for index in 0..<text.count {
            let byte = unsafe text.withUnsafeBytes { unsafe $0[index] }
            if separators.contains(byte) { continue }
            if byte == UInt8(ascii: "=") {
                isPadded = true
                continue
            }
            guard !isPadded, let digit = digit(byte) else { return nil }
            bits = (bits << 5 | digit) & 0xffff
            bitCount += 5
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            let whole = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
            let place = count
            unsafe out.withUnsafeMutableBytes { unsafe $0[place] = whole }
            count += 1
        }
        out.truncate(to: count)
        return out
    }

    private static let separators = Array(" -\t\r\n".utf8)

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a"))
        case UInt8(ascii: "2")...UInt8(ascii: "7"): UInt32(byte - UInt8(ascii: "2")) + 26
        default: nil
        }
    }
}
