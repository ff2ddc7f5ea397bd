internal import KeychainPlatform

/// A JSON object whose last members are a secret and its encoding, built in
/// memory that is wiped.
enum SecretJSON {
    /// Text stands as text ("utf8"), anything else as "base64".
    static func line(_ members: [(String, JSONValue)], value: borrowing SecretBytes) -> SecretBytes {
        let isText = isUTF8(value)
        let encoding: [(String, JSONValue)] = [("encoding", .string(isText ? "utf8" : "base64"))]
        let open = String(JSONValue.object(members + encoding).text.dropLast()) + ",\"value\":\""
        let close = "\"}\n"
        let room = isText ? escapedCount(value) : (value.count + 2) / 3 * 4
        var writer = SecretWriter(byteCount: open.utf8.count + room + close.utf8.count)
        writer.append(open)
        if isText { appendEscaped(value, to: &writer) } else { appendBase64(value, to: &writer) }
        writer.append(close)
        return writer.finish()
    }

    private static func isUTF8(_ value: borrowing SecretBytes) -> Bool {
        unsafe value.withUnsafeBytes { bytes in
            var decoder = UTF8()
            var rest = unsafe bytes.makeIterator()
            while true {
                switch unsafe decoder.decode(&rest) {
                case .scalarValue: continue
                case .emptyInput: return true
                case .error: return false
                }
            }
        }
    }

    /// What a byte of text becomes between quotes; nil: itself.
    private static func escape(_ byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "\""): "\\\""
        case UInt8(ascii: "\\"): "\\\\"
        case UInt8(ascii: "\n"): "\\n"
        case UInt8(ascii: "\t"): "\\t"
        case UInt8(ascii: "\r"): "\\r"
        case 0..<0x20, 0x7f: "\\u" + PrintableText.hex(UInt32(byte), digits: 4)
        default: nil
        }
    }

    private static func escapedCount(_ value: borrowing SecretBytes) -> Int {
        unsafe value.withUnsafeBytes { bytes in
            unsafe bytes.reduce(0) { $0 + (escape($1)?.utf8.count ?? 1) }
        }
    }

    private static func appendEscaped(_ value: borrowing SecretBytes, to writer: inout SecretWriter) {
        for index in 0..<value.count {
            let byte = unsafe value.withUnsafeBytes { unsafe $0[index] }
            if let escape = escape(byte) { writer.append(escape) } else { writer.append(byte) }
        }
    }

    /// RFC 4648 section 4.
    static func appendBase64(_ value: borrowing SecretBytes, to writer: inout SecretWriter) {
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
                writer.append(digit <= count ? alphabet[Int(bits >> shift & 63)] : UInt8(ascii: "="))
            }
        }
    }
}

/// Fills secret memory from the front.
struct SecretWriter: ~Copyable {
    private var bytes: SecretBytes
    private var position = 0

    init(byteCount: Int) { bytes = SecretBytes(count: byteCount) }

    mutating func append(_ byte: UInt8) {
        let at = position
        unsafe bytes.withUnsafeMutableBytes { unsafe $0[at] = byte }
        position += 1
    }

    mutating func append(_ text: String) {
        for byte in text.utf8 { append(byte) }
    }

    mutating func append(_ secret: borrowing SecretBytes) {
        let at = position
        let count = secret.count
        unsafe bytes.withUnsafeMutableBytes { place in
            unsafe secret.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: place[at..<at + count]).copyMemory(from: source)
            }
        }
        position += count
    }

    consuming func finish() -> SecretBytes { bytes }
}
