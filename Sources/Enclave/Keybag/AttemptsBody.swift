internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainProtocol

/// What the file `attempts` says.
struct AttemptsBody: Hashable, Sendable {
    let store: StoreID
    let failed: Int
    /// Where a TPM counts.
    let anchor: Anchor?

    /// What a file is taken for that nobody of ours wrote.
    static let unbelievable = 5
    /// More make no difference.
    static let most = 1_000_000

    init(store: StoreID, failed: Int, anchor: Anchor? = nil) {
        self.store = store
        self.failed = min(failed, Self.most)
        self.anchor = anchor
    }

    init?(parsing bytes: [UInt8]) {
        guard let message = MessageCoding.decode(Latchkey_AttemptsBody.self, bytes),
            let store = StoreID(Array(message.storeID)), message.failed <= Self.most
        else { return nil }
        var anchor: Anchor?
        if message.hasAnchor {
            anchor = Anchor(message.anchor)
            guard anchor != nil else { return nil }
        }
        self.init(store: store, failed: Int(message.failed), anchor: anchor)
    }

    /// The version of the file that says all of it. An older program would drop the anchor,
    /// and the folder were refused from then on.
    var leastVersion: UInt32 { anchor == nil ? Self.versionWithoutAnchor : 2 }

    static let versionWithoutAnchor: UInt32 = 1

    var encoded: [UInt8] {
        var message = Latchkey_AttemptsBody()
        message.storeID = Data(store.bytes)
        message.failed = UInt32(failed)
        if let anchor { message.anchor = anchor.message }
        return MessageCoding.encode(message)
    }
}

/// What a TPM's count vouches for: this file says it with each count, so that the same file
/// from before has another.
struct Anchor: Hashable, Sendable {
    /// Of the index that counts.
    let label: [UInt8]
    /// What that has; one less where counting was cut short, for this file is written first.
    var count: UInt64
    /// Files that are older than these are not accepted.
    var least: FileGenerations

    /// More is no count: it leaves room for ``FileGenerations/beyondAll(before:since:)``.
    static let most: UInt64 = 1 << 39

    init?(label: [UInt8], count: UInt64, least: FileGenerations) {
        guard label.count == TPMIndex.labelByteCount, count < Self.most else { return nil }
        self.label = label
        self.count = count
        self.least = least
    }

    fileprivate init?(_ message: Latchkey_AttemptsBody.Anchor) {
        self.init(
            label: Array(message.label), count: message.count,
            least: FileGenerations(keybag: message.keybag, protectors: message.protectors))
    }

    fileprivate var message: Latchkey_AttemptsBody.Anchor {
        var message = Latchkey_AttemptsBody.Anchor()
        message.label = Data(label)
        message.count = count
        message.keybag = least.keybag
        message.protectors = least.protectors
        return message
    }

    /// One count further.
    func next(least: FileGenerations) -> Anchor? { Anchor(label: label, count: count + 1, least: least) }
}

/// The generations of the files that a count vouches for.
struct FileGenerations: Hashable, Sendable {
    var keybag: UInt64
    var protectors: UInt64

    func areOlder(than other: FileGenerations) -> Bool {
        keybag < other.keybag || protectors < other.protectors
    }

    /// A generation of the keybag that none has which was written before the TPM had counted
    /// so far: where an older copy is accepted, what was written after it must not pass for
    /// newer. (A keybag is written fewer than 2^24 times between two counts.)
    ///
    /// - Parameter base: as ``TPMCounter/Place/base``.
    static func beyondAll(before count: UInt64, since base: UInt64) -> UInt64 {
        // Neither has more bits: TPMCounter.bases, Anchor.most.
        base + min(count, Anchor.most) << 24
    }
}
