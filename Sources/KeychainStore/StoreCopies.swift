internal import Foundation
internal import GRDB
package import KeychainModel

/// A record of `metadata_keys` with the class that it is of.
package struct NumberedKey: Sendable, Hashable {
    /// Of the protection class, whatever stands there.
    package let number: Int64
    package let record: MetadataKeyRecord

    package init(number: Int64, record: MetadataKeyRecord) {
        self.number = number
        self.record = record
    }
}

/// What must not be lost with one page: the records of `store` (its id, to which every seal is
/// bound) and the metadata keys (without which no row of a class opens). Each stands in two tables,
/// so in two pages, written and removed in the same transactions (FORMATS.md, "Second copies").
///
/// A second copy is evidence of nothing: it is believed where the first is, by its seal under the
/// class key and its check value, or by the keybag's store id. Whoever can write an older record
/// into it could have written it into the first; a key that was retired or effaced opens in
/// neither, because its class key is gone.
package enum StoreCopies {
    static let recordTables = ["store", StoreSchema.storeCopy]
    static let keyTables = ["metadata_keys", StoreSchema.keysCopy]
    /// Records that are the same in both are one.
    static let bothKeys =
        "(SELECT class, gen, wrapped, \"check\" FROM metadata_keys UNION "
        + "SELECT class, gen, wrapped, \"check\" FROM \(StoreSchema.keysCopy))"
    /// The record of the store's id.
    static let identifier = "id"

    static func put(_ bytes: [UInt8], as name: String, _ db: Database) throws {
        for table in recordTables { try put(bytes, as: name, into: table, db) }
    }

    static func put(_ bytes: [UInt8], as name: String, into table: String, _ db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO \(table) (name, value) VALUES (?, ?)", arguments: [name, Data(bytes)])
    }

    static func put(_ key: NumberedKey, into table: String, _ db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO \(table) (class, gen, wrapped, \"check\") VALUES (?, ?, ?, ?)",
            arguments: [
                key.number, key.record.generation, Data(key.record.wrapped), Data(key.record.check),
            ])
    }

    /// Says in the header of the file of which format it is and, from format 7 on, in both copies of the records.
    static func tell(_ format: Int, _ db: Database) throws {
        try db.execute(sql: "PRAGMA user_version = \(format)")
        guard format >= StoreSchema.firstToldFormat else { return }
        try put(StoreRecord.bytes(of: Double(format)), as: StoreRecord.format.rawValue, db)
    }

    /// What the records say of the format, in each copy that says it.
    static func toldFormats(_ db: Database) throws -> [Int] {
        var found: [Int] = []
        for table in recordTables where try db.tableExists(table) {
            let sql = "SELECT value FROM \(table) WHERE name = ?"
            let bytes = try Data.fetchOne(db, sql: sql, arguments: [StoreRecord.format.rawValue])
            if let format = bytes.flatMap({ format(in: Array($0)) }) { found.append(format) }
        }
        return found
    }

    static func format(in bytes: [UInt8]) -> Int? { StoreRecord.number(in: bytes).flatMap { Int(exactly: $0) } }
}

extension StoreReader {
    /// What a record's copies say, without repetition, the first copy first; none: it is in neither.
    func records(named name: String) throws(KeychainError) -> [[UInt8]] {
        try translating {
            var found: [[UInt8]] = []
            // Before format 7 there is one.
            for table in StoreCopies.recordTables where try table == "store" || db.tableExists(table) {
                let row = try Row.fetchOne(db, sql: "SELECT value FROM \(table) WHERE name = ?", arguments: [name])
                guard let row else { continue }
                let bytes = Array(Data.fromDatabaseValue(row[0]) ?? Data())
                if !found.contains(bytes) { found.append(bytes) }
            }
            return found
        }
    }

    /// Every metadata key, by copy.
    package func copiesOfKeys() throws(KeychainError) -> (first: [NumberedKey], second: [NumberedKey]) {
        try (keys(in: StoreCopies.keyTables[0]), keys(in: StoreCopies.keyTables[1]))
    }

    private func keys(in table: String) throws(KeychainError) -> [NumberedKey] {
        try translating {
            // By the rows as they lie, not as they should: the order of a damaged page is none.
            try Row.fetchAll(db, sql: "SELECT gen, wrapped, \"check\", class FROM \(table)").map {
                NumberedKey(number: Int64.fromDatabaseValue($0[3]) ?? 0, record: MetadataKeyRecord($0))
            }
        }
    }

    fileprivate func records(in table: String) throws(KeychainError) -> [String: [UInt8]] {
        try translating {
            let rows = try Row.fetchAll(db, sql: "SELECT name, value FROM \(table)")
            return Dictionary(
                rows.map { (String.fromDatabaseValue($0[0]) ?? "", Array(Data.fromDatabaseValue($0[1]) ?? Data())) },
                uniquingKeysWith: { first, _ in first })
        }
    }

    /// What every record should be, and in how many places either copy says something else; nil
    /// where both say it.
    ///
    /// - Parameters:
    ///   - storeID: the keybag's, to which the seals are bound.
    ///   - witnessed: the history that is known from elsewhere.
    fileprivate func mendedRecords(
        storeID: [UInt8], witnessed: [UInt8]?
    ) throws(KeychainError) -> (records: [String: [UInt8]], changed: Int)? {
        let copies = try StoreCopies.recordTables.map { table throws(KeychainError) in try records(in: table) }
        var right: [String: [UInt8]] = [StoreCopies.identifier: storeID]
        for record in StoreRecord.allCases {
            let found = copies.compactMap { $0[record.rawValue] }.filter(record.canBe)
            right[record.rawValue] =
                switch record {
                case .format: StoreRecord.bytes(of: Double(StoreSchema.format))
                case .history: found.first { $0 == witnessed } ?? found.first
                // Of names a wrong one is found to lead nowhere.
                case .predecessor, .salvaging, .incomplete: found.isEmpty ? nil : StoreRecord.union(of: found)
                // What nobody has seen is not accepted.
                case .accepted:
                    found.compactMap { StoreRecord.number(in: $0) }.min().map { StoreRecord.bytes(of: $0) }
                case .brake, .behind: found.first
                }
        }
        let names = copies.reduce(Set(right.keys)) { $0.union($1.keys) }
        let isLost = right[StoreRecord.history.rawValue] == nil
        let changed = names.count { name in copies.contains { $0[name] != right[name] } } + (isLost ? 1 : 0)
        return changed == 0 ? nil : (right, changed)
    }
}

extension StoreRecord {
    /// Every name of several lists, once.
    fileprivate static func union(of lists: [[UInt8]]) -> [UInt8] {
        var names: [String] = []
        for name in lists.flatMap({ Self.names(in: $0) }) where !names.contains(name) { names.append(name) }
        return bytes(of: names)
    }

    /// Whether bytes can be what the record holds.
    func canBe(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .brake, .accepted, .behind, .format: StoreRecord.number(in: bytes).map(\.isFinite) ?? false
        case .predecessor, .salvaging, .incomplete:
            StoreRecord.names(in: bytes).allSatisfy { $0.hasPrefix(StoreSetAside.prefix) }
        case .history: bytes.count == ChangePosition.historySize
        }
    }
}

extension Store {
    /// Writes the records of `store` again that stand in one copy only, or are damaged in one.
    ///
    /// - Parameter storeID: the keybag's.
    /// - Returns: how many.
    package func mendRecords(storeID: [UInt8]) throws(KeychainError) -> Int {
        let witnessed = witnessedHistory
        let isAny = try read { reader throws(KeychainError) in
            try reader.mendedRecords(storeID: storeID, witnessed: witnessed) != nil
        }
        guard isAny else { return 0 }
        return try write { transaction throws(KeychainError) in
            guard let mended = try transaction.reader.mendedRecords(storeID: storeID, witnessed: witnessed) else {
                return 0
            }
            try transaction.replaceRecords(with: mended.records)
            // Positions of the one that is lost are answered with "unknown".
            if mended.records[StoreRecord.history.rawValue] == nil { try transaction.beginNewHistory() }
            return mended.changed
        }
    }
}

extension StoreTransaction {
    fileprivate func replaceRecords(with records: [String: [UInt8]]) throws(KeychainError) {
        try translating {
            for table in StoreCopies.recordTables {
                // As a whole: what is searched for in a damaged page may not be found.
                try db.execute(sql: "DELETE FROM \(table)")
                for (name, bytes) in records { try StoreCopies.put(bytes, as: name, into: table, db) }
            }
        }
    }

    /// Keeps, byte for byte, what leaves both copies (`damaged_keys`).
    package func keepDamaged(_ keys: [NumberedKey], at moment: Double) throws(KeychainError) {
        try translating {
            for key in keys {
                try db.execute(
                    sql: "INSERT INTO damaged_keys (class, moved, gen, wrapped, \"check\") VALUES (?, ?, ?, ?, ?)",
                    arguments: [
                        key.number, moment, key.record.generation, Data(key.record.wrapped), Data(key.record.check),
                    ])
            }
        }
    }

    /// Makes both copies of the metadata keys anew.
    package func replaceKeys(first: [NumberedKey], second: [NumberedKey]) throws(KeychainError) {
        try translating {
            for (table, keys) in zip(StoreCopies.keyTables, [first, second]) {
                try db.execute(sql: "DELETE FROM \(table)")
                for key in keys { try StoreCopies.put(key, into: table, db) }
            }
        }
    }
}
