/// Fills secret memory from the front.
package struct SecretWriter: ~Copyable {
    private var bytes: SecretBytes
    private var position = 0

    /// Room for `byteCount` bytes and no more.
    package init(byteCount: Int) { bytes = SecretBytes(count: byteCount) }

    package var count: Int { position }

    package mutating func append(_ byte: UInt8) {
        let at = position
        unsafe bytes.withUnsafeMutableBytes { unsafe $0[at] = byte }
        position += 1
    }

    package mutating func append(_ text: String) {
        for byte in text.utf8 { append(byte) }
    }

    package mutating func append(_ part: UnsafeRawBufferPointer) {
        let at = position
        unsafe bytes.withUnsafeMutableBytes { place in
            unsafe UnsafeMutableRawBufferPointer(rebasing: place[at..<at + part.count]).copyMemory(from: part)
        }
        position += part.count
    }

    package mutating func append(_ secret: borrowing SecretBytes) {
        unsafe secret.withUnsafeBytes { unsafe append($0) }
    }

    /// RFC 4648, section 4; takes `(count + 2) / 3 * 4` bytes.
    package mutating func appendBase64(_ value: borrowing SecretBytes) {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for start in stride(from: 0, to: value.count, by: 3) {
            let count = min(3, value.count - start)
            var bits: UInt32 = 0
            for offset in 0..<3 {
                let byte = offset < count ? unsafe value.withUnsafeBytes { unsafe $0[start + offset] } : 0
                bits = bits << 8 | UInt32(byte)
            }
            for digit in 0..<4 {
                let shift = UInt32(18 - 6 * digit)
                append(digit <= count ? alphabet[Int(bits >> shift & 63)] : UInt8(ascii: "="))
            }
        }
    }

    /// What was written, without the room that is left.
    package consuming func finish() -> SecretBytes {
        bytes.truncate(to: position)
        return bytes
    }
}
