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

    /// The database file's first pages; the engine must be closed.
    package static func insecureCorruptDatabase(inDataDirectory folder: String) throws {
        for name in [Store.fileName, Store.fileName + "-wal"] {
            let file = URL(fileURLWithPath: folder + "/" + name)
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            var bytes = try Data(contentsOf: file)
            let start = min(bytes.count, 16)
            bytes.replaceSubrange(start..<bytes.count, with: Data(repeating: 0xA5, count: bytes.count - start))
            try bytes.write(to: file)
        }
    }
}
