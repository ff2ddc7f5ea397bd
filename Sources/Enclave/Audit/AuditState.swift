internal import KeychainCrypto
internal import KeychainPlatform

/// Where the audit record stands, and the keys for what comes next.
///
/// Each block is sealed under a key of its own, and each key gives the next by a
/// one-way function, after which it is wiped: whoever learns this state can neither
/// read nor forge what was sealed before it. Files have a chain of keys above, so
/// that reading one does not begin with the first block there ever was.
///
///     file key 0 ──next file──> file key 1 ──> …
///        └─ block key 0 ──next block──> block key 1 ──> …
///              └─ seals block 0            └─ seals block 1
struct AuditState: Sendable {
    /// Sealed bytes after which another file begins.
    static let fileSize: UInt64 = 4 << 20

    let place: AuditPlace
    let byteCount: UInt64
    /// Blocks of the file before this one.
    let previousCount: UInt32
    let nextFileKey: SharedSecret
    let blockKey: SharedSecret

    init(
        place: AuditPlace, byteCount: UInt64, previousCount: UInt32, nextFileKey: SharedSecret, blockKey: SharedSecret
    ) {
        self.place = place
        self.byteCount = byteCount
        self.previousCount = previousCount
        self.nextFileKey = nextFileKey
        self.blockKey = blockKey
    }

    /// The first block of a file.
    ///
    /// - Parameter fileKey: the file's own.
    init(chain: [UInt8], file: UInt64, ordinal: UInt32, previousCount: UInt32, fileKey: SharedSecret) {
        self.init(
            place: AuditPlace(unchecked: chain, file: file, ordinal: ordinal, index: 0), byteCount: 0,
            previousCount: previousCount, nextFileKey: Self.derive(fileKey, "latchkey audit next file 1"),
            blockKey: Self.derive(fileKey, "latchkey audit first block 1"))
    }

    /// Where a chain begins: in the next file, or in the same where nothing is in it yet.
    init(first chain: NewAuditChain, after former: AuditState?, fromFile lowest: UInt64) {
        let isUsed = former.map { $0.place.index > 0 } ?? false
        let next = former.map { isUsed ? $0.place.file + 1 : $0.place.file } ?? 1
        self.init(
            chain: chain.identifier, file: max(lowest, next), ordinal: 0,
            previousCount: isUsed ? former?.place.index ?? 0 : former?.previousCount ?? 0, fileKey: chain.firstKey)
    }

    private static func derive(_ key: SharedSecret, _ purpose: String) -> SharedSecret {
        SharedSecret(KeyDerivation.derive(from: key.bytes, purpose: purpose))
    }

    private var isFull: Bool { byteCount >= Self.fileSize || place.index >= AuditPlace.mostBlocks - 1 }

    /// Where the next block goes: into this file, or the next one.
    var forNextBlock: AuditState {
        guard isFull else { return self }
        return AuditState(
            chain: place.chain, file: place.file + 1, ordinal: place.ordinal + 1, previousCount: place.index,
            fileKey: nextFileKey)
    }

    /// After a block that is on the disk.
    func after(boxOf count: Int) -> AuditState {
        AuditState(
            place: place.at(place.index + 1), byteCount: byteCount + UInt64(count), previousCount: previousCount,
            nextFileKey: nextFileKey, blockKey: Self.nextBlockKey(blockKey))
    }

    static func nextBlockKey(_ key: SharedSecret) -> SharedSecret { derive(key, "latchkey audit next block 1") }

    static func seal(_ content: [UInt8], at place: AuditPlace, _ key: SharedSecret, of store: StoreID) -> [UInt8] {
        SealingKey(derive(key, "latchkey audit block 1").bytes.copy())
            .seal(content, bound: WrapBinding.auditBlock(store: store, place))
    }

    /// nil for what was not sealed under this key for this place.
    static func open(_ block: SealedAuditBlock, _ key: SharedSecret, of store: StoreID) -> [UInt8]? {
        let sealing = SealingKey(derive(key, "latchkey audit block 1").bytes.copy())
        do throws(CryptoError) {
            return try sealing.openArray(block.box, bound: WrapBinding.auditBlock(store: store, block.place))
        } catch { return nil }
    }

    /// The key of a block, from the first key of its chain.
    static func blockKey(of place: AuditPlace, from firstKey: SharedSecret) -> SharedSecret {
        var fileKey = firstKey
        for _ in 0..<place.ordinal { fileKey = derive(fileKey, "latchkey audit next file 1") }
        var key = derive(fileKey, "latchkey audit first block 1")
        for _ in 0..<place.index { key = nextBlockKey(key) }
        return key
    }
}
