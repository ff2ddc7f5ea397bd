internal import KeychainCrypto
internal import KeychainPlatform

/// The secret of the protector "software-file": 256 random bits that lie in the
/// clear in a file of their own, two copies.
///
/// It binds the store to nothing but that file: whoever copies the folder has
/// it. File: magic `LKSECRET`, version (4 bytes big-endian), identifier (16),
/// secret (32), SHA-256 over all before (32): 92 bytes (FORMATS.md).
final class SoftwareSecret: Sendable {
    static let magic = Array("LKSECRET".utf8)
    static let version: UInt32 = 1
    static let identifierCount = 16
    static let fileCount = 8 + 4 + identifierCount + SealingKey.byteCount + 32
    static let fileName = "software-secret"

    /// Which protector this is the secret of.
    let identifier: [UInt8]
    let key: SealingKey

    private init(identifier: [UInt8], key: consuming SealingKey) {
        self.identifier = identifier
        self.key = key
    }

    static func random() -> SoftwareSecret {
        SoftwareSecret(identifier: Random.bytes(identifierCount), key: .random())
    }
}

extension SoftwareSecret {
    /// What one copy of the file turned out to be.
    enum Parsed: Sendable {
        case secret(SoftwareSecret)
        case newer(version: UInt32)
        case damaged
    }

    /// - Note: the checksum tells whole from torn; it authenticates nothing. What
    ///   a secret is worth shows when it opens the root key.
    static func parse(_ file: borrowing SecretBytes) -> Parsed {
        guard file.count >= 8 + 4 + 32 else { return .damaged }
        var head = file.copy(0..<12).insecureArray()
        let version = head[8...].reduce(0) { $0 << 8 | UInt32($1) }
        head.removeSubrange(8...)
        guard head == magic, hasGoodChecksum(file) else { return .damaged }
        guard version <= Self.version else { return .newer(version: version) }
        guard version == Self.version, file.count == fileCount else { return .damaged }
        return .secret(
            SoftwareSecret(
                identifier: file.copy(12..<28).insecureArray(), key: SealingKey(file.copy(28..<60))))
    }

    private static func hasGoodChecksum(_ file: borrowing SecretBytes) -> Bool {
        let split = file.count - 32
        let found = file.copy(split..<file.count)
        return found.isEqual(to: checksum(file, upTo: split))
    }

    private static func checksum(_ file: borrowing SecretBytes, upTo end: Int) -> SecretBytes {
        var bytes = file.copy(0..<end).insecureArray()
        defer { bytes.wipe() }
        return SecretBytes(copying: KeyDerivation.digest(bytes))
    }

    /// Lends the bytes of the file and wipes them.
    func withFileBytes<E: Error>(_ body: ([UInt8]) throws(E) -> Void) throws(E) {
        var bytes = Self.magic + [0, 0, 0, 1] + identifier
        bytes.reserveCapacity(Self.fileCount)
        var secret = key.secret.insecureArray()
        defer { secret.wipe() }
        bytes.append(contentsOf: secret)
        bytes.append(contentsOf: KeyDerivation.digest(bytes))
        defer { bytes.wipe() }
        try body(bytes)
    }
}

extension Array where Element == UInt8 {
    /// Overwrites what held a secret on its way to or from a file.
    mutating func wipe() { unsafe withUnsafeMutableBytes { unsafe unsafeWipe($0) } }
}
