internal import GRDB
package import KeychainModel

// Rows under older generations of their class key.

extension StoreReader {
    /// Rows whose generation is below the newest of their class, with their secrets,
    /// in the order of their numbers, from the one after `rowid`: as many as are asked
    /// for, and none after so many bytes of sealed values.
    package func rows(
        of itemClass: ItemClass, in protectionClass: ProtectionClass, below generation: UInt32, after rowid: Int64,
        atMost limit: Int, _ mostBytes: Int
    ) throws(KeychainError) -> [SealedRow] {
        try translating {
            var statement = try PreparedStatement(
                db,
                "\(StatementText.of(itemClass).selectWithSecrets) WHERE rowid > ? AND pdmn = ? AND gen < ? "
                    + "ORDER BY rowid LIMIT \(limit)")
            try statement.bind(rowid)
            try statement.bind(protectionClass.rawValue)
            try statement.bind(Int64(generation))
            var found: [SealedRow] = []
            var bytes = 0
            while bytes < mostBytes, try statement.step() {
                let row = Self.decode(statement, true)
                bytes += row.secret?.count ?? 0
                found.append(row)
            }
            return found
        }
    }

    /// Whether anything at all, damaged rows included, is of a class and below a
    /// generation.
    package func holdsRows(
        in protectionClass: ProtectionClass, below generation: UInt32
    ) throws(KeychainError) -> Bool {
        try translating {
            for table in ItemClass.stored.map(\.rawValue) + ["damaged"] {
                let row = try Row.fetchOne(
                    db, sql: "SELECT 1 FROM \(table) WHERE pdmn = ? AND gen < ? LIMIT 1",
                    arguments: [protectionClass.rawValue, generation])
                if row != nil { return true }
            }
            return false
        }
    }

    /// How many items, tombstones left out, are of a class.
    package func count(in protectionClass: ProtectionClass) throws(KeychainError) -> Int {
        try translating { try Self.count(in: protectionClass, db) }
    }

    static func count(in protectionClass: ProtectionClass, _ db: Database) throws -> Int {
        try ItemClass.stored.reduce(0) { sum, itemClass in
            let sql = "SELECT count(*) FROM \(itemClass.rawValue) WHERE pdmn = ? AND tomb = 0"
            return try sum + (Int.fetchOne(db, sql: sql, arguments: [protectionClass.rawValue]) ?? 0)
        }
    }
}

extension StoreTransaction {
    /// Deletes what nobody can open any more: every row of a class below a
    /// generation, damaged ones included, and the metadata keys that sealed them.
    ///
    /// - Returns: how many items went.
    package func purge(_ protectionClass: ProtectionClass, below generation: UInt32) throws(KeychainError) -> Int {
        var count = 0
        for itemClass in ItemClass.stored {
            let rowids = try translating {
                try Int64.fetchAll(
                    db, sql: "SELECT rowid FROM \(itemClass.rawValue) WHERE pdmn = ? AND max(gen, 1) < ?",
                    arguments: [protectionClass.rawValue, generation])
            }
            for rowid in rowids { try delete(rowid, in: itemClass) }
            count += rowids.count
        }
        try translating {
            try db.execute(
                sql: "DELETE FROM damaged WHERE pdmn = ? AND max(gen, 1) < ?",
                arguments: [protectionClass.rawValue, generation])
        }
        try removeMetadataKeys(of: protectionClass, below: generation)
        return count
    }
}
