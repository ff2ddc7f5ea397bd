internal import Foundation
internal import GRDB
package import KeychainModel

/// Damage on purpose, for KeychainTesting and the daemon of the tests.
extension Store {
    /// What of a row is sealed.
    package enum SealedColumn: String, Sendable {
        case metadata
        case secret
    }

    /// Changes the last byte of a seal, where there is one.
    ///
    /// - Warning: The row no longer opens; only tests want that.
    package func insecureFlipByte(table: ItemClass, rowid: Int64, column: SealedColumn) throws(KeychainError) {
        try write { transaction throws(KeychainError) in
            try transaction.insecureFlip(column.rawValue, of: table.rawValue, where: "rowid", is: rowid)
        }
    }

    /// Changes the last byte of a wrapped metadata key, where there is one.
    ///
    /// - Warning: No row of the class opens any more; only tests want that.
    package func insecureFlipMetadataKey(of protectionClass: ProtectionClass) throws(KeychainError) {
        try write { transaction throws(KeychainError) in
            try transaction.insecureFlip(
                "wrapped", of: "metadata_keys", where: "class", is: Int64(protectionClass.number))
        }
    }
}

extension StoreTransaction {
    /// - Warning: What was sealed in the column no longer opens.
    func insecureFlip(
        _ column: String, of table: String, where key: String, is value: Int64
    ) throws(KeychainError) {
        try translating {
            guard var bytes = try Data.fetchOne(
                db, sql: "SELECT \(column) FROM \(table) WHERE \(key) = ?", arguments: [value]),
                let last = bytes.indices.last
            else { return }
            bytes[last] ^= 0xFF
            try db.execute(
                sql: "UPDATE \(table) SET \(column) = ? WHERE \(key) = ?", arguments: [bytes, value])
        }
    }
}

extension StoreReader {
    /// The number of the row that a persistent reference points to.
    package func rowid(of reference: PersistentReference) throws(KeychainError) -> Int64? {
        guard case .identifier(let identifier) = reference.target else { return nil }
        return try translating {
            try Int64.fetchOne(
                db, sql: "SELECT rowid FROM \(reference.itemClass.rawValue) WHERE persistref = ?",
                arguments: [Data(identifier)])
        }
    }
}
