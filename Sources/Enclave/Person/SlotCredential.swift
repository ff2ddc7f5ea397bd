internal import KeychainCrypto
internal import KeychainPlatform

/// What is handed out for a slot that opens without a person: a line that begins with
/// `latchkey-slot-1:` and goes on with 256 random bits as 64 hexadecimal digits.
///
/// It is kept by a service manager (systemd.exec(5), LoadCredential=), never typed.
enum SlotCredential {
    private static let prefix = Array("latchkey-slot-1:".utf8)
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(of secret: borrowing SecretBytes) -> SecretBytes {
        var text = prefix
        defer { text.wipe() }
        text.reserveCapacity(prefix.count + 2 * secret.count)
        for index in 0..<secret.count {
            text.append(digits[Int(secret[index] >> 4)])
            text.append(digits[Int(secret[index] & 15)])
        }
        return SecretBytes(copying: text)
    }

    /// nil for anything else; white space at the end is no part of it.
    static func parse(_ text: borrowing SecretBytes) -> SecretBytes? {
        var end = text.count
        while end > 0, [0x20, 0x0A, 0x0D].contains(text[end - 1]) { end -= 1 }
        let count = SlotKind.automaticSecretByteCount
        guard end == prefix.count + 2 * count else { return nil }
        for index in 0..<prefix.count where text[index] != prefix[index] { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        defer { bytes.wipe() }
        for index in 0..<count {
            guard let high = digits.firstIndex(of: text[prefix.count + 2 * index]),
                let low = digits.firstIndex(of: text[prefix.count + 2 * index + 1])
            else { return nil }
            bytes[index] = UInt8(high << 4 | low)
        }
        return SecretBytes(copying: bytes)
    }
}
