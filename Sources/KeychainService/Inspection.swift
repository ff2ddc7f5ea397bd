internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore
internal import Synchronization

/// Opens every row of the store, both seals, and holds its columns against what
/// it says: rows of all groups, a batch at a time, nothing locked in between.
struct Inspection {
    /// What is done with a row that is not as it should be.
    enum Remedy {
        /// Counted and left alone.
        case none
        /// Columns are written anew from the sealed attributes.
        case mendColumns
        /// The same, and a row that does not open is moved to `damaged`.
        case setAside
    }

    private let engine: KeychainEngine
    private let remedy: Remedy
    private(set) var counts = InspectionCounts()

    init(_ engine: KeychainEngine, _ remedy: Remedy) {
        self.engine = engine
        self.remedy = remedy
    }

    mutating func run() throws(KeychainError) {
        for itemClass in ItemClass.stored {
            var last: Int64 = .min
            while true {
                let after = last
                let rows = try engine.store.read { reader throws(KeychainError) in
                    try Self.walk(itemClass, after: after, reader)
                }
                guard let end = rows.last else { break }
                if engine.isClosing.load(ordering: .acquiring) { throw KeychainError(.notAvailable, reason: .busy) }
                last = end.row.rowid
                try look(at: rows, itemClass)
            }
            try lookForStrays(itemClass)
        }
    }

    /// A batch, each row with what it is found by.
    private static func walk(
        _ itemClass: ItemClass, after rowid: Int64, _ reader: StoreReader
    ) throws(KeychainError) -> [RowToStore] {
        var rows = try reader.walk(itemClass, after: rowid, atMost: WalkStep())
        guard StoreSchema.hasLookups(itemClass) else { return rows }
        for index in rows.indices { rows[index].lookups = try reader.lookups(of: rows[index].row.rowid, in: itemClass) }
        return rows
    }

    /// Lookup attributes of no item: a new one that gets the number would be found by them.
    private mutating func lookForStrays(_ itemClass: ItemClass) throws(KeychainError) {
        guard StoreSchema.hasLookups(itemClass) else { return }
        let strays = try engine.store.read { reader throws(KeychainError) in try reader.strayLookups(in: itemClass) }
        guard strays > 0 else { return }
        if case .none = remedy {
            counts.mismatched += strays
            return
        }
        try engine.store.write { transaction throws(KeychainError) in
            try transaction.removeStrayLookups(in: itemClass)
        }
        counts.mended += strays
    }

    private mutating func look(at rows: [RowToStore], _ itemClass: ItemClass) throws(KeychainError) {
        counts.rows += rows.count
        var opened: [(RowToStore, ItemMetadata)] = []
        var broken: [(RowToStore, StoreTransaction.DamageCause)] = []
        for stored in rows {
            let outcome = try engine.store.read { reader throws(KeychainError) in
                try engine.opener.open(stored.row, itemClass, reader)
            }
            switch outcome {
            case .item(let metadata): opened.append((stored, metadata))
            case .locked: counts.locked += 1
            // On its way out of the store.
            case .effaced: counts.rows -= 1
            case .damaged(let cause): broken.append((stored, cause))
            }
        }
        let secrets = try engine.openSecrets(opened.map { Candidate($0.0.row, $0.1) }, itemClass)
        var mismatched: [(RowToStore, ItemMetadata)] = []
        for ((stored, metadata), secret) in zip(opened, secrets) {
            switch secret {
            case .damaged(let cause): broken.append((stored, cause))
            case .locked, .needsAuthentication, .wrongApplicationPassword: counts.locked += 1
            case .effaced: counts.rows -= 1
            case .payload:
                if try isMismatched(stored, metadata, itemClass) {
                    mismatched.append((stored, metadata))
                } else {
                    counts.sound += 1
                }
            }
        }
        try remedy(broken, itemClass)
        try mend(mismatched, itemClass)
    }

    /// Whether its columns say something else than its seal. Row and lookups were read one
    /// after the other: what was written between them is looked at again.
    private func isMismatched(
        _ stored: RowToStore, _ metadata: ItemMetadata, _ itemClass: ItemClass
    ) throws(KeychainError) -> Bool {
        guard !engine.maker.columns(of: stored, agreeWith: metadata, itemClass) else { return false }
        guard StoreSchema.hasLookups(itemClass) else { return true }
        var again = stored
        let isThere = try engine.store.read { reader throws(KeychainError) in
            again.lookups = try reader.lookups(of: stored.row.rowid, in: itemClass)
            // Each seal is another one: what is as it was before the lookups was so all along.
            return try reader.row(stored.row.rowid, in: itemClass)?.metadata == stored.row.metadata
        }
        return isThere && !engine.maker.columns(of: again, agreeWith: metadata, itemClass)
    }

    private mutating func remedy(
        _ broken: [(RowToStore, StoreTransaction.DamageCause)], _ itemClass: ItemClass
    ) throws(KeychainError) {
        guard case .setAside = remedy, !broken.isEmpty else {
            counts.unopened += broken.count
            return
        }
        let moment = engine.clock.wallClock
        counts.moved += try engine.store.write { transaction throws(KeychainError) in
            var count = 0
            for (stored, cause) in broken {
                // Only what is still as it was looked at.
                guard let present = try transaction.reader.row(stored.row.rowid, in: itemClass),
                    present.metadata == stored.row.metadata, present.secret == stored.row.secret
                else { continue }
                if try transaction.setAside(present.rowid, in: itemClass, cause: cause, at: moment) { count += 1 }
            }
            return count
        }
    }

    private mutating func mend(
        _ mismatched: [(RowToStore, ItemMetadata)], _ itemClass: ItemClass
    ) throws(KeychainError) {
        if case .none = remedy {
            counts.mismatched += mismatched.count
            return
        }
        for (stored, metadata) in mismatched {
            var mended = engine.maker.withColumns(of: stored.row, metadata, itemClass)
            mended.row.rowid = stored.row.rowid
            let row = mended
            do throws(KeychainError) {
                let isMended = try engine.store.write { transaction throws(KeychainError) in
                    guard let present = try transaction.reader.row(row.row.rowid, in: itemClass),
                        present.metadata == row.row.metadata
                    else { return false }
                    try transaction.replace(row, in: itemClass)
                    return true
                }
                if isMended { counts.mended += 1 } else { counts.sound += 1 }
            } catch {
                // Another row has its place.
                guard error.status == .duplicateItem else { throw error }
                counts.mismatched += 1
            }
        }
    }
}

extension RowMaker {
    /// The row with its columns made from what its metadata says.
    func withColumns(of row: SealedRow, _ metadata: ItemMetadata, _ itemClass: ItemClass) -> RowToStore {
        store(row, metadata.attributes, itemClass)
    }

    /// Whether the blind columns, and what it is found by, are those of the opened attributes.
    func columns(of stored: RowToStore, agreeWith metadata: ItemMetadata, _ itemClass: ItemClass) -> Bool {
        let right = withColumns(of: stored.row, metadata, itemClass)
        return stored.primaryKey == right.primaryKey && stored.pair == right.pair && stored.blind == right.blind
            && Set(stored.lookups ?? []) == Set(right.lookups ?? [])
    }
}
