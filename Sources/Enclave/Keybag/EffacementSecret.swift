internal import KeychainCrypto
internal import KeychainPlatform

/// Half of what opens the class of items that last as long as a passcode is set;
/// the other half is wrapped by the slots that need a person. Once it is gone,
/// their class key is gone with it, whoever still has a slot's secret.
///
/// A record of 92 bytes: magic `LKEFFACE`, version (4 bytes big-endian),
/// identifier (16), secret (32), SHA-256 over all before (32) (FORMATS.md).
final class EffacementSecret: Sendable {
    static let magic = Array("LKEFFACE".utf8)
    static let version: UInt32 = 1
    static let identifierCount = 16
    static let recordCount = 8 + 4 + identifierCount + SealingKey.byteCount + 32

    /// What the keybag calls it.
    let identifier: [UInt8]
    let secret: SecretBytes

    private init(identifier: [UInt8], secret: consuming SecretBytes) {
        self.identifier = identifier
        self.secret = secret
    }

    static func random() -> EffacementSecret {
        EffacementSecret(identifier: Random.bytes(identifierCount), secret: .random(count: SealingKey.byteCount))
    }

    /// nil for what was overwritten, torn, or is of another version.
    init?(record: borrowing SecretBytes) {
        guard record.count == Self.recordCount,
            record.copy(0..<12).insecureArray() == Self.magic + [0, 0, 0, 1],
            record.copy(60..<92).insecureArray() == Self.checksum(record)
        else { return nil }
        identifier = record.copy(12..<28).insecureArray()
        secret = record.copy(28..<60)
    }

    private static func checksum(_ record: borrowing SecretBytes) -> [UInt8] {
        var bytes = record.copy(0..<60).insecureArray()
        defer { bytes.wipe() }
        return KeyDerivation.digest(bytes)
    }

    /// Lends the record's bytes and wipes them.
    func withRecord<R, E: Error>(_ body: ([UInt8]) throws(E) -> R) throws(E) -> R {
        var bytes = Self.magic + [0, 0, 0, 1] + identifier
        bytes.reserveCapacity(Self.recordCount)
        var plain = secret.insecureArray()
        defer { plain.wipe() }
        bytes.append(contentsOf: plain)
        bytes.append(contentsOf: KeyDerivation.digest(bytes))
        defer { bytes.wipe() }
        return try body(bytes)
    }
}

/// `effacement`: two places of 4096 bytes each in one file of a fixed size,
/// overwritten where they are, so that what was there is gone from this file.
///
/// It is not gone from copies made before, nor from a disk or file system that
/// writes elsewhere (flash, copy-on-write): THREAT_MODEL.md says so.
struct EffacementFile: Sendable {
    static let fileName = "effacement"
    static let placeCount = 2
    /// A place begins on a page of its own, so that writing one never touches the other.
    static let placeSize = 4096

    let directory: PrivateDirectory

    /// The secret of that name, from whichever place holds it.
    ///
    /// - Throws: what says nothing about the file (no memory, no permission).
    func secret(named identifier: [UInt8]) throws(KeybagError) -> EffacementSecret? {
        try secrets().first { $0?.identifier == identifier } ?? nil
    }

    /// Writes a new secret into one place and leaves the other: as long as nobody
    /// knows which of the two the keybag will name, both are there.
    func add(_ secret: EffacementSecret, beside kept: [UInt8]?) throws(KeybagError) {
        let found = try secrets()
        let place = found.firstIndex { $0 == nil || $0?.identifier != kept } ?? 0
        try secret.withRecord { record throws(KeybagError) in try write(record, at: place) }
    }

    /// Makes both places hold the one that the keybag names, or nothing.
    func settle(on identifier: [UInt8]?) throws(KeybagError) {
        let found = try secrets()
        let good = found.compactMap { $0 }.first { $0.identifier == identifier }
        // The one that is to stay is lost: nothing is written over what may hold it.
        if identifier != nil && good == nil { return }
        for place in 0..<Self.placeCount where found[place]?.identifier != identifier || found[place] == nil {
            guard let good else {
                try efface(place)
                continue
            }
            try good.withRecord { record throws(KeybagError) in try write(record, at: place) }
        }
    }

    /// Zeros over a place, where there is anything.
    private func efface(_ place: Int) throws(KeybagError) {
        // A full disk may have kept the first secret out, and would keep the zeros out as well.
        let hasBytes = try translating { () throws(SystemCallError) in
            let file = try directory.readSecret(Self.fileName, atMost: Self.placeCount * Self.placeSize)
            guard let file else { return false }
            return file.count > place * Self.placeSize
        }
        guard hasBytes else { return }
        try write([UInt8](repeating: 0, count: Self.placeSize), at: place)
    }

    private func secrets() throws(KeybagError) -> [EffacementSecret?] {
        let limit = Self.placeCount * Self.placeSize
        let file = try translating { () throws(SystemCallError) in try directory.readSecret(Self.fileName, atMost: limit) }
        guard let file else { return Array(repeating: nil, count: Self.placeCount) }
        return (0..<Self.placeCount).map { place in
            let start = place * Self.placeSize
            guard file.count >= start + EffacementSecret.recordCount else { return nil }
            return EffacementSecret(record: file.copy(start..<start + EffacementSecret.recordCount))
        }
    }

    private func write(_ bytes: [UInt8], at place: Int) throws(KeybagError) {
        try translating { () throws(SystemCallError) in
            try directory.overwrite(Self.fileName, with: bytes, at: place * Self.placeSize)
        }
    }

    private func translating<R: ~Copyable>(_ body: () throws(SystemCallError) -> R) throws(KeybagError) -> R {
        do throws(SystemCallError) { return try body() } catch { throw .system(error) }
    }
}
