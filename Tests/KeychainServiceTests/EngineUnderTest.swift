import CSQLite
import Enclave
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Synchronization
import Testing

/// The real engine on a real store in a folder of its own.
final class EngineUnderTest {
    let folder: TemporaryDirectory
    let clock: ManualClock
    private var opened: KeychainEngine?
    var entitlements: Entitlements

    convenience init() throws {
        try self.init(at: TemporaryDirectory(), ManualClock())
        try open()
    }

    /// A store that lies there, or will, not opened yet.
    init(at folder: TemporaryDirectory, _ clock: ManualClock) throws {
        self.folder = folder
        self.clock = clock
        entitlements = Entitlements()
        entitlements.keychainAccessGroups = ["group.a", "group.b"]
    }

    var engine: KeychainEngine {
        guard let opened else { preconditionFailure("the test has closed its engine") }
        return opened
    }

    func open() throws { opened = try Self.open(folder.path, clock) }

    /// The same, with a passcode's cost.
    ///
    /// - Returns: the enclave, for whoever sets a passcode, locks or unlocks.
    func open(passcodeCost cost: PasscodeCost) throws -> InProcessEnclave {
        let made = Mutex<InProcessEnclave?>(nil)
        let path = folder.path
        opened = try KeychainEngine.open(dataDirectory: path, clock: clock) { expected throws(KeychainError) in
            let enclave = try InProcessEnclave(dataDirectory: path, expecting: expected, passcodeCost: cost)
            made.withLock { $0 = enclave }
            return enclave
        }
        return try #require(made.withLock { $0 })
    }

    func close() throws {
        try engine.close()
        opened = nil
    }

    static func open(_ path: String, _ clock: ManualClock) throws -> KeychainEngine {
        try KeychainEngine.open(dataDirectory: path, clock: clock) { expected throws(KeychainError) in
            try InProcessEnclave(dataDirectory: path, expecting: expected)
        }
    }

    /// Closes the store, where it is open, lets `change` at its files, and opens it again.
    func reopen(after change: () throws -> Void = {}) throws {
        if opened != nil { try close() }
        try change()
        opened = try Self.open(folder.path, clock)
    }

    /// The same, where the database is found malformed, or gone: the first opening
    /// says so, the second lives with it.
    func reopenMalformed(after change: () throws -> Void) throws {
        try close()
        try change()
        #expect(throws: KeychainError(.notAvailable, reason: .storeMalformed)) {
            try Self.open(folder.path, clock)
        }
        opened = try Self.open(folder.path, clock)
    }

    /// How a search for an item ends that finds nothing.
    func failure(_ account: String) -> KeychainError? {
        do throws(KeychainError) {
            _ = try call(.copy, item(account) + [("r_Data", .bool(true))])
            return nil
        } catch {
            return error
        }
    }

    func call(
        _ operation: KeychainRequest.Operation, _ query: [(String, RawValue)], changes: [(String, RawValue)] = [],
        value: String? = nil
    ) throws(KeychainError) -> KeychainAnswer {
        var all = query
        var changed = changes
        if value != nil {
            if operation == .update { changed.append(("v_Data", .secret)) } else { all.append(("v_Data", .secret)) }
        }
        return try engine.answer(
            KeychainRequest(
                operation, query: QueryDictionary(all), changes: QueryDictionary(changed),
                value: value.map { SharedSecret(SecretBytes(copying: Array($0.utf8))) }),
            for: Authorization(entitlements))
    }

    func add(_ account: String, _ value: String, _ more: [(String, RawValue)] = []) throws {
        _ = try call(.add, item(account) + more, value: value)
    }

    func item(_ account: String) -> [(String, RawValue)] {
        [("class", .string("genp")), ("svce", .string("service")), ("acct", .string(account))]
    }

    /// The value of an item, or nil where nothing is found.
    func value(_ account: String, _ more: [(String, RawValue)] = []) throws -> String? {
        do throws(KeychainError) {
            let answer = try call(.copy, item(account) + more + [("r_Data", .bool(true))])
            return answer.rows.first?.value.map { String(decoding: $0.bytes.insecureArray(), as: UTF8.self) }
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return nil
        }
    }

    /// The value of every item, by its account.
    func values() throws -> [String: String] {
        let all: [(String, RawValue)] = [
            ("class", .string("genp")), ("svce", .string("service")), ("m_Limit", .string("m_LimitAll")),
            ("r_Data", .bool(true)), ("r_Attributes", .bool(true)),
        ]
        let pairs = try call(.copy, all).rows.map { row in
            let value = row.value.map { String(decoding: $0.bytes.insecureArray(), as: UTF8.self) }
            return (row.attributes[.account]?.string ?? "", value ?? "")
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    /// A store with the files of another one, in memory, not opened yet.
    convenience init(_ files: StoreSnapshot, _ clock: ManualClock = ManualClock()) throws {
        try self.init(at: TemporaryDirectory.inMemory(), clock)
        try files.put(into: folder)
    }

    var databasePath: String { folder.path + "/" + Store.fileName }

    /// Runs SQL on the database beside the engine, as whoever can write the file could.
    func sql(_ statement: String) throws { try Self.execute(statement, in: databasePath) }

    /// Changes both copies of the metadata key of the class ak.
    func spoilKeys(_ edit: String) throws {
        for table in ["metadata_keys", "metadata_keys_copy"] { try sql("UPDATE \(table) SET \(edit) WHERE class = 6") }
    }

    func number(_ query: String) throws -> Int { try Self.number(query, in: databasePath) }

    static func execute(_ statement: String, in path: String) throws {
        var db: OpaquePointer?
        guard unsafe sqlite3_open(path, &db) == SQLITE_OK else { throw SQLFailure(text: "open") }
        defer { unsafe sqlite3_close(db) }
        unsafe sqlite3_busy_timeout(db, 5000)
        guard unsafe sqlite3_exec(db, statement, nil, nil, nil) == SQLITE_OK else {
            throw SQLFailure(text: unsafe String(cString: sqlite3_errmsg(db)))
        }
    }

    static func number(_ query: String, in path: String) throws -> Int { Int(try text(query, in: path)) ?? 0 }

    /// The first column of the first row, as text.
    static func text(_ query: String, in path: String) throws -> String {
        var db: OpaquePointer?
        var statement: OpaquePointer?
        guard unsafe sqlite3_open(path, &db) == SQLITE_OK else { throw SQLFailure(text: "open") }
        defer { unsafe sqlite3_close(db) }
        guard unsafe sqlite3_prepare_v2(db, query, -1, &statement, nil) == SQLITE_OK else {
            throw SQLFailure(text: query)
        }
        defer { unsafe sqlite3_finalize(statement) }
        guard unsafe sqlite3_step(statement) == SQLITE_ROW else { throw SQLFailure(text: query) }
        return unsafe sqlite3_column_text(statement, 0).map { unsafe String(cString: $0) } ?? ""
    }

    struct SQLFailure: Error { let text: String }
}
