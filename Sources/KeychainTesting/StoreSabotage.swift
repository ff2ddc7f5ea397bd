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
        let found = try engine.store.read { reader throws(KeychainError) in try reader.rowid(of: reference) }
        guard let rowid = found else { throw KeychainError(.itemNotFound, reason: .nothingMatches) }
        for column: Store.SealedColumn in [.metadata, .secret] {
            try engine.store.insecureFlipByte(table: reference.itemClass, rowid: rowid, column: column)
        }
    }

    /// The metadata key of a class; what the engine had of it in memory is
    /// forgotten, as by a restart.
    package func insecureCorruptMetadataKey(of protectionClass: ProtectionClass) throws(KeychainError) {
        try engine.store.insecureFlipMetadataKey(of: protectionClass)
        engine.insecureForgetMetadataKeys()
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
