import CSQLite

/// A prepared statement, by SQLite's own functions.
@safe struct SQLStatement {
    private let statement: OpaquePointer?

    init(_ db: OpaquePointer?, _ sql: String) throws {
        var prepared: OpaquePointer?
        guard unsafe sqlite3_prepare_v2(db, sql, -1, &prepared, nil) == SQLITE_OK else { throw BenchFailure(sql) }
        unsafe statement = prepared
    }

    func end() { _ = unsafe sqlite3_finalize(statement) }
    func reset() { _ = unsafe sqlite3_reset(statement) }

    /// Whether there is a (further) row.
    func step() throws -> Bool {
        switch unsafe sqlite3_step(statement) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        default: throw BenchFailure("sqlite3_step")
        }
    }

    /// The only value of the first row.
    func integer() throws -> Int64 {
        defer { end() }
        guard try step() else { throw BenchFailure("a number") }
        return unsafe sqlite3_column_int64(statement, 0)
    }

    // MARK: Cells

    var columnCount: Int32 { unsafe sqlite3_column_count(statement) }
    func name(_ column: Int32) -> String { unsafe String(cString: sqlite3_column_name(statement, column)) }
    func isBlob(_ column: Int32) -> Bool { unsafe sqlite3_column_type(statement, column) == SQLITE_BLOB }
    func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(statement, column) == SQLITE_NULL }
    func isText(_ column: Int32) -> Bool { unsafe sqlite3_column_type(statement, column) == SQLITE_TEXT }
    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(statement, column) }

    func blob(_ column: Int32) -> [UInt8] {
        let count = unsafe Int(sqlite3_column_bytes(statement, column))
        return unsafe Array(UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count))
    }

    /// Copies each cell out, as whoever wants a row must.
    func readRow() {
        for column in 0..<columnCount {
            if isBlob(column) || isText(column) { _ = blob(column) } else { _ = integer(column) }
        }
    }

    // MARK: Binding

    func bind(integer: Int64, at place: Int32) { _ = unsafe sqlite3_bind_int64(statement, place, integer) }
    func bindNull(at place: Int32) { _ = unsafe sqlite3_bind_null(statement, place) }

    // SQLite copies the bytes (SQLITE_TRANSIENT).
    func bind(blob bytes: [UInt8], at place: Int32) {
        let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        _ = unsafe sqlite3_bind_blob(statement, place, bytes, Int32(bytes.count), transient)
    }

    func bind(text bytes: [UInt8], at place: Int32) {
        let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        unsafe bytes.withUnsafeBytes { raw in
            let characters = unsafe raw.baseAddress?.assumingMemoryBound(to: CChar.self)
            _ = unsafe sqlite3_bind_text(statement, place, characters, Int32(bytes.count), transient)
        }
    }
}
