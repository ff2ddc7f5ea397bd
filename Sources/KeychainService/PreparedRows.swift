internal import KeychainModel
internal import KeychainStore

/// What a row with new seals came to.
enum Replacement: Sendable {
    case row(RowToStore)
    /// Its secret does not open.
    case damaged(StoreTransaction.DamageCause)
    case gone
}

/// Rows of one change whose secrets were opened and sealed anew before the shared
/// writer was taken: nobody's write waits there for the enclave or for the sealing
/// of a large value.
///
/// Each holds for the row as it was read. Within the transaction every row is
/// looked up again; one that has changed meanwhile, and what is beyond the bounds
/// here, is opened and sealed there.
struct PreparedRows: Sendable {
    private struct Entry: Sendable {
        let row: SealedRow
        let key: MetadataKey
        let outcome: Result<Replacement, KeychainError>
    }

    private var entries: [Int64: Entry] = [:]

    /// Rows, and bytes of their sealed values, that are prepared.
    static let mostRows = 256
    static let mostBytes = 8 << 20

    private(set) var byteCount = 0
    var isFull: Bool { entries.count >= Self.mostRows || byteCount >= Self.mostBytes }

    mutating func note(
        _ outcome: Result<Replacement, KeychainError>, for row: SealedRow, under key: MetadataKey
    ) {
        entries[row.rowid] = Entry(row: row, key: key, outcome: outcome)
        if case .success(.row(let stored)) = outcome { byteCount += stored.row.secret?.count ?? 0 }
    }

    /// nil where the row, or the key that its metadata is sealed under, is another now.
    func outcome(for row: SealedRow, under key: MetadataKey) -> Result<Replacement, KeychainError>? {
        guard let entry = entries[row.rowid], entry.row == row, entry.key === key else { return nil }
        return entry.outcome
    }
}

extension KeychainEngine {
    /// - Throws: where the enclave cannot be asked: the change ends before it has
    ///   taken the writer.
    func prepare(_ revision: Revision, _ authorized: AuthorizedQuery) throws(KeychainError) -> PreparedRows {
        var prepared = PreparedRows()
        guard revision.mayNeedNewSecret(in: authorized.itemClass) else { return prepared }
        try store.read { reader throws(KeychainError) in
            let selection = Selection(authorized, blind: blind, withSecrets: false)
            for row in try reader.rows(selection, withSecrets: false) where !prepared.isFull {
                try prepare(row, revision, authorized, reader, &prepared)
            }
        }
        return prepared
    }

    /// Leaves out whatever the transaction has to meet by itself: damage, locked
    /// classes, constraints.
    private func prepare(
        _ row: SealedRow, _ revision: Revision, _ authorized: AuthorizedQuery, _ reader: StoreReader,
        _ prepared: inout PreparedRows
    ) throws(KeychainError) {
        guard case .item(let metadata) = try opener.open(row, authorized.itemClass, reader),
            authorized.accepts(metadata)
        else { return }
        let candidate = Candidate(row, metadata)
        do throws(KeychainError) {
            let plan = try revision.plan(for: candidate, authorized.itemClass)
            let key = try keys.forWritingNow(try protectionClass(of: plan.draft), reader)
            guard plan.needsNewSecret || row.metadataGeneration != key.generation else { return }
            let outcome: Result<Replacement, KeychainError>
            do throws(KeychainError) {
                outcome = .success(try revision.replacement(of: candidate, by: plan, under: key, reader))
            } catch {
                if error.isOfEnclave { throw error }
                outcome = .failure(error)
            }
            prepared.note(outcome, for: row, under: key)
        } catch {
            // Anything else the transaction meets again, at its own place.
            if error.isOfEnclave { throw error }
        }
    }
}

extension KeychainError {
    /// The enclave could not be asked, whatever for.
    var isOfEnclave: Bool { reason == .enclaveSilent || reason == .enclaveUnreachable }
}
