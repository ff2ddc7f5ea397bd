internal import CSQLite
internal import Enclave
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import KeychainStore
internal import KeychainTestSupport
internal import Synchronization

/// One row of a real store, whose cells are overwritten; it is put back before
/// each input.
final class RowUnderFuzz: Sendable {
    static let shared: RowUnderFuzz = {
        do { return try RowUnderFuzz() } catch { preconditionFailure("no store: \(error)") }
    }()

    private let engine: KeychainEngine
    private let caller: Entitlements
    private let file: Mutex<RawDatabase>
    private let pristine: AnswerRow
    private static let columns = [
        "uuid", "persistref", "fmt", "gen", "pdmn", "sync", "tomb", "metadata", "wrapped_key", "secret", "pkey",
        "b_acct",
        "b_svce", "b_agrp", "b_pair",
    ]

    private init() throws {
        let path = Scratch.path("sealed-row")
        engine = try KeychainEngine.open(dataDirectory: path, clock: ManualClock()) { expected throws(KeychainError) in
            try InProcessEnclave(dataDirectory: path, expecting: expected)
        }
        var caller = Entitlements()
        caller.keychainAccessGroups = ["group.a"]
        self.caller = caller
        _ = try engine.answer(
            KeychainRequest(
                .add, query: QueryDictionary(Self.item + [("v_Data", .secret)]),
                value: SharedSecret(SecretBytes(copying: Array("the value".utf8)))), for: Authorization(caller))
        let answer = try engine.answer(
            KeychainRequest(.copy, query: QueryDictionary(Self.item + Self.everything)), for: Authorization(caller))
        guard let row = answer.rows.first else { throw Finding("the row is not there") }
        pristine = row
        let database = try RawDatabase(path + "/" + Store.fileName)
        try database.run("CREATE TEMP TABLE kept AS SELECT * FROM genp")
        file = Mutex(database)
    }

    private static let item: [(String, RawValue)] = [
        ("class", .string("genp")), ("svce", .string("service")), ("acct", .string("account")),
    ]
    private static let everything: [(String, RawValue)] = [("r_Data", .bool(true)), ("r_Attributes", .bool(true))]

    func overwrite(_ bytes: [UInt8]) throws(Finding) {
        let finding = file.withLock { database -> Finding? in
            do {
                try check(bytes, database)
                return nil
            } catch {
                return error as? Finding ?? Finding("\(error)")
            }
        }
        if let finding { throw finding }
    }

    private func check(_ bytes: [UInt8], _ database: RawDatabase) throws {
        try database.run("DELETE FROM genp; DELETE FROM damaged; INSERT INTO genp SELECT * FROM kept")
        var source = ByteSource(bytes)
        for _ in 0..<(1 + source.byte() % 3) {
            // What the table itself refuses was not written.
            try? database.run("UPDATE genp SET \(source.choice(of: Self.columns)) = ?", source.cell())
        }
        try database.run("DROP TABLE IF EXISTS written; CREATE TEMP TABLE written AS SELECT * FROM genp")
        for query in [Self.item, [("class", .string("genp")), ("m_Limit", .string("m_LimitAll"))]] {
            try checkAnswer(query)
        }
        try checkNothingIsLost(database)
    }

    /// The row as it was, or none.
    private func checkAnswer(_ query: [(String, RawValue)]) throws {
        do throws(KeychainError) {
            let answer = try engine.answer(
                KeychainRequest(.copy, query: QueryDictionary(query + Self.everything)), for: Authorization(caller))
            guard answer.rows.count == 1, let row = answer.rows.first else { throw .parameter(.classMissing) }
            let isSame =
                Sameness.of(row.attributes, pristine.attributes) && Sameness.of(row.value, pristine.value)
                && row.accessControl == pristine.accessControl && row.itemClass == pristine.itemClass
            if !isSame { throw .parameter(.classUnknown) }
        } catch {
            let expected: Set<Status> = [.itemNotFound, .interactionNotAllowed, .notAvailable]
            guard expected.contains(error.status) else {
                throw Finding("an overwritten row was answered with \(error)")
            }
        }
    }

    /// In its table, or set aside byte for byte.
    private func checkNothingIsLost(_ database: RawDatabase) throws {
        let inPlace = try database.number("SELECT count(*) FROM genp")
        let aside = try database.number(
            """
            SELECT count(*) FROM damaged d JOIN written w ON d.rowid_was IS w.rowid AND d.uuid IS w.uuid \
            AND d.metadata IS w.metadata AND d.wrapped_key IS w.wrapped_key AND d.secret IS w.secret \
            AND d.pdmn IS w.pdmn AND d.persistref IS w.persistref AND d.pkey IS w.pkey
            """)
        guard inPlace + aside == 1 else { throw Finding("\(inPlace) rows in place, \(aside) set aside as they were") }
    }
}

/// The database file, by SQLite's own functions.
@safe final class RawDatabase: @unchecked Sendable {
    // @unchecked: used under its owner's lock alone.
    private var handle: OpaquePointer?

    init(_ path: String) throws {
        guard unsafe sqlite3_open(path, &handle) == SQLITE_OK else { throw Finding("the database does not open") }
        unsafe sqlite3_busy_timeout(handle, 5000)
    }

    deinit { unsafe sqlite3_close(handle) }

    func run(_ statements: String) throws {
        guard unsafe sqlite3_exec(handle, statements, nil, nil, nil) == SQLITE_OK else { throw failure(statements) }
    }

    func run(_ statement: String, _ cell: Cell) throws {
        try unsafe prepared(statement) { prepared in
            unsafe cell.bind(to: prepared)
            guard unsafe sqlite3_step(prepared) == SQLITE_DONE else { throw failure(statement) }
        }
    }

    func number(_ query: String) throws -> Int {
        try unsafe prepared(query) { prepared in
            guard unsafe sqlite3_step(prepared) == SQLITE_ROW else { throw failure(query) }
            return unsafe Int(sqlite3_column_int64(prepared, 0))
        }
    }

    private func prepared<R>(_ text: String, _ body: (OpaquePointer?) throws -> R) throws -> R {
        var statement: OpaquePointer?
        guard unsafe sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK else { throw failure(text) }
        defer { unsafe sqlite3_finalize(statement) }
        return try unsafe body(statement)
    }

    private func failure(_ what: String) -> Finding {
        Finding("\(what): \(unsafe String(cString: sqlite3_errmsg(handle)))")
    }

    /// Anything that SQLite can hold.
    enum Cell {
        case null
        case integer(Int64)
        case real(Double)
        case text([UInt8])
        case blob([UInt8])

        fileprivate func bind(to statement: OpaquePointer?) {
            let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            switch self {
            case .null: unsafe sqlite3_bind_null(statement, 1)
            case .integer(let number): unsafe sqlite3_bind_int64(statement, 1, number)
            case .real(let number): unsafe sqlite3_bind_double(statement, 1, number)
            case .text(let bytes):
                unsafe bytes.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer {
                    _ = unsafe sqlite3_bind_text(statement, 1, $0.baseAddress, Int32($0.count), transient)
                }
            case .blob(let bytes):
                unsafe bytes.withUnsafeBytes {
                    _ = unsafe sqlite3_bind_blob(statement, 1, $0.baseAddress, Int32($0.count), transient)
                }
            }
        }
    }
}

extension ByteSource {
    fileprivate mutating func cell() -> RawDatabase.Cell {
        switch byte() % 5 {
        case 0: .null
        case 1: .integer(Int64(bitPattern: number()))
        case 2: .real(real())
        case 3: .text(data())
        default: .blob(data())
        }
    }
}
