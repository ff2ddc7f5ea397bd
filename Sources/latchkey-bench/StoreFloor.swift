import CSQLite
import KeychainCrypto
import KeychainModel
import KeychainPlatform
import KeychainStore

/// The floors below the engine: SQLite by its C functions on a table with the
/// same columns and indexes, and AES-GCM by itself.
@safe final class StoreFloor {
    private var db: OpaquePointer?
    private let rows: Int
    private let columns: Int

    init(path: String, rows: Int) throws {
        self.rows = rows
        columns = StoreSchema.blindAttributes(of: .genericPassword).count
        guard unsafe sqlite3_open(path, &db) == SQLITE_OK else { throw BenchFailure("sqlite3_open") }
        for pragma in ["journal_mode = WAL", "synchronous = FULL", "cache_size = -8192", "secure_delete = ON"] {
            try run("PRAGMA \(pragma)")
        }
        for statement in StoreSchema.statements { try run(statement) }
        try run("BEGIN")
        for index in 0..<rows { try insert(index) }
        try run("COMMIT")
    }

    deinit { unsafe sqlite3_close_v2(db) }

    private func run(_ sql: String) throws {
        guard unsafe sqlite3_exec(db, sql, nil, nil, nil) == SQLITE_OK else { throw BenchFailure(sql) }
    }

    private func blob(_ seed: Int, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        for index in 0..<min(8, count) { bytes[index] = UInt8(truncatingIfNeeded: seed >> (8 * index)) }
        for index in 8..<max(8, count) { bytes[index] = UInt8(truncatingIfNeeded: seed &* 31 &+ index) }
        return bytes
    }

    private lazy var insertion: OpaquePointer? = {
        let blind = StoreSchema.blindAttributes(of: .genericPassword).map { StoreSchema.column($0.code) }
        let names = ["uuid", "persistref", "fmt", "gen", "pdmn", "sync", "tomb", "pkey", "metadata", "wrapped_key", "secret",
                     "b_pair"] + blind
        let places = Array(repeating: "?", count: names.count).joined(separator: ",")
        var statement: OpaquePointer?
        unsafe sqlite3_prepare_v2(db, "INSERT INTO genp (\(names.joined(separator: ","))) VALUES (\(places))", -1, &statement, nil)
        return unsafe statement
    }()

    /// The same bytes as a row of ours: seven blind values are set on a plain item.
    private func insert(_ seed: Int) throws {
        let statement = unsafe insertion
        let sizes = [16, 16, 0, 0, 2, 0, 0, 16, 260, 60, 45, 16]
        for (index, size) in sizes.enumerated() {
            let place = Int32(index + 1)
            if size == 0 {
                unsafe sqlite3_bind_int(statement, place, 1)
            } else {
                unsafe bind(blob(seed &* 16 &+ index, size), statement, place)
            }
        }
        for column in 0..<7 { unsafe bind(blob(seed &* 32 &+ column, 16), statement, Int32(sizes.count + 1 + column)) }
        guard unsafe sqlite3_step(statement) == SQLITE_DONE else { throw BenchFailure("insert") }
        unsafe sqlite3_reset(statement)
    }

    private func bind(_ bytes: [UInt8], _ statement: OpaquePointer?, _ place: Int32) {
        // SQLITE_TRANSIENT: SQLite copies the bytes.
        let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        unsafe sqlite3_bind_blob(statement, place, bytes, Int32(bytes.count), transient)
    }

    func measureInsert(count: Int) throws -> Measurement {
        var next = rows
        return try Measurement.take("raw insert, WAL, FULL", count: count) { _ in
            next += 1
            try insert(next)
        }
    }

    func measureSelect(count: Int) throws -> Measurement {
        var statement: OpaquePointer?
        unsafe sqlite3_prepare_v2(
            db, "SELECT rowid, uuid, persistref, metadata, wrapped_key, secret FROM genp WHERE pkey = ?", -1, &statement, nil)
        defer { unsafe sqlite3_finalize(statement) }
        return try Measurement.take("raw prepared select", count: count) { index in
            unsafe bind(blob((index &* 7919 % rows) &* 16 &+ 7, 16), statement, 1)
            guard unsafe sqlite3_step(statement) == SQLITE_ROW else { throw BenchFailure("select") }
            for column in 1..<6 as Range<Int32> {
                let count = unsafe Int(sqlite3_column_bytes(statement, column))
                _ = unsafe Array(UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count))
            }
            unsafe sqlite3_reset(statement)
        }
    }

    static func measureOpen(count: Int) throws -> Measurement {
        let key = SealingKey.random()
        var bound = AssociatedData("benchmark")
        bound.append(Random.bytes(100))
        let box = key.seal(Random.bytes(260), bound: bound)
        return try Measurement.take("AES-256-GCM open, 260 B", count: count) { _ in
            _ = try key.openArray(box, bound: bound)
        }
    }
}

struct BenchFailure: Error, CustomStringConvertible {
    let description: String
    init(_ what: String) { description = "benchmark: \(what) failed" }
}
