import CSQLite
import Foundation
import KeychainPlatform

/// The floor of the database: SQLite by its C functions on a copy of the very
/// store that is measured, so with the same columns, indexes, rows and sizes.
@safe final class StoreFloor {
    private let db: OpaquePointer?
    private let selection: SQLStatement
    private let listing: SQLStatement
    private let insertion: SQLStatement
    private let line: SQLStatement
    private let template: StoreFloorRow
    private let keys: [[UInt8]]
    private let lastRow: Int64

    /// Bytes of the sealed metadata, row key and secret of a row.
    let sizes: (metadata: Int, rowKey: Int, secret: Int)

    /// - Parameter sample: how many primary keys to look for in turn.
    init(path: String, sample: Int) throws {
        var opened: OpaquePointer?
        guard unsafe sqlite3_open(path, &opened) == SQLITE_OK else { throw BenchFailure("sqlite3_open") }
        unsafe db = opened
        for pragma in ["journal_mode = WAL", "synchronous = FULL", "cache_size = -8192", "secure_delete = ON"] {
            guard unsafe sqlite3_exec(opened, "PRAGMA \(pragma)", nil, nil, nil) == SQLITE_OK else {
                throw BenchFailure(pragma)
            }
        }
        let columns = "rowid, uuid, persistref, fmt, gen, pdmn, sync, tomb, metadata, wrapped_key, secret"
        selection = try unsafe SQLStatement(opened, "SELECT \(columns) FROM genp WHERE pkey = ?")
        listing = try unsafe SQLStatement(opened, "SELECT \(columns) FROM genp WHERE b_svce = ?")
        template = try unsafe StoreFloorRow(opened)
        insertion = try unsafe SQLStatement(opened, template.insertion)
        line = try unsafe SQLStatement(
            opened, "INSERT INTO changes (class, agrp, kind, items) VALUES ('genp', zeroblob(16), 1, 1)")
        sizes = template.sizes
        lastRow = try unsafe SQLStatement(opened, "SELECT max(rowid) FROM genp").integer()
        keys = try unsafe Self.keys(opened, lastRow, sample)
    }

    deinit {
        for statement in [selection, listing, insertion, line] { statement.end() }
        unsafe sqlite3_close_v2(db)
    }

    private static func keys(_ db: OpaquePointer?, _ lastRow: Int64, _ sample: Int) throws -> [[UInt8]] {
        let statement = try unsafe SQLStatement(db, "SELECT pkey FROM genp WHERE rowid = ?")
        defer { statement.end() }
        return try (0..<sample).compactMap { index in
            statement.bind(integer: Int64(index) &* 7919 % lastRow + 1, at: 1)
            defer { statement.reset() }
            return try statement.step() ? statement.blob(0) : nil
        }
    }

    /// The row of one primary key, each cell copied out.
    func select(_ index: Int) throws {
        selection.bind(blob: keys[index % keys.count], at: 1)
        guard try selection.step() else { throw BenchFailure("select") }
        selection.readRow()
        selection.reset()
    }

    /// Every row of one service, in the order of the rows; returns how many.
    func list() throws -> Int {
        listing.bind(blob: template.service, at: 1)
        defer { listing.reset() }
        var count = 0
        while try listing.step() {
            listing.readRow()
            count += 1
        }
        return count
    }

    /// One row in a commit of its own.
    func insert() throws {
        template.bindFresh(to: insertion)
        _ = try insertion.step()
        insertion.reset()
    }

    /// How many blind values a row has.
    var blindCount: Int { template.blindCount }

    /// One row and its line in the log of changes, in a commit of their own.
    func insertWithLine() throws {
        try execute("BEGIN IMMEDIATE")
        try insert()
        _ = try line.step()
        line.reset()
        try execute("COMMIT")
    }

    /// Many rows, some in each commit.
    func insert(_ count: Int, inCommitsOf size: Int) throws {
        for start in stride(from: 0, to: count, by: size) {
            try execute("BEGIN IMMEDIATE")
            for _ in start..<min(start + size, count) { try insert() }
            try execute("COMMIT")
        }
    }

    private func execute(_ statement: String) throws {
        guard unsafe sqlite3_exec(db, statement, nil, nil, nil) == SQLITE_OK else { throw BenchFailure(statement) }
    }

    /// Takes away what was inserted.
    func tidy() throws {
        guard unsafe sqlite3_exec(db, "DELETE FROM genp WHERE rowid > \(lastRow)", nil, nil, nil) == SQLITE_OK else {
            throw BenchFailure("tidying the floor")
        }
        unsafe sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", nil, nil, nil)
    }
}
