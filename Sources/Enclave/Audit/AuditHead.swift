internal import KeychainCrypto
internal import KeychainPlatform

/// `audit`: where the audit record ends, and the keys for what comes next, sealed.
/// Two places in one file, written in turn and where they are: a write that is torn
/// leaves the one before it, and a key that is past lies on the disk for two more
/// blocks.
///
/// A place, numbers big-endian (FORMATS.md): magic `LKAUDHED`, version (4), chain
/// (16), box of generation (8), file (8), ordinal (4), index (4), bytes (8), blocks of
/// the file before (4), next file's key (32), block key (32); of version 2 behind that
/// what is lost (8), what waits (8), in which daemon (8).
struct AuditHead: Sendable {
    static let fileName = "audit"
    static let placeCount = 2
    static let placeSize = 4096
    private static let magic = Array("LKAUDHED".utf8)
    private static let plainCount = 8 + 8 + 4 + 4 + 8 + 4 + 32 + 32
    private static let lackCount = 8 + 8 + 8
    private static let boxStart = 8 + 4 + AuditPlace.chainByteCount
    static let recordCount = boxStart + plainCount + SealingKey.overhead

    let generation: UInt64
    let state: AuditState
    let lack: AuditLack

    private static func version(isLacking: Bool) -> [UInt8] { [0, 0, 0, isLacking ? 2 : 1] }

    func sealed(under key: SharedSecret, of store: StoreID) -> [UInt8] {
        let numbers =
            Self.bytes(generation) + Self.bytes(state.place.file) + Self.bytes(state.place.ordinal)
            + Self.bytes(state.place.index) + Self.bytes(state.byteCount) + Self.bytes(state.previousCount)
        let keys = SecretBytes(joining: state.nextFileKey.bytes, state.blockKey.bytes)
        var plain = SecretBytes(joining: SecretBytes(copying: numbers), keys)
        if !lack.isNothing {
            let more = Self.bytes(lack.lost) + Self.bytes(lack.waiting) + Self.bytes(lack.teller)
            plain = SecretBytes(joining: plain, SecretBytes(copying: more))
        }
        let box = SealingKey(key.bytes.copy())
            .seal(plain, bound: WrapBinding.auditHead(store: store, state.place.chain, isLacking: !lack.isNothing))
        return Self.magic + Self.version(isLacking: !lack.isNothing) + state.place.chain + box
    }

    /// nil for what was not sealed under this key, for this chain.
    init?(_ record: [UInt8], chain: [UInt8], under key: SharedSecret, of store: StoreID) {
        guard record.count >= Self.boxStart, Array(record[..<8]) == Self.magic,
            Array(record[12..<Self.boxStart]) == chain
        else { return nil }
        let isLacking = Array(record[8..<12]) == Self.version(isLacking: true)
        let end = Self.recordCount + (isLacking ? Self.lackCount : 0)
        guard isLacking || Array(record[8..<12]) == Self.version(isLacking: false), record.count >= end else {
            return nil
        }
        let plain: SecretBytes
        do throws(CryptoError) {
            plain = try SealingKey(key.bytes.copy()).open(
                Array(record[Self.boxStart..<end]),
                bound: WrapBinding.auditHead(store: store, chain, isLacking: isLacking))
        } catch { return nil }
        let numbers = plain.copy(0..<36).insecureArray()
        guard
            let place = AuditPlace(
                chain: chain, file: Self.number(numbers[8..<16]), ordinal: UInt32(Self.number(numbers[16..<20])),
                index: UInt32(Self.number(numbers[20..<24])))
        else { return nil }
        generation = Self.number(numbers[0..<8])
        if isLacking {
            let more = plain.copy(100..<124).insecureArray()
            lack = AuditLack(
                lost: Self.number(more[0..<8]), waiting: Self.number(more[8..<16]), teller: Self.number(more[16..<24]))
        } else {
            lack = AuditLack()
        }
        state = AuditState(
            place: place, byteCount: Self.number(numbers[24..<32]),
            previousCount: UInt32(Self.number(numbers[32..<36])), nextFileKey: SharedSecret(plain.copy(36..<68)),
            blockKey: SharedSecret(plain.copy(68..<100)))
    }

    init(generation: UInt64, state: AuditState, lack: AuditLack) {
        self.generation = generation
        self.state = state
        self.lack = lack
    }

    private static func bytes<I: FixedWidthInteger>(_ value: I) -> [UInt8] {
        (1...(I.bitWidth / 8)).map { UInt8(truncatingIfNeeded: value >> (I.bitWidth - 8 * $0)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// How many events the record has no line of, as it is on the disk.
struct AuditLack: Hashable, Sendable {
    /// The next block says of so many that they are lost.
    var lost: UInt64 = 0
    /// So many wait in a daemon that cannot write them.
    var waiting: UInt64 = 0
    /// Which daemon that is; 0 where nothing waits.
    var teller: UInt64 = 0

    var isNothing: Bool { lost == 0 && waiting == 0 }
}

/// The file in the enclave's folder.
struct AuditHeadFile: Sendable {
    let directory: PrivateDirectory

    /// Both places as they are; empty where there is no such file, or no file of ours.
    ///
    /// - Throws: what says nothing about the file (no memory, no permission).
    func places() throws(KeybagError) -> [[UInt8]] {
        do throws(SystemCallError) {
            let limit = AuditHead.placeCount * AuditHead.placeSize
            guard let bytes = try directory.read(AuditHead.fileName, atMost: limit) else { return [] }
            return (0..<AuditHead.placeCount).map { Array(bytes.dropFirst($0 * AuditHead.placeSize)) }
        } catch {
            guard error.isNotAFileOfOurs || error.isInputOutput else { throw .system(error) }
            return []
        }
    }

    func write(_ record: [UInt8], at place: Int) throws(KeybagError) {
        do throws(SystemCallError) {
            try directory.overwrite(AuditHead.fileName, with: record, at: place * AuditHead.placeSize)
        } catch { throw .system(error) }
    }
}
