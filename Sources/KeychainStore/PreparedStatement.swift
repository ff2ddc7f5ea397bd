@_implementationOnly import GRDBSQLite
internal import GRDB

/// A statement that its connection prepared once and keeps (GRDB's cache), run
/// with SQLite's own functions: GRDB's conversion of arguments and rows costs
/// several times the search itself (ARCHITECTURE.md section 10).
///
/// Of one thread, and gone before its connection is lent to the next: the end of
/// its life resets the statement, which ends the read, and drops what was bound.
@safe struct PreparedStatement: ~Copyable {
    /// Keeps the handle alive.
    private let statement: Statement
    private nonisolated(unsafe) let handle: SQLiteStatement
    private var bound: Int32 = 0

    init(_ db: Database, _ sql: String) throws {
        statement = try db.cachedStatement(sql: sql)
        unsafe handle = statement.sqliteStatement
    }

    deinit {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    // MARK: Arguments, in order

    mutating func bind(_ bytes: [UInt8]?) throws {
        bound += 1
        guard let bytes else { return try check(unsafe sqlite3_bind_null(handle, bound)) }
        // An empty array has no address, and no address is NULL.
        guard !bytes.isEmpty else { return try check(unsafe sqlite3_bind_zeroblob(handle, bound, 0)) }
        try check(unsafe sqlite3_bind_blob64(handle, bound, bytes, UInt64(bytes.count), Self.copied))
    }

    mutating func bind(_ number: Int64) throws {
        bound += 1
        try check(unsafe sqlite3_bind_int64(handle, bound, number))
    }

    /// All of it, also behind a zero.
    mutating func bind(_ text: String) throws {
        bound += 1
        let count = UInt64(text.utf8.count)
        try check(unsafe sqlite3_bind_text64(handle, bound, text, count, Self.copied, UInt8(SQLITE_UTF8)))
    }

    mutating func bind(_ argument: SelectionArgument) throws {
        switch argument {
        case .blob(let bytes): try bind(bytes)
        case .number(let number): try bind(number)
        case .text(let text): try bind(text)
        }
    }

    /// SQLITE_TRANSIENT (sqlite.org/c3ref/c_static.html): SQLite makes its own copy.
    private static var copied: sqlite3_destructor_type {
        unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    // MARK: Running

    /// True where there is a row; false at the end.
    func step() throws -> Bool {
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
    }

    /// Runs a statement that has no rows.
    func run() throws { while try step() {} }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    // MARK: Columns of the row

    func bytes(_ column: Int32) -> [UInt8]? {
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return nil
        case SQLITE_BLOB, SQLITE_TEXT:
            guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
            let count = unsafe Int(sqlite3_column_bytes(handle, column))
            return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
        default: return []
        }
    }

    func number(_ column: Int32) -> Int64? {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else { return nil }
        return unsafe sqlite3_column_int64(handle, column)
    }

    func text(_ column: Int32) -> String? {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT,
            let start = unsafe sqlite3_column_text(handle, column)
        else { return nil }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
}

/// A value that a condition compares with.
enum SelectionArgument: Sendable {
    case blob([UInt8])
    case number(Int64)
    case text(String)
}
