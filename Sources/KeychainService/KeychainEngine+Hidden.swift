internal import KeychainModel
internal import KeychainPlatform
internal import KeychainStore
internal import Synchronization

// Rows that are whole, and to which a changed bit in a column or an index leads nobody.

extension KeychainEngine {
    /// Where a search found nothing: whether something else leads to what it names
    /// (``OtherWays``). The columns of such a row, and the indexes that lack it, are written anew, and the
    /// search is to be made again; a row that does not open is set aside, which is told instead of
    /// "not found". Of rows whose class is locked nothing is concluded.
    ///
    /// - Throws: why nothing could be written: the item is there, and nobody is told otherwise.
    func leadsAgain(to authorized: AuthorizedQuery) throws(KeychainError) -> Bool {
        guard let ways = OtherWays(authorized, blind: blind) else { return false }
        let (hidden, damage) = try store.read { reader throws(KeychainError) in
            try search(by: ways, authorized, reader)
        }
        try settle(damage)
        guard !hidden.isEmpty else { return false }
        for candidate in hidden {
            do throws(KeychainError) { try lead(to: candidate, authorized.itemClass) } catch {
                // Another row has its place by now.
                guard error.status == .duplicateItem else { throw error }
                return false
            }
        }
        return true
    }

    private func search(
        by ways: OtherWays, _ authorized: AuthorizedQuery, _ reader: StoreReader
    ) throws(KeychainError) -> (hidden: [Candidate], damage: [DamageReport]) {
        var hidden: [Candidate] = []
        var damage: [DamageReport] = []
        for row in try reader.rows(by: ways) {
            let outcome: OpenedRow
            do throws(KeychainError) { outcome = try opener.open(row, authorized.itemClass, reader) } catch {
                // Of another group's row, which has nothing to do with what was asked for.
                guard error.reason == .storeMismatch else { throw error }
                continue
            }
            switch outcome {
            case .locked, .effaced: continue
            case .damaged(let cause):
                damage.append(DamageReport(itemClass: authorized.itemClass, row: row, cause: cause))
            case .item(let metadata):
                if authorized.meansAlso(row, metadata) { hidden.append(Candidate(row, metadata)) }
            }
        }
        return (hidden, damage)
    }

    /// Writes what leads to a row anew where it is not what the opened attributes say.
    ///
    /// - Returns: false where all of it was right.
    /// - Throws: `errSecItemNotFound`, reason `mayBeSetAside`, where an index is to be made anew that is
    ///   too large for that beside other calls.
    @discardableResult
    func lead(to candidate: Candidate, _ itemClass: ItemClass) throws(KeychainError) -> Bool {
        var right = maker.withColumns(of: candidate.row, candidate.metadata, itemClass)
        let isWrong = try store.read { reader throws(KeychainError) in
            guard var present = try reader.columns(of: candidate.row.rowid, in: itemClass),
                present.row.metadata == candidate.row.metadata
            else { return false }
            if StoreSchema.hasLookups(itemClass) {
                present.lookups = try reader.lookups(of: candidate.row.rowid, in: itemClass)
                // What is right stays.
                if Set(present.lookups ?? []) == Set(right.lookups ?? []) { right.lookups = nil }
            }
            let lacking = try reader.indexesWithout(candidate.row.rowid, of: itemClass)
            if lacking.isEmpty { return !maker.columns(of: present, agreeWith: candidate.metadata, itemClass) }
            guard try reader.mostRows() <= Self.mostRowsOfAnIndex else { throw Self.hidden }
            return true
        }
        guard isWrong else { return false }
        try brake.refuseIfOn()
        let stored = right
        let isLed = try store.write { transaction throws(KeychainError) in
            guard try transaction.reader.row(stored.row.rowid, in: itemClass)?.metadata == stored.row.metadata else {
                return false
            }
            try transaction.lead(to: stored, in: itemClass)
            return true
        }
        if isLed { tellOfMended() }
        return isLed
    }

    /// An index of more rows takes more than a second to make, while others' changes wait.
    static let mostRowsOfAnIndex: Int64 = 200_000

    private static let hidden = KeychainError(.itemNotFound, reason: .mayBeSetAside)

    func tellOfMended() {
        mendedHears.withLock { $0 }?(
            "bytes of the database had changed since they were written (the disk, or memory): an item was whole, and "
                + "no search led to it; what leads to it was written again")
    }

    /// Who hears, for a log, that a row was led to again; the text names no item.
    package func tellMended(_ hear: @escaping @Sendable (String) -> Void) { mendedHears.withLock { $0 = hear } }
}

extension AuthorizedQuery {
    /// Whether an opened row is what was asked for, whatever its blind columns say.
    fileprivate func meansAlso(_ row: SealedRow, _ metadata: ItemMetadata) -> Bool {
        guard !row.isTombstone, accepts(metadata) else { return false }
        if query.excludesLookups, !metadata.attributes.encodedLookup.isEmpty { return false }
        switch query.synchronizable {
        case .any: return true
        case .only(let on): return row.isSynchronizable == on
        case .unspecified: return !row.isSynchronizable
        case .noSuch: return false
        }
    }
}
