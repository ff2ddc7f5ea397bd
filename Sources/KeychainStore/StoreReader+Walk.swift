internal import Foundation
internal import GRDB
package import KeychainModel

/// How much of a table is read at a time: few enough rows that nobody waits for
/// them, few enough bytes that large values are not held together.
package struct WalkStep: Sendable {
    package var rows = 256
    package var bytes = 8 << 20

    package init() {}

    func isFull(_ count: Int, _ byteCount: Int) -> Bool { count >= rows || byteCount >= bytes }
}

extension StoreReader {
    /// Rows of a table, tombstones too, in rowid order from behind `rowid`, with
    /// all their columns; none at the table's end.
    package func walk(
        _ itemClass: ItemClass, after rowid: Int64, atMost step: WalkStep
    ) throws(KeychainError) -> [RowToStore] {
        let blind = StoreSchema.blindAttributes(of: itemClass).map { StoreSchema.column($0.code) }
        let hasPair = StoreSchema.pair(of: itemClass) != nil
        let columns = ["pkey"] + (hasPair ? ["b_pair"] : []) + blind
        let sql = """
            SELECT \(StoreSchema.rowColumns), \(StoreSchema.secretColumns), \(columns.joined(separator: ", ")) \
            FROM \(itemClass.rawValue) NOT INDEXED WHERE rowid > ? ORDER BY rowid
            """
        return try translating {
            let rows = try Row.fetchCursor(try db.cachedStatement(sql: sql), arguments: [rowid])
            var found: [RowToStore] = []
            var byteCount = 0
            while !step.isFull(found.count, byteCount), let row = try rows.next() {
                let stored = Self.decodeWhole(row, hasPair: hasPair, blindCount: blind.count)
                byteCount += stored.row.secret?.count ?? 0
                found.append(stored)
            }
            return found
        }
    }

    /// The blind values by which a search finds a row, in no order of meaning.
    package func lookups(of rowid: Int64, in itemClass: ItemClass) throws(KeychainError) -> [[UInt8]] {
        try translating {
            var statement = try PreparedStatement(db, StatementText.of(itemClass).lookups)
            try statement.bind(rowid)
            var found: [[UInt8]] = []
            while try statement.step() { found.append(statement.bytes(0) ?? []) }
            return found
        }
    }

    /// How many numbers of rows searches are led to where no row is.
    package func strayLookups(in itemClass: ItemClass) throws(KeychainError) -> Int {
        try translating {
            let (name, table) = (itemClass.rawValue, StoreSchema.lookupTable(of: itemClass))
            return try Int.fetchOne(
                db, sql: "SELECT count(DISTINCT item) FROM \(table) WHERE item NOT IN (SELECT rowid FROM \(name))") ?? 0
        }
    }

    private static func decodeWhole(_ row: Row, hasPair: Bool, blindCount: Int) -> RowToStore {
        func bytes(_ index: Int) -> [UInt8]? { Data.fromDatabaseValue(row[index]).map { Array($0) } }
        let first = 12 + (hasPair ? 1 : 0)
        return RowToStore(
            row: decode(row, true), primaryKey: bytes(11) ?? [], pair: hasPair ? bytes(12) : nil,
            hasPairColumn: hasPair,
            blind: (first..<first + blindCount).map { bytes($0) }, lookups: nil)
    }

    /// Rows of the table `damaged` that nothing has taken the place of, from
    /// behind `number`.
    package func damaged(after number: Int64, atMost step: WalkStep) throws(KeychainError) -> [DamagedRow] {
        try translating {
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT \(DamagedRow.columns) FROM damaged WHERE number > ? AND cause <> 'superseded' ORDER BY number
                    """, arguments: [number])
            var found: [DamagedRow] = []
            var byteCount = 0
            while !step.isFull(found.count, byteCount), let row = try rows.next() {
                guard let damaged = DamagedRow(row) else { continue }
                byteCount += damaged.row.secret?.count ?? 0
                found.append(damaged)
            }
            return found
        }
    }

    /// Metadata keys that did not open, newest first.
    package func damagedKeys(of protectionClass: ProtectionClass) throws(KeychainError) -> [MetadataKeyRecord] {
        try translating {
            try Row.fetchAll(
                db, sql: "SELECT gen, wrapped, \"check\" FROM damaged_keys WHERE class = ? ORDER BY number DESC",
                arguments: [Int(protectionClass.number)]
            ).map { MetadataKeyRecord($0) }
        }
    }

    /// How many rows lie in `damaged` that no newer item has taken the place of.
    package func openDamage() throws(KeychainError) -> (count: Int, newest: Int64) {
        try translating {
            let row = try Row.fetchOne(
                db, sql: "SELECT count(*), coalesce(max(number), 0) FROM damaged WHERE cause <> 'superseded'")
            return (
                row.flatMap { Int.fromDatabaseValue($0[0]) } ?? 0, row.flatMap { Int64.fromDatabaseValue($0[1]) } ?? 0
            )
        }
    }

    /// Whether damage came after what a person has accepted.
    package func hasOpenDamage() throws(KeychainError) -> Bool {
        let (count, newest) = try openDamage()
        let accepted = try number(.accepted) ?? 0
        return count > 0 && Double(newest) > accepted
    }

    /// All rows of a table: items and tombstones.
    package func totals(of itemClass: ItemClass) throws(KeychainError) -> (items: Int, tombstones: Int) {
        try translating {
            let row = try Row.fetchOne(db, sql: "SELECT count(*), total(tomb <> 0) FROM \(itemClass.rawValue)")
            let all = row.flatMap { Int.fromDatabaseValue($0[0]) } ?? 0
            let tombstones = row.flatMap { Double.fromDatabaseValue($0[1]) }.flatMap { Int(exactly: $0) } ?? 0
            return (all - tombstones, tombstones)
        }
    }

    package func hasPersistentReference(_ bytes: [UInt8], in itemClass: ItemClass) throws(KeychainError) -> Bool {
        try translating {
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM \(itemClass.rawValue) WHERE persistref = ?)",
                arguments: [Data(bytes)]) ?? false
        }
    }

    /// Whether a row of a database that was set aside was taken over before.
    package func wasSalvaged(_ rowid: Int64, of itemClass: ItemClass, from file: String) throws(KeychainError) -> Bool {
        try translating {
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM salvaged WHERE file = ? AND class = ? AND rowid_was = ?)",
                arguments: [file, itemClass.rawValue, rowid]) ?? false
        }
    }

    /// Whether SQLite finds the file as it should be: structure, indexes, order.
    package func isIntact() throws(KeychainError) -> Bool {
        try translating { try String.fetchAll(db, sql: "PRAGMA integrity_check(1)") == ["ok"] }
    }
}

/// One row of the table `damaged`.
package struct DamagedRow: Sendable {
    static let columns =
        "rowid_was, uuid, persistref, fmt, gen, pdmn, sync, tomb, metadata, wrapped_key, secret, number, class"

    package let number: Int64
    package let itemClass: ItemClass
    package let row: SealedRow

    /// nil for a class that no version of ours wrote.
    init?(_ cells: Row) {
        guard let name = String.fromDatabaseValue(cells[12]), let itemClass = ItemClass(rawValue: name),
            ItemClass.stored.contains(itemClass)
        else { return nil }
        number = Int64.fromDatabaseValue(cells[11]) ?? 0
        self.itemClass = itemClass
        row = StoreReader.decode(cells, true)
    }
}

extension MetadataKeyRecord {
    /// Generation, box, check value, whatever stands there.
    init(_ row: Row) {
        self.init(
            generation: Int.fromDatabaseValue(row[0]).flatMap { UInt32(exactly: $0) } ?? 0,
            wrapped: Array(Data.fromDatabaseValue(row[1]) ?? Data()),
            check: Array(Data.fromDatabaseValue(row[2]) ?? Data()))
    }
}

extension StoreTransaction {
    /// A row of `damaged` whose item is in its table again.
    package func removeDamaged(_ number: Int64) throws(KeychainError) {
        try translating { try db.execute(sql: "DELETE FROM damaged WHERE number = ?", arguments: [number]) }
    }

    /// A row of `damaged` that opens while a newer item has its place: kept, and
    /// not tried again, so that deleting the newer one does not bring it back.
    package func supersede(damaged number: Int64) throws(KeychainError) {
        try translating {
            try db.execute(sql: "UPDATE damaged SET cause = 'superseded' WHERE number = ?", arguments: [number])
        }
    }

    /// Takes away by what searches are led to no row.
    package func removeStrayLookups(in itemClass: ItemClass) throws(KeychainError) {
        let (name, table) = (itemClass.rawValue, StoreSchema.lookupTable(of: itemClass))
        try translating {
            try db.execute(sql: "DELETE FROM \(table) WHERE item NOT IN (SELECT rowid FROM \(name))")
        }
    }

    /// The same of every damaged row of a place that an item takes now.
    package func supersedeDamaged(withPrimaryKey key: [UInt8], in itemClass: ItemClass) throws(KeychainError) {
        try translating {
            var statement = try PreparedStatement(
                db, "UPDATE damaged SET cause = 'superseded' WHERE class = ? AND pkey = ?")
            try statement.bind(itemClass.rawValue)
            try statement.bind(key)
            try statement.run()
        }
    }

    /// A row of a database that was set aside is not taken over a second time:
    /// by then its item may have been deleted.
    package func noteSalvaged(_ rowid: Int64, of itemClass: ItemClass, from file: String) throws(KeychainError) {
        try translating {
            try db.execute(
                sql: "INSERT OR IGNORE INTO salvaged (file, class, rowid_was) VALUES (?, ?, ?)",
                arguments: [file, itemClass.rawValue, rowid])
        }
    }
}
