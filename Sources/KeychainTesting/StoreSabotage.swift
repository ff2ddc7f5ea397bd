internal import CSQLite
package import Foundation
package import KeychainModel
package import KeychainService
internal import KeychainStore

/// Damages what an engine stored, as a failing disk would.
///
/// - Warning: What is damaged is lost to the keychain; only tests want that.
package struct StoreSabotage {
    private let engine: KeychainEngine

    package init(_ engine: KeychainEngine) { self.engine = engine }

    /// A byte of the metadata and one of the value of each row.
    package func insecureCorruptItems(_ references: [Data]) throws(KeychainError) {
        for bytes in references {
            guard let reference = PersistentReference(bytes: Array(bytes)) else {
                throw .parameter(.malformed(key: "kSecValuePersistentRef"))
            }
            try insecureCorrupt(reference)
        }
    }

    private func insecureCorrupt(_ reference: PersistentReference) throws(KeychainError) {
        guard case .identifier(let identifier) = reference.target else {
            throw KeychainError(.itemNotFound, reason: .nothingMatches)
        }
        for column in ["metadata", "secret"] {
            try insecureSpoil(
                column, of: reference.itemClass.rawValue, where: "persistref = x'\(Self.hex(identifier))'")
        }
    }

    /// The metadata key of a class, in both its copies; what the engine had of it in memory is
    /// forgotten, as by a restart.
    package func insecureCorruptMetadataKey(of protectionClass: ProtectionClass) throws(KeychainError) {
        for table in ["metadata_keys", "metadata_keys_copy"] {
            try insecureSpoil("wrapped", of: table, where: "class = \(protectionClass.number)")
        }
        engine.forgetMetadataKeys()
    }

    /// Changes the last byte of a column, through a connection of its own: the
    /// programs that we ship hold nothing that could.
    private func insecureSpoil(_ column: String, of table: String, where condition: String) throws(KeychainError) {
        let sql = """
            UPDATE \(table) SET \(column) = CAST(substr(\(column), 1, length(\(column)) - 1) || \
            CASE WHEN substr(\(column), -1) = x'00' THEN x'01' ELSE x'00' END AS BLOB) \
            WHERE \(condition) AND \(column) IS NOT NULL
            """
        var db: OpaquePointer?
        let opened = unsafe sqlite3_open(engine.dataDirectory + "/" + Store.fileName, &db)
        defer { unsafe sqlite3_close(db) }
        unsafe sqlite3_busy_timeout(db, 5000)
        guard opened == SQLITE_OK, unsafe sqlite3_exec(db, sql, nil, nil, nil) == SQLITE_OK else {
            throw KeychainError(.io, reason: .inputOutput, underlying: "SQLite")
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Overwrites the database and its companions where they lie, also under a
    /// running engine, which finds out with its next call.
    package static func insecureCorruptDatabase(inDataDirectory folder: String) throws(KeychainError) {
        for suffix in ["", "-wal", "-shm"] {
            do { try overwrite(folder + "/" + Store.fileName + suffix) } catch {
                throw KeychainError(.io, reason: .inputOutput, underlying: "\(error)")
            }
        }
    }

    private static func overwrite(_ path: String) throws {
        guard let file = FileHandle(forUpdatingAtPath: path) else { return }
        let size = try file.seekToEnd()
        try file.seek(toOffset: 0)
        try file.write(contentsOf: Data(repeating: 0xA5, count: Int(size)))
        try file.close()
    }
}
