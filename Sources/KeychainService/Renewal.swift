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
    /// The item under `key`, the newest of its class.
    ///
    /// The row key is wrapped anew within the enclave, so that no constraint has to
    /// be met and no value is opened; only a row of format 1, whose value is bound to
    /// the old generation, is opened and sealed as a whole.
    ///
    /// - Parameter draft: the item without its secret.
    func renewed(
        _ candidate: Candidate, _ draft: ItemDraft, under key: MetadataKey
    ) throws(KeychainError) -> RenewedRow {
        var row = candidate.row
        guard row.metadataGeneration != key.generation, row.secret != nil else {
            if row.secret == nil { row.generation = key.generation }
            return .row(maker.resealMetadata(of: row, sealID: candidate.metadata.sealID, draft, under: key))
        }
        if row.format == 1 { return try reopened(candidate, draft, under: key) }
        let rows = [(binding: Self.binding(candidate), wrapped: Self.wrapped(row))]
        let outcome = try enclave.use { enclave throws(KeychainError) in try enclave.rewrapRowKeys(rows) }
        switch outcome.first {
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
    package func renewRows(unless isCancelled: () -> Bool = { false }) throws(KeychainError) {
        let described = try enclave.use { enclave throws(KeychainError) in try enclave.describe() }
        for (protectionClass, generation) in described.generations.sorted(by: { $0.key.number < $1.key.number })
        where generation > 1 && described.state.openClasses.contains(protectionClass) {
            for itemClass in ItemClass.stored {
                var last: Int64 = 0
                while !isCancelled(), !isClosing.load(ordering: .acquiring) {
                    // Counted as a call: what it holds is let go of before a lock is acknowledged.
                    let next = try calls.during { () throws(KeychainError) in
                        try renew(itemClass, protectionClass, below: generation, after: last)
                    }
                    guard let next else { break }
                    last = next
                }
            }
        }
    }

    /// - Returns: the last row that was looked at; nil where there is none any more.
    private func renew(
        _ itemClass: ItemClass, _ protectionClass: ProtectionClass, below generation: UInt32, after rowid: Int64
    ) throws(KeychainError) -> Int64? {
        let rows = try store.read { reader throws(KeychainError) in
            try reader.rows(
                of: itemClass, in: protectionClass, below: generation, after: rowid,
                atMost: Self.renewedTogether.rows)
        }
        guard !rows.isEmpty else { return nil }
        var prepared: [(before: SealedRow, after: RowToStore)] = []
        var bytes = 0
        var last = rowid
        for row in rows where bytes < Self.renewedTogether.bytes {
            last = row.rowid
            bytes += row.secret?.count ?? 0
            guard let after = try renewed(row, itemClass, protectionClass) else { continue }
            prepared.append((row, after))
        }
        try write(prepared, itemClass)
        return last
    }

    private func renewed(
        _ row: SealedRow, _ itemClass: ItemClass, _ protectionClass: ProtectionClass
    ) throws(KeychainError) -> RowToStore? {
        let opened = try store.read { reader throws(KeychainError) in try opener.open(row, itemClass, reader) }
        guard case .item(let metadata) = opened else { return nil }
        let draft = ItemDraft(
            itemClass: itemClass, uuid: row.uuid, persistref: row.persistref, attributes: metadata.attributes,
            accessControl: metadata.accessControl, extras: AttributeMap(), value: nil, dataCode: metadata.dataCode)
        let key: MetadataKey
        do throws(KeychainError) { key = try keys.forWriting(protectionClass, at: clock.wallClock) } catch {
            if error.status == .interactionNotAllowed { return nil }
            throw error
        }
        guard case .row(var stored) = try renewed((row, metadata), draft, under: key) else { return nil }
        stored.row.rowid = row.rowid
        return stored
    }

    private func write(
        _ prepared: [(before: SealedRow, after: RowToStore)], _ itemClass: ItemClass
    ) throws(KeychainError) {
        guard !prepared.isEmpty else { return }
        try store.write { transaction throws(KeychainError) in
            for (before, after) in prepared {
                // Changed meanwhile: then it is under the newest key already, or comes again.
                guard try transaction.reader.row(before.rowid, in: itemClass) == before else { continue }
                try transaction.renew(after, in: itemClass)
            }
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
    /// seals another row with it.
    func retireOldKeys(_ described: EnclaveDescription) throws(KeychainError) {
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
