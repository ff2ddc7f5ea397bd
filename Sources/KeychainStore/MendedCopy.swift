internal import Foundation
internal import GRDB
internal import KeychainModel
internal import KeychainPlatform

/// A copy of a database whose first bytes are wrong, with those put right that are the same in
/// every database of ours (<https://sqlite.org/fileformat2.html>, section 1.3): SQLite makes nothing
/// of a file for one of them, though every row is whole. The file itself stays as it is; a wrong
/// guess yields rows whose seals do not open.
enum MendedCopy {
    private static let magic = Array("SQLite format 3\0".utf8)
    /// The page size, 4096; the formats for writing and reading (2: with a log); no bytes reserved;
    /// the fractions of a payload.
    private static let constants: [UInt8] = [0x10, 0, 2, 2, 0, 64, 32, 32]
    /// Where the kind of the first page of the schema stands: a leaf of a table, or one with
    /// pages below it (section 1.6).
    private static let kindOffset = 100
    private static let kinds: [UInt8] = [0x0D, 0x05]

    /// Opens such a copy, which has no name any more then; nil where SQLite makes nothing of it
    /// either, or there is no room for it.
    static func open(_ name: String, in directory: PrivateDirectory) -> DatabaseQueue? {
        // A file that is being made has such a name (``PrivateDirectory/replace(_:with:mode:)``).
        let copy = ".\(name).new"
        defer { remove(copy, in: directory) }
        for kind in kinds {
            remove(copy, in: directory)
            do {
                for companion in ["", "-wal"] where try directory.holds(name + companion) {
                    try FileManager.default.copyItem(
                        atPath: "\(directory.path)/\(name)\(companion)",
                        toPath: "\(directory.path)/\(copy)\(companion)")
                }
                try directory.overwrite(copy, with: magic + constants, at: 0)
                let present = try directory.readPrefix(copy, byteCount: kindOffset + 1) ?? []
                guard present.count > kindOffset else { return nil }
                if !kinds.contains(present[kindOffset]) { try directory.overwrite(copy, with: [kind], at: kindOffset) }
                if let queue = try opened("\(directory.path)/\(copy)") { return queue }
            } catch { continue }
        }
        return nil
    }

    /// nil where there is no table of ours in it.
    private static func opened(_ path: String) throws -> DatabaseQueue? {
        // What the log holds goes in, so that no other file belongs to it.
        let writer = try DatabaseQueue(path: path, configuration: Store.configuration(readOnly: false))
        _ = try writer.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = DELETE") }
        try writer.close()
        let reader = try DatabaseQueue(path: path, configuration: Store.configuration(readOnly: true))
        let isOurs = try reader.unsafeRead { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema WHERE name = 'store'") == 1
        }
        return isOurs ? reader : nil
    }

    private static func remove(_ copy: String, in directory: PrivateDirectory) {
        for companion in ["-journal", "-shm", "-wal", ""] { StoreSetAside.drop(copy + companion, in: directory) }
    }
}
