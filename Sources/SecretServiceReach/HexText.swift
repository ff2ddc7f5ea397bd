/// Bytes in lower-case hex digits, as names of objects have them.
package enum HexText {
    package static func of(_ bytes: some Collection<UInt8>) -> String {
        unsafe String(unsafeUninitializedCapacity: bytes.count * 2) { place in
            var at = 0
            for byte in bytes {
                unsafe place[at] = digit(byte >> 4)
                unsafe place[at + 1] = digit(byte & 15)
                at += 2
            }
            return at
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// nil for what is not pairs of such digits.
    package static func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        var high: UInt8?
        for digit in text {
            guard let value = value(of: digit) else { return nil }
            if let first = high.take() { bytes.append(first << 4 | value) } else { high = value }
        }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
