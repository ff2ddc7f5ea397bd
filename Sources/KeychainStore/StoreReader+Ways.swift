internal import GRDB
package import KeychainModel

extension StoreReader {
    /// Rows to which something else leads than a search did (``OtherWays``), without their secrets;
    /// each once. Few at the most.
    package func rows(by ways: OtherWays) throws(KeychainError) -> [SealedRow] {
        try translating {
            var found: [SealedRow] = []
            func take(_ statement: borrowing PreparedStatement) throws {
                while try statement.step() {
                    let row = Self.decode(statement, false)
                    if !found.contains(where: { $0.rowid == row.rowid }) { found.append(row) }
                }
            }
            for key in ways.primaryKeys {
                var statement = try PreparedStatement(db, StatementText.of(ways.itemClass).selectByPrimaryKey)
                try statement.bind(key)
                try take(statement)
            }
            if let pair = ways.pair {
                var statement = try PreparedStatement(db, StatementText.of(ways.itemClass).selectByAccount)
                try statement.bind(pair.second)
                try statement.bind(OtherWays.mostOfAccount)
                try statement.bind(pair.first)
                try take(statement)
            }
            return found
        }
    }

    /// The indexes whose entry of a row is not what its columns say.
    package func indexesWithout(_ rowid: Int64, of itemClass: ItemClass) throws(KeychainError) -> [String] {
        try translating {
            try StatementText.of(itemClass).entries.filter { _, text in
                var statement = try PreparedStatement(db, text)
                try statement.bind(rowid)
                return try statement.step() && statement.number(0) == 0
            }.map { $0.index }
        }
    }

    /// Rows of a table, tombstones too, in rowid order from behind `rowid`, with all columns but the
    /// sealed secret, which is not read.
    package func walkColumns(
        _ itemClass: ItemClass, after rowid: Int64, atMost limit: Int
    ) throws(KeychainError) -> [RowToStore] {
        try translating {
            var statement = try PreparedStatement(db, StatementText.of(itemClass).walkColumns)
            try statement.bind(rowid)
            try statement.bind(Int64(limit))
            var found: [RowToStore] = []
            while try statement.step() { found.append(Self.decodeColumns(statement, itemClass)) }
            return found
        }
    }

    /// One row of that.
    package func columns(of rowid: Int64, in itemClass: ItemClass) throws(KeychainError) -> RowToStore? {
        guard rowid > .min, let row = try walkColumns(itemClass, after: rowid - 1, atMost: 1).first else { return nil }
        return row.row.rowid == rowid ? row : nil
    }

    private static func decodeColumns(
        _ statement: borrowing PreparedStatement, _ itemClass: ItemClass
    ) -> RowToStore {
        let hasPair = StoreSchema.pair(of: itemClass) != nil
        let first: Int32 = hasPair ? 11 : 10
        let blind = StoreSchema.blindAttributes(of: itemClass).indices.map { statement.bytes(first + Int32($0)) }
        return RowToStore(
            row: decode(statement, false), primaryKey: statement.bytes(9) ?? [],
            pair: hasPair ? statement.bytes(10) : nil, hasPairColumn: hasPair, blind: blind, lookups: nil)
    }

    /// The row that has a primary key and that the index of these does not lead to, by the index of
    /// service (or server) and account; nil where there is none, and of classes without a pair.
    ///
    /// Where there is none it is one search in an index, in which an insert writes next.
    package func rowBesideItsIndex(like stored: RowToStore, in itemClass: ItemClass) throws(KeychainError) -> Int64? {
        guard let pair = stored.pair, StoreSchema.pair(of: itemClass) != nil else { return nil }
        let found = try translating {
            var statement = try PreparedStatement(db, StatementText.of(itemClass).selectByPairAndKey)
            try statement.bind(pair)
            try statement.bind(stored.primaryKey)
            return try statement.step() ? statement.number(0) : nil
        }
        guard let found, try row(withPrimaryKey: stored.primaryKey, in: itemClass) == nil else { return nil }
        return found
    }

    /// How many rows all tables have at the most, by their highest numbers.
    package func mostRows() throws(KeychainError) -> Int64 {
        try translating {
            try ItemClass.stored.reduce(0) { sum, itemClass in
                let statement = try PreparedStatement(db, "SELECT max(rowid) FROM \(itemClass.rawValue)")
                return sum + (try statement.step() ? max(0, statement.number(0) ?? 0) : 0)
            }
        }
    }
}

extension StoreTransaction {
    /// Makes the indexes anew in which a row's entry is wrong.
    ///
    /// - Returns: whether there were any.
    /// - Throws: `errSecDuplicateItem` where two rows have one place.
    package func openWays(to rowid: Int64, in itemClass: ItemClass) throws(KeychainError) -> Bool {
        let lacking = try reader.indexesWithout(rowid, of: itemClass)
        try translating { for index in lacking { try db.execute(sql: "REINDEX \(index)") } }
        return !lacking.isEmpty
    }

    /// Leads to a row again: its columns but the sealed ones are written anew, and so are the
    /// indexes in which its entry was wrong, which SQLite would call malformed at the next change of
    /// the row. Nothing that anybody could observe: the item was there all along.
    ///
    /// - Parameter stored: as the opened attributes say.
    /// - Throws: `errSecDuplicateItem` where another row has its place.
    package func lead(to stored: RowToStore, in itemClass: ItemClass) throws(KeychainError) {
        _ = try openWays(to: stored.row.rowid, in: itemClass)
        try translating { try writeColumns(stored, in: itemClass) }
    }
}
