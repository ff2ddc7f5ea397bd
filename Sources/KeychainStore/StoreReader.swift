internal import Foundation
internal import GRDB
package import KeychainModel

/// Reads rows on one connection; valid inside ``Store/read(_:)`` or a transaction.
package struct StoreReader {
    let db: Database

    init(_ db: Database) { self.db = db }

    /// Runs `body` in a transaction, which takes its locks with the first statement and is over
    /// whatever comes of it.
    func atOneMoment<R>(_ body: (StoreReader) throws(KeychainError) -> R) throws(KeychainError) -> R {
        try run("BEGIN")
        let result: Result<R, KeychainError>
        do throws(KeychainError) { result = .success(try body(self)) } catch { result = .failure(error) }
        // SQLite itself ends it for some faults.
        if db.isInsideTransaction {
            do throws(KeychainError) { try run("COMMIT") } catch {
                if db.isInsideTransaction { try run("ROLLBACK") }
                throw error
            }
        }
        return try result.get()
    }

    private func run(_ sql: String) throws(KeychainError) {
        try translating {
            let statement = try PreparedStatement(db, sql)
            try statement.run()
        }
    }

    /// Visits the selected rows in rowid order until `body` returns false.
    package func forEach(
        _ selection: Selection, withSecrets: Bool, _ body: (SealedRow) throws(KeychainError) -> Bool
    ) throws(KeychainError) {
        if selection.isImpossible { return }
        try translating {
            var statement = try PreparedStatement(db, selection.sql)
            guard let arguments = try arguments(of: selection) else { return }
            for argument in arguments { try statement.bind(argument) }
            while try statement.step() {
                guard try body(Self.decode(statement, withSecrets)) else { break }
            }
        }
    }

    /// With the rarest of the lookup attributes first: what many items have tells little
    /// (a schema), and rows of the first are all looked at. nil where one of them is of no item.
    private func arguments(of selection: Selection) throws -> [SelectionArgument]? {
        var arguments = selection.arguments
        guard selection.lookups.count > 1, let first = selection.lookups.first else { return arguments }
        for most in [Int64(16), 256, 4096] {
            for index in selection.lookups {
                let count = try items(with: arguments[index], in: selection.itemClass, upTo: most + 1)
                if count == 0 { return nil }
                guard count <= most else { continue }
                arguments.swapAt(first, index)
                return arguments
            }
        }
        return arguments
    }

    /// How many have a lookup attribute; counted no further than that.
    private func items(
        with lookup: SelectionArgument, in itemClass: ItemClass, upTo most: Int64
    ) throws -> Int64 {
        var statement = try PreparedStatement(db, StatementText.of(itemClass).countOfLookup)
        try statement.bind(lookup)
        try statement.bind(most)
        return try statement.step() ? statement.number(0) ?? 0 : 0
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
        try one("pkey = ?", .blob(key), itemClass)
    }

    package func row(_ rowid: Int64, in itemClass: ItemClass) throws(KeychainError) -> SealedRow? {
        try one("rowid = ?", .number(rowid), itemClass)
    }

    private func one(
        _ condition: String, _ argument: SelectionArgument, _ itemClass: ItemClass
    ) throws(KeychainError) -> SealedRow? {
        try translating {
            var statement = try PreparedStatement(
                db, "\(StatementText.of(itemClass).selectWithSecrets) WHERE \(condition)")
            try statement.bind(argument)
            return try statement.step() ? Self.decode(statement, true) : nil
        }
    }

    static func decode(_ row: borrowing some Cells & ~Copyable, _ withSecrets: Bool) -> SealedRow {
        let (sync, tomb) = (row.number(6), row.number(7))
        let areFlags = (sync == 0 || sync == 1) && (tomb == 0 || tomb == 1)
        return SealedRow(
            rowid: row.number(0) ?? 0, uuid: row.bytes(1) ?? [], persistref: row.bytes(2) ?? [],
            format: areFlags ? row.number(3).flatMap { Int(exactly: $0) } ?? -1 : -1,
            generation: row.number(4).flatMap { UInt32(exactly: $0) } ?? .max, protection: row.text(5) ?? "",
            isSynchronizable: sync == 1, isTombstone: tomb == 1, metadata: row.bytes(8) ?? [],
            wrappedKey: withSecrets ? row.bytes(9) : nil, secret: withSecrets ? row.bytes(10) : nil)
    }

    /// What the database says is its store's id: 16 bytes; two where its two copies differ, one
    /// of which is damaged; none in a database whose first opening did not finish.
    ///
    /// - Throws: `storeUnreadable` where it is there and no id in either copy.
    package func storeIDs() throws(KeychainError) -> [[UInt8]] {
        let found = try records(named: StoreCopies.identifier)
        let ids = found.filter { $0.count == 16 }
        guard found.isEmpty || !ids.isEmpty else {
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "the store's id")
        }
        return ids
    }

    /// The metadata keys of a class, newest first; of one whose two copies differ both.
    ///
    /// For a database of the present format.
    package func metadataKeys(of protectionClass: ProtectionClass) throws(KeychainError) -> [MetadataKeyRecord] {
        try translating {
            // Each by itself: a union of both would be sorted first. All of the few rows are looked at,
            // since a damaged number puts a page out of order, and a search passes others over.
            var records: [MetadataKeyRecord] = []
            for table in StoreCopies.keyTables {
                let statement = try db.cachedStatement(
                    sql: "SELECT gen, wrapped, \"check\" FROM \(table) WHERE +class = ?")
                for row in try Row.fetchAll(statement, arguments: [Int(protectionClass.number)]) {
                    let record = MetadataKeyRecord(row)
                    if !records.contains(record) { records.append(record) }
                }
            }
            return records.sorted { $0.generation > $1.generation }
        }
    }

    /// One record, or what its two copies say where these differ; none: the class has no key of
    /// that generation.
    package func metadataKeys(
        of protectionClass: ProtectionClass, generation: UInt32
    ) throws(KeychainError) -> [MetadataKeyRecord] {
        try metadataKeys(of: protectionClass).filter { $0.generation == generation }
    }

    /// Whether a class has a key of a later generation.
    package func hasMetadataKey(
        of protectionClass: ProtectionClass, above generation: UInt32
    ) throws(KeychainError) -> Bool {
        try metadataKeys(of: protectionClass).contains { $0.generation > generation }
    }

    /// Whether any class has a metadata key: a store that was written to and has
    /// none has lost more than a row.
    package func hasMetadataKeys() throws(KeychainError) -> Bool {
        try translating { try Int.fetchOne(db, sql: "SELECT count(*) FROM \(StoreCopies.bothKeys)") ?? 0 } > 0
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
                db, sql: "EXPLAIN QUERY PLAN " + selection.sql,
                arguments: StatementArguments(selection.arguments.map(\.databaseValue))
            ).map { $0["detail"] as String? ?? "" }
        }
    }
}
