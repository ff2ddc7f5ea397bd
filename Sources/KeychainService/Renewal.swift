internal import Enclave
package import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore
internal import Synchronization

/// What a row came to that was to be put under the newest keys of its class.
enum RenewedRow {
    case row(RowToStore)
    /// Its class closed meanwhile.
    case locked
    /// It does not open, or nobody can open it any more: a reader sees to it.
    case gone
}

extension KeychainEngine {
    /// An item without its secret, and the row that holds it.
    typealias Resting = (candidate: Candidate, draft: ItemDraft)

    /// Items under `key`, the newest of their class, in one exchange with the enclave.
    ///
    /// Row keys are wrapped anew within the enclave, so that no constraint has to be
    /// met and no value is opened; only a row of format 1, whose value is bound to
    /// the old generation, is opened and sealed as a whole.
    ///
    /// - Throws: ``MetadataKeys/renewed`` where `key` is not the newest any more.
    func renewed(_ items: [Resting], under key: MetadataKey) throws(KeychainError) -> [RenewedRow] {
        let wrapped = items.filter { Self.isRewrapped($0.candidate.row, under: key) }
            .map { (binding: Self.binding($0.candidate), wrapped: Self.wrapped($0.candidate.row)) }
        var outcomes = ArraySlice(
            wrapped.isEmpty
                ? [] : try enclave.use { enclave throws(KeychainError) in try enclave.rewrapRowKeys(wrapped) })
        return try items.map { item throws(KeychainError) in
            let isRewrapped = Self.isRewrapped(item.candidate.row, under: key)
            return try renewed(item, under: key, with: isRewrapped ? outcomes.popFirst() : nil)
        }
    }

    /// Whether the row key has to be wrapped anew, and may be alone.
    private static func isRewrapped(_ row: SealedRow, under key: MetadataKey) -> Bool {
        row.metadataGeneration != key.generation && row.secret != nil && row.format > 1
    }

    private func renewed(
        _ item: Resting, under key: MetadataKey, with outcome: RewrapOutcome?
    ) throws(KeychainError) -> RenewedRow {
        let (candidate, draft) = item
        var row = candidate.row
        if row.metadataGeneration == key.generation || row.secret == nil {
            if row.secret == nil { row.generation = key.generation }
            return .row(maker.resealMetadata(of: row, sealID: candidate.metadata.sealID, draft, under: key))
        }
        if row.format == 1 { return try reopened(candidate, draft, under: key) }
        switch outcome {
        case .wrapped(let wrapped):
            guard wrapped.generation == key.generation else { throw MetadataKeys.renewed }
            row.generation = wrapped.generation
            row.wrappedKey = wrapped.box
            return .row(maker.resealMetadata(of: row, sealID: candidate.metadata.sealID, draft, under: key))
        case .locked: return .locked
        case .needsAuthentication, .damaged, .noClassKey, .effaced, nil: return .gone
        }
    }

    private func reopened(
        _ candidate: Candidate, _ draft: ItemDraft, under key: MetadataKey
    ) throws(KeychainError) -> RenewedRow {
        var draft = draft
        switch try openSecrets([candidate], draft.itemClass)[0] {
        case .payload(let value, let extras):
            draft.value = value
            draft.extras = extras
        case .locked, .needsAuthentication, .wrongApplicationPassword: return .locked
        case .damaged, .effaced: return .gone
        }
        var stored = try maker.seal(draft, under: key)
        stored.row.rowid = candidate.row.rowid
        return .row(stored)
    }

    // MARK: In the background

    /// Rows, and bytes of their sealed values, that are renewed in one transaction.
    private static let renewedTogether = (rows: 256, bytes: 8 << 20)

    /// Puts everything that is open and lies under older class keys under the newest
    /// ones (after the first passcode, or the removal of a way to open the keychain).
    ///
    /// Works in short transactions, beside every other call, and goes on with the
    /// next opening of a class or of the store where it was cut short. Changes
    /// nothing that anybody could observe.
    ///
    /// - Parameter isCancelled: looked at before each transaction.
    /// - Throws: where the enclave or the disk fails; what was renewed until then is.
    package func renewRows(unless isCancelled: () -> Bool = { false }) throws(KeychainError) {
        func mayGoOn() -> Bool { !isCancelled() && !isClosing.load(ordering: .acquiring) }
        try withNewestKeys { () throws(KeychainError) in
            let described = try enclave.use { enclave throws(KeychainError) in try enclave.describe() }
            for (protectionClass, generation) in described.generations.sorted(by: { $0.key.number < $1.key.number })
            where generation > 1 && described.state.openClasses.contains(protectionClass) {
                for itemClass in ItemClass.stored {
                    try renew(itemClass, protectionClass, below: generation, while: mayGoOn)
                }
            }
        }
    }

    /// One class of items under one class key. Begins anew where a row was changed
    /// while it was renewed and is not under the newest key all the same.
    private func renew(
        _ itemClass: ItemClass, _ protectionClass: ProtectionClass, below generation: UInt32, while mayGoOn: () -> Bool
    ) throws(KeychainError) {
        var last: Int64 = 0
        var overtaken = 0
        while mayGoOn() {
            // Counted as a call: what it holds is let go of before a lock is acknowledged.
            let step = try calls.during { () throws(KeychainError) in
                try renew(itemClass, protectionClass, below: generation, after: last)
            }
            overtaken += step?.overtaken ?? 0
            if let step {
                last = step.last
            } else {
                guard overtaken > 0 else { return }
                (last, overtaken) = (0, 0)
            }
        }
    }

    /// - Returns: the last row that was looked at, and how many were changed by others
    ///   meanwhile; nil where there is none any more.
    private func renew(
        _ itemClass: ItemClass, _ protectionClass: ProtectionClass, below generation: UInt32, after rowid: Int64
    ) throws(KeychainError) -> (last: Int64, overtaken: Int)? {
        let rows = try store.read { reader throws(KeychainError) in
            try reader.rows(
                of: itemClass, in: protectionClass, below: generation, after: rowid,
                atMost: Self.renewedTogether.rows, Self.renewedTogether.bytes)
        }
        guard let last = rows.last?.rowid else { return nil }
        return (last, try write(try renewed(rows, itemClass, protectionClass), itemClass))
    }

    /// Those that open now; a reader sees to the others.
    private func renewed(
        _ rows: [SealedRow], _ itemClass: ItemClass, _ protectionClass: ProtectionClass
    ) throws(KeychainError) -> [RenewedPair] {
        let items = try store.read { reader throws(KeychainError) in
            var items: [Resting] = []
            for row in rows {
                guard case .item(let metadata) = try opener.open(row, itemClass, reader) else { continue }
                items.append((Candidate(row, metadata), ItemDraft(of: row, itemClass, metadata)))
            }
            return items
        }
        guard !items.isEmpty else { return [] }
        let key: MetadataKey
        do throws(KeychainError) { key = try keys.forWriting(protectionClass, at: clock.wallClock) } catch {
            if error.status == .interactionNotAllowed { return [] }
            throw error
        }
        var pairs: [RenewedPair] = []
        for (item, outcome) in zip(items, try renewed(items, under: key)) {
            guard case .row(var stored) = outcome else { continue }
            stored.row.rowid = item.candidate.row.rowid
            pairs.append((item.candidate.row, stored))
        }
        return pairs
    }

    private typealias RenewedPair = (before: SealedRow, after: RowToStore)

    /// - Returns: how many were changed meanwhile, and are left as they are now.
    private func write(_ prepared: [RenewedPair], _ itemClass: ItemClass) throws(KeychainError) -> Int {
        guard !prepared.isEmpty else { return 0 }
        return try store.write { transaction throws(KeychainError) in
            var overtaken = 0
            for (before, after) in prepared {
                let present = try transaction.reader.row(before.rowid, in: itemClass)
                if present == before { try transaction.renew(after, in: itemClass) } else { overtaken += 1 }
            }
            return overtaken
        }
    }

    // MARK: What is over

    /// Deletes what was sealed for as long as a passcode was set that is set no more.
    func purgeEffaced(_ described: EnclaveDescription) throws(KeychainError) {
        let floor = described.effacedBelow
        guard floor > 1 else { return }
        let named = ProtectionClass.whenPasscodeSetThisDeviceOnly
        let isAny = try store.read { reader throws(KeychainError) in
            if try reader.holdsRows(in: named, below: floor) { return true }
            return try reader.metadataKeys(of: named).contains { $0.generation < floor }
        }
        guard isAny else { return }
        _ = try store.write { transaction throws(KeychainError) in try transaction.purge(named, below: floor) }
    }

    /// Forgets class keys and metadata keys that nothing is sealed under any more.
    ///
    /// Only before the first call of an opening: nobody holds one of them then, and
    /// seals another row with it. As long as rows of a database that was set aside may
    /// come back, which are under the keys that they were under, none goes.
    func retireOldKeys(_ described: EnclaveDescription) throws(KeychainError) {
        let mayComeBack = try store.read { reader throws(KeychainError) in
            if try reader.record(.salvaging) != nil { return true }
            return try reader.lacksItems()
        }
        guard !mayComeBack else { return }
        for (protectionClass, generation) in described.generations where generation > 1 {
            let isNeeded = try store.read { reader throws(KeychainError) in
                try reader.holdsRows(in: protectionClass, below: generation)
            }
            guard !isNeeded else { continue }
            try store.write { transaction throws(KeychainError) in
                try transaction.removeMetadataKeys(of: protectionClass, below: generation)
            }
            try enclave.use { enclave throws(KeychainError) in
                try enclave.retire(protectionClass, below: generation)
            }
        }
    }
}

extension ItemDraft {
    /// What a row holds, without its secret.
    init(of row: SealedRow, _ itemClass: ItemClass, _ metadata: ItemMetadata) {
        self.init(
            itemClass: itemClass, uuid: row.uuid, persistref: row.persistref, attributes: metadata.attributes,
            accessControl: metadata.accessControl, extras: AttributeMap(), value: nil, dataCode: metadata.dataCode)
    }
}
