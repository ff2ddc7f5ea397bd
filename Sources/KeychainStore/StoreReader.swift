internal import Foundation
internal import GRDB
package import KeychainModel

/// Reads rows on one connection; valid inside ``Store/read(_:)`` or a transaction.
package struct StoreReader {
    private let db: Database

    init(_ db: Database) { self.db = db }

    /// Visits the selected rows in rowid order until `body` returns false.
    package func forEach(
        _ selection: Selection, withSecrets: Bool, _ body: (SealedRow) throws(KeychainError) -> Bool
    ) throws(KeychainError) {
        if selection.isImpossible { return }
        try translating {
            let statement = try db.cachedStatement(sql: selection.sql)
            let rows = try Row.fetchCursor(statement, arguments: StatementArguments(selection.arguments))
            while let row = try rows.next() {
                guard try body(Self.decode(row, withSecrets)) else { break }
            }
        }
    }

    package func rows(_ selection: Selection, withSecrets: Bool) throws(KeychainError) -> [SealedRow] {
        var found: [SealedRow] = []
        try forEach(selection, withSecrets: withSecrets) { row in
            found.append(row)
            return true
        }
        return found
    }

    /// The row that has a primary key, with its secret.
    package func row(withPrimaryKey key: [UInt8], in itemClass: ItemClass) throws(KeychainError) -> SealedRow? {
        try one("pkey = ?", Data(key).databaseValue, itemClass)
    }

    package func row(_ rowid: Int64, in itemClass: ItemClass) throws(KeychainError) -> SealedRow? {
        try one("rowid = ?", rowid.databaseValue, itemClass)
    }

    private func one(
        _ condition: String, _ argument: DatabaseValue, _ itemClass: ItemClass
    ) throws(KeychainError) -> SealedRow? {
        try translating {
            let statement = try db.cachedStatement(
                sql: """
                    SELECT \(StoreSchema.rowColumns), \(StoreSchema.secretColumns) FROM \(itemClass.rawValue) \
                    WHERE \(condition)
                    """)
            return try Row.fetchOne(statement, arguments: [argument]).map { Self.decode($0, true) }
        }
    }

    private static func decode(_ row: Row, _ withSecrets: Bool) -> SealedRow {
        func bytes(_ index: Int) -> [UInt8]? { (row[index] as Data?).map { Array($0) } }
        return SealedRow(
            rowid: row[0], uuid: bytes(1) ?? [], persistref: bytes(2) ?? [], format: row[3] as Int? ?? 0,
            generation: row[4] as UInt32? ?? 0, protection: row[5] as String? ?? "",
            isSynchronizable: (row[6] as Int? ?? 0) != 0, isTombstone: (row[7] as Int? ?? 0) != 0,
            metadata: bytes(8) ?? [], wrappedKey: withSecrets ? bytes(9) : nil, secret: withSecrets ? bytes(10) : nil)
    }

    /// 16 bytes, or nil in a database whose first opening did not finish.
    package func storeID() throws(KeychainError) -> [UInt8]? {
        try translating {
            try Data.fetchOne(db, sql: "SELECT value FROM store WHERE name = 'id'").map { Array($0) }
        }
    }

    package func metadataKey(of protectionClass: ProtectionClass) throws(KeychainError) -> MetadataKeyRecord? {
        try translating {
            let row = try Row.fetchOne(
                db, sql: "SELECT gen, wrapped, \"check\" FROM metadata_keys WHERE class = ?",
                arguments: [Int(protectionClass.number)])
            return row.map { row in
                MetadataKeyRecord(
                    generation: row[0] as UInt32? ?? 0, wrapped: Array(row[1] as Data? ?? Data()),
                    check: Array(row[2] as Data? ?? Data()))
            }
        }
    }

    /// How many rows, tombstones left out, lie in any of the groups.
    package func count(
        of itemClass: ItemClass, in reach: AuthorizedQuery.Reach, blind: BlindIndex
    ) throws(KeychainError) -> Int {
        var condition = "tomb = 0"
        var arguments: [DatabaseValue] = []
        if case .only(let groups) = reach, let attribute = Schema.of(itemClass)[.accessGroup] {
            arguments = groups.compactMap { blind.blind(.string($0.name), of: attribute, in: itemClass) }
                .map { Data($0).databaseValue }
            condition += " AND b_agrp IN (\(Array(repeating: "?", count: arguments.count).joined(separator: ",")))"
        }
        let sql = "SELECT count(*) FROM \(itemClass.rawValue) WHERE \(condition)"
        return try translating { try Int.fetchOne(db, sql: sql, arguments: StatementArguments(arguments)) ?? 0 }
    }

    package func damagedCount() throws(KeychainError) -> Int {
        try translating { try Int.fetchOne(db, sql: "SELECT count(*) FROM damaged") ?? 0 }
    }

    /// The query plan of a selection, a line a step, for the tests of plans.
    package func plan(of selection: Selection) throws(KeychainError) -> [String] {
        try translating {
            try Row.fetchAll(
                db, sql: "EXPLAIN QUERY PLAN " + selection.sql, arguments: StatementArguments(selection.arguments)
            ).map { $0["detail"] as String? ?? "" }
        }
    }
}
