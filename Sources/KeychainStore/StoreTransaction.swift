internal import Foundation
internal import GRDB
package import KeychainModel

/// Changes rows; valid inside one piece of ``Store/write(_:)``. Nothing it did
/// is seen by others, or lasts, unless the piece ends without an error.
package struct StoreTransaction {
    let db: Database
    package let reader: StoreReader

    init(_ db: Database) {
        self.db = db
        reader = StoreReader(db)
    }

    /// Writes a new row (its `rowid` is ignored) and returns its number.
    ///
    /// - Throws: `errSecDuplicateItem` where the primary key is taken.
    package func insert(_ stored: RowToStore, in itemClass: ItemClass) throws(KeychainError) -> Int64 {
        let columns = Self.columns(itemClass)
        let places = Array(repeating: "?", count: columns.count).joined(separator: ", ")
        return try translating {
            let statement = try db.cachedStatement(
                sql: "INSERT INTO \(itemClass.rawValue) (\(columns.joined(separator: ", "))) VALUES (\(places))")
            try statement.execute(arguments: StatementArguments(Self.values(stored)))
            return db.lastInsertedRowID
        }
    }

    /// Replaces everything of a row but its number.
    ///
    /// - Throws: `errSecDuplicateItem` where the new primary key is taken.
    package func replace(_ stored: RowToStore, in itemClass: ItemClass) throws(KeychainError) {
        let settings = Self.columns(itemClass).map { "\($0) = ?" }.joined(separator: ", ")
        try translating {
            let statement = try db.cachedStatement(
                sql: "UPDATE \(itemClass.rawValue) SET \(settings) WHERE rowid = ?")
            try statement.execute(
                arguments: StatementArguments(Self.values(stored) + [stored.row.rowid.databaseValue]))
        }
    }

    package func delete(_ rowid: Int64, in itemClass: ItemClass) throws(KeychainError) {
        try translating {
            try db.cachedStatement(sql: "DELETE FROM \(itemClass.rawValue) WHERE rowid = ?")
                .execute(arguments: [rowid])
        }
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
        return try translating {
            try db.execute(
                sql: """
                    INSERT INTO damaged (class, cause, moved, rowid_was, uuid, persistref, fmt, gen, pdmn, sync, tomb, \
                    pkey, blind, metadata, wrapped_key, secret) SELECT ?, ?, ?, rowid, uuid, persistref, fmt, gen, \
                    pdmn, sync, tomb, pkey, json_object(\(blind)), metadata, wrapped_key, secret \
                    FROM \(itemClass.rawValue) WHERE rowid = ?
                    """,
                arguments: [itemClass.rawValue, cause.rawValue, moment, rowid])
            let moved = db.changesCount > 0
            try db.execute(sql: "DELETE FROM \(itemClass.rawValue) WHERE rowid = ?", arguments: [rowid])
            return moved
        }
    }

    /// Every row of a class key's items, in all tables.
    package func rowids(protectedBy protectionClass: ProtectionClass) throws(KeychainError) -> [(ItemClass, Int64)] {
        var found: [(ItemClass, Int64)] = []
        for itemClass in ItemClass.stored {
            let rowids = try translating {
                try Int64.fetchAll(
                    db, sql: "SELECT rowid FROM \(itemClass.rawValue) WHERE pdmn = ?",
                    arguments: [protectionClass.rawValue])
            }
            found += rowids.map { (itemClass, $0) }
        }
        return found
    }

    package func put(_ record: MetadataKeyRecord, of protectionClass: ProtectionClass) throws(KeychainError) {
        try translating {
            try db.execute(
                sql: "INSERT OR REPLACE INTO metadata_keys (class, gen, wrapped, \"check\") VALUES (?, ?, ?, ?)",
                arguments: [
                    Int(protectionClass.number), record.generation, Data(record.wrapped), Data(record.check),
                ])
        }
    }

    package func put(storeID: [UInt8]) throws(KeychainError) {
        try translating {
            try db.execute(sql: "INSERT INTO store (name, value) VALUES ('id', ?)", arguments: [Data(storeID)])
        }
    }

    // MARK: Columns

    private static func columns(_ itemClass: ItemClass) -> [String] {
        let blind = StoreSchema.blindAttributes(of: itemClass).map { StoreSchema.column($0.code) }
        let pair = StoreSchema.pair(of: itemClass) == nil ? [] : ["b_pair"]
        return ["uuid", "persistref", "fmt", "gen", "pdmn", "sync", "tomb", "pkey", "metadata", "wrapped_key", "secret"]
            + blind + pair
    }

    private static func values(_ stored: RowToStore) -> [DatabaseValue] {
        let row = stored.row
        let fixed: [DatabaseValue] = [
            Data(row.uuid).databaseValue, Data(row.persistref).databaseValue, row.format.databaseValue,
            Int(row.generation).databaseValue, row.protection.databaseValue, (row.isSynchronizable ? 1 : 0).databaseValue,
            (row.isTombstone ? 1 : 0).databaseValue, Data(stored.primaryKey).databaseValue,
            Data(row.metadata).databaseValue, value(row.wrappedKey), value(row.secret),
        ]
        return fixed + stored.blind.map(value) + (stored.hasPairColumn ? [value(stored.pair)] : [])
    }

    private static func value(_ bytes: [UInt8]?) -> DatabaseValue { bytes.map { Data($0).databaseValue } ?? .null }
}
