internal import KeychainPlatform

/// RFC 4648, section 4, with its padding and nothing between.
enum Base64 {
    static func isValid(_ bytes: borrowing SecretBytes, _ range: Range<Int>) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe isValid(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    private static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count % 4 == 0 else { return false }
        let padding = unsafe bytes.suffix(2).count { $0 == UInt8(ascii: "=") }
        guard unsafe bytes.dropLast(padding).allSatisfy({ digit($0) != nil }) else { return false }
        guard padding > 0, bytes.count > 0 else { return padding == 0 }
        // Bits that stand for nothing are zero, so that each value has one form.
        let last = unsafe digit(bytes[bytes.count - padding - 1]) ?? 0
        return last & (padding == 1 ? 0b11 : 0b1111) == 0
    }

    /// - Precondition: ``isValid(_:_:)``.
    static func write(_ bytes: UnsafeRawBufferPointer, to writer: inout SecretWriter) {
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for index in 0..<bytes.count {
            guard let digit = digit(unsafe bytes[index]) else { return }
            bits = bits << 6 | digit
            count += 6
            if count >= 8 {
                count -= 8
                writer.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
