internal import Foundation
internal import GRDB
package import KeychainModel

/// Changes rows; valid inside one piece of ``Store/write(_:)``. Nothing it did
/// is seen by others, or lasts, unless the piece ends without an error.
package struct StoreTransaction {
    let db: Database
    package let reader: StoreReader
    /// What observers will hear of.
    let notes = ChangeNotes()

    init(_ db: Database) {
        self.db = db
        reader = StoreReader(db)
    }

    /// Writes a new row (its `rowid` is ignored) and returns its number.
    ///
    /// - Throws: `errSecDuplicateItem` where the primary key is taken.
    package func insert(_ stored: RowToStore, in itemClass: ItemClass) throws(KeychainError) -> Int64 {
        try translating {
            var statement = try PreparedStatement(db, StatementText.of(itemClass).insert)
            try Self.bind(stored, to: &statement)
            try statement.run()
            let rowid = db.lastInsertedRowID
            try write(lookups: stored.lookups ?? [], of: rowid, in: itemClass)
            notes.add(from: nil, to: stored.standing(in: itemClass), itemClass)
            return rowid
        }
    }

    /// Writes a new row unless its primary key is taken; false then, and nothing
    /// has changed. Spares the search before an insert, which hardly ever finds
    /// anything.
    package func insertIfFree(_ stored: RowToStore, in itemClass: ItemClass) throws(KeychainError) -> Bool {
        try translating {
            var statement = try PreparedStatement(db, StatementText.of(itemClass).insertIfFree)
            try Self.bind(stored, to: &statement)
            try statement.run()
            guard db.changesCount > 0 else { return false }
            try write(lookups: stored.lookups ?? [], of: db.lastInsertedRowID, in: itemClass)
            notes.add(from: nil, to: stored.standing(in: itemClass), itemClass)
            return true
        }
    }

    /// Replaces everything of a row but its number.
    ///
    /// - Throws: `errSecDuplicateItem` where the new primary key is taken.
    package func replace(_ stored: RowToStore, in itemClass: ItemClass) throws(KeychainError) {
        try translating {
            let old = try standing(of: stored.row.rowid, in: itemClass)
            try write(stored, in: itemClass)
            notes.add(from: old, to: stored.standing(in: itemClass), itemClass)
        }
    }

    /// The same item under other keys: nothing that anybody could observe.
    package func renew(_ stored: RowToStore, in itemClass: ItemClass) throws(KeychainError) {
        try translating { try write(stored, in: itemClass) }
    }

    private func write(_ stored: RowToStore, in itemClass: ItemClass) throws {
        var statement = try PreparedStatement(db, StatementText.of(itemClass).replace)
        try Self.bind(stored, to: &statement)
        try statement.bind(stored.row.rowid)
        try statement.run()
        try replaceLookups(of: stored, in: itemClass)
    }

    private func write(lookups: [[UInt8]], of rowid: Int64, in itemClass: ItemClass) throws {
        for lookup in lookups {
            var statement = try PreparedStatement(db, StatementText.of(itemClass).addLookup)
            try statement.bind(lookup)
            try statement.bind(rowid)
            try statement.run()
        }
    }

    private func replaceLookups(of stored: RowToStore, in itemClass: ItemClass) throws {
        guard let lookups = stored.lookups else { return }
        var statement = try PreparedStatement(db, StatementText.of(itemClass).removeLookups)
        try statement.bind(stored.row.rowid)
        try statement.run()
        try write(lookups: lookups, of: stored.row.rowid, in: itemClass)
    }

    /// Replaces everything of a row but its number and what its secret's seal
    /// lies in, which is not read for that (a value may have 64 MiB). The group is
    /// one of those things.
    ///
    /// - Throws: `errSecDuplicateItem` where the new primary key is taken.
    package func replaceMetadata(_ stored: RowToStore, in itemClass: ItemClass) throws(KeychainError) {
        try translating {
            try writeColumns(stored, in: itemClass)
            let standing = stored.standing(in: itemClass)
            notes.add(from: standing, to: standing, itemClass)
        }
    }

    func writeColumns(_ stored: RowToStore, in itemClass: ItemClass) throws {
        var statement = try PreparedStatement(db, StatementText.of(itemClass).replaceMetadata)
        try Self.bind(stored, to: &statement, withSecret: false)
        try statement.bind(stored.row.rowid)
        try statement.run()
        try replaceLookups(of: stored, in: itemClass)
    }

    package func delete(_ rowid: Int64, in itemClass: ItemClass) throws(KeychainError) {
        try translating {
            let old = try standing(of: rowid, in: itemClass)
            var statement = try PreparedStatement(db, StatementText.of(itemClass).delete)
            try statement.bind(rowid)
            try statement.run()
            notes.add(from: old, to: nil, itemClass)
        }
    }

    /// By the columns alone: a locked row has them too.
    private func standing(of rowid: Int64, in itemClass: ItemClass) throws -> ChangeLog.Standing? {
        var statement = try PreparedStatement(db, StatementText.of(itemClass).standing)
        try statement.bind(rowid)
        guard try statement.step() else { return nil }
        return ChangeLog.Standing(group: statement.bytes(0), isTombstone: statement.number(1) != 0)
    }

    /// Why a row was set aside.
    package enum DamageCause: String, Sendable {
        case metadata
        case secret
        case rowKey = "row key"
        case metadataKey = "metadata key"
    }

    /// Moves a row, byte for byte, to the table `damaged`; true where it was
    /// still there. Nothing of it is thrown away (`latchkey doctor --salvage`).
    @discardableResult
    package func setAside(
        _ rowid: Int64, in itemClass: ItemClass, cause: DamageCause, at moment: Double
    ) throws(KeychainError) -> Bool {
        let blind = StoreSchema.blindAttributes(of: itemClass).map {
            "'\($0.code)', hex(\(StoreSchema.column($0.code)))"
        }.joined(separator: ", ")
        // SQLite calls an index malformed that lacks the entry which it is to take away.
        let lacking = try reader.indexesWithout(rowid, of: itemClass)
        return try translating {
            for index in lacking {
                // Where another row has its place by now the index stays as it is.
                do { try db.execute(sql: "REINDEX \(index)") } catch let error as DatabaseError
                    where error.resultCode == .SQLITE_CONSTRAINT {}
            }
            try db.execute(
                sql: """
                    INSERT INTO damaged (class, cause, moved, rowid_was, uuid, persistref, fmt, gen, pdmn, sync, tomb, \
                    pkey, blind, metadata, wrapped_key, secret) SELECT ?, ?, ?, rowid, uuid, persistref, fmt, gen, \
                    pdmn, sync, tomb, pkey, json_object(\(blind)), metadata, wrapped_key, secret \
                    FROM \(itemClass.rawValue) WHERE rowid = ?
                    """,
                arguments: [itemClass.rawValue, cause.rawValue, moment, rowid])
            let moved = db.changesCount > 0
            if let old = try standing(of: rowid, in: itemClass)?.visible {
                notes.add(.setAside, itemClass, group: old.group)
            }
            try db.execute(sql: "DELETE FROM \(itemClass.rawValue) WHERE rowid = ?", arguments: [rowid])
            return moved
        }
    }

    /// Every row whose metadata one metadata key seals, in all tables.
    package func rowids(
        protectedBy protectionClass: ProtectionClass, generation: UInt32
    ) throws(KeychainError) -> [(ItemClass, Int64)] {
        var found: [(ItemClass, Int64)] = []
        for itemClass in ItemClass.stored {
            let rowids = try translating {
                try Int64.fetchAll(
                    db, sql: "SELECT rowid FROM \(itemClass.rawValue) WHERE pdmn = ? AND max(gen, 1) = ?",
                    arguments: [protectionClass.rawValue, generation])
            }
            found += rowids.map { (itemClass, $0) }
        }
        return found
    }

    package func put(_ record: MetadataKeyRecord, of protectionClass: ProtectionClass) throws(KeychainError) {
        try translating {
            let key = NumberedKey(number: Int64(protectionClass.number), record: record)
            for table in StoreCopies.keyTables { try StoreCopies.put(key, into: table, db) }
        }
    }

    package func put(storeID: [UInt8]) throws(KeychainError) {
        try translating {
            try StoreCopies.put(storeID, as: StoreCopies.identifier, db)
        }
    }

    // MARK: Columns

    /// In the order of ``StoreSchema/columnsToStore(_:)``.
    private static func bind(
        _ stored: RowToStore, to statement: inout PreparedStatement, withSecret: Bool = true
    ) throws {
        let row = stored.row
        try statement.bind(row.uuid)
        try statement.bind(row.persistref)
        try statement.bind(Int64(row.format))
        try statement.bind(Int64(row.generation))
        try statement.bind(row.protection)
        try statement.bind(row.isSynchronizable ? 1 : 0)
        try statement.bind(row.isTombstone ? 1 : 0)
        try statement.bind(stored.primaryKey)
        try statement.bind(row.metadata)
        if withSecret {
            try statement.bind(row.wrappedKey)
            try statement.bind(row.secret)
        }
        for value in stored.blind { try statement.bind(value) }
        if stored.hasPairColumn { try statement.bind(stored.pair) }
    }
}
