internal import Foundation
@_implementationOnly import GRDBSQLite
internal import KeychainModel
internal import KeychainPlatform

/// The write-ahead log that lies beside a database before it is opened.
///
/// SQLite takes over whatever log lies there, also one of the same store from before, or of
/// another one: its pages would cover newer ones, and closing would make that last
/// (<https://sqlite.org/howtocorrupt.html>, section 1.4).
package enum StoreLog {
    static let name = Store.fileName + "-wal"

    /// Whether what lies beside the database is known not to be its last log.
    ///
    /// With its own last log a database is of the witness's history and never below it, whatever
    /// a kill or a loss of power left of either; and where it is at the very same change, the log
    /// has the name that the witness knows, because each commit is witnessed with the log that
    /// holds it. So no such log is judged by what stands in the database alone, which may be
    /// half of a checkpoint then. A log of the witness's name is the last one, cut.
    ///
    /// - Parameter kept: what was acknowledged of databases that were gone and may be back: beside
    ///   one of them lies the log of the one that served meanwhile.
    /// - Throws: where nobody can look at it: a log that may not be read and written is no
    ///   other one for that.
    static func isForeign(
        in directory: PrivateDirectory, _ testimony: StoreTestimony?, besides kept: [StoreTestimony]
    ) throws(KeychainError) -> Bool {
        let found: (name: UInt64, byteCount: Int64)?
        do throws(SystemCallError) {
            found = try open(in: directory).map { log throws(SystemCallError) in
                (try name(of: log), try FileStatus(of: log).byteCount)
            }
        } catch { throw KeychainError(looking: error, at: "\(directory.path)/\(name)") }
        guard let testimony, let found, found.byteCount > 0 else { return false }
        let path = directory.path + "/" + Store.fileName
        let witnessed = testimony.position
        if !kept.isEmpty, case .at(let alone) = Standing(of: path, withLog: false, of: witnessed),
            alone.history != witnessed.history,
            kept.contains(where: { $0.position.history == alone.history && $0.log != found.name })
        {
            // Not its own, which may have been put back with it.
            return true
        }
        guard case .at(let together) = Standing(of: path, withLog: true, of: witnessed),
            together.history != witnessed.history || together.number <= witnessed.number,
            found.name != testimony.log,
            case .at(let alone) = Standing(of: path, withLog: false, of: witnessed),
            alone.history == witnessed.history
        else { return false }
        if together.history != witnessed.history { return true }
        // An older one, which takes the database back; else an older pair, which is served. No
        // log of its own does that: what stands in a database has come out of it, or was before.
        if together.number < witnessed.number { return alone.number > together.number }
        // Another store's that has come as far. One that holds no commit changes nothing.
        return alone.number < together.number
    }

    /// Whether what lies in its place is too large to be put right or copied, and begins with zeros,
    /// where a log has its header (section 4.1), so that SQLite takes nothing of it over.
    ///
    /// - Throws: as ``isForeign(in:_:besides:)``.
    static func isNoneAndLarge(in directory: PrivateDirectory) throws(KeychainError) -> Bool {
        do throws(SystemCallError) {
            guard let log = try open(in: directory), try FileStatus(of: log).byteCount > mostMended else { return false }
            return try log.readAtStart(byteCount: 32).allSatisfy { $0 == 0 }
        } catch { throw KeychainError(looking: error, at: "\(directory.path)/\(name)") }
    }

    // MARK: Mending

    /// 256 MiB: it is read into memory.
    private static let mostMended: Int64 = 1 << 28

    private static let trial = Store.fileName + ".trial"

    /// What became of a log in which bytes were changed.
    package struct Mended: Sendable, Hashable {
        /// How many of its parts were put right.
        package let count: Int
        /// The name under which it lies as it was, where not all of it is known to be as it was
        /// written.
        package let kept: String?
    }

    /// Puts a log right in which bytes were changed: SQLite takes a log to its end at the first
    /// wrong byte, and the next commit goes over what lies behind. The frames behind prove
    /// themselves (``LogFrames``).
    ///
    /// What is put in its place was tried before, beside a second name of the database: SQLite
    /// comes as far with it as without it at least, and finds its way through all of it. Else, also
    /// where there is no room, or where another process has the database open and with it an index
    /// of the log as it was, the log stays as it is. Where something of it is lost, or more than a
    /// bit of a page was changed, it is kept beside; what it holds comes back by its seals where the
    /// database lacks something that was acknowledged.
    ///
    /// - Returns: nil where it stays.
    /// - Throws: where it was put right, and the disk does not say that this lasts.
    static func mend(in directory: PrivateDirectory, keptAs name: String) throws(KeychainError) -> Mended? {
        let testimony = StoreWitness.testimony(in: directory)
        // The last program had brought all of its log into the database: this is an older one.
        guard testimony?.log != 0, let byteCount = byteCount(in: directory), byteCount <= mostMended else { return nil }
        let frames: LogFrames
        let isKept: Bool
        do throws(SystemCallError) {
            guard let log = try open(in: directory) else { return nil }
            frames = try LogFrames(log, until: { false })
            guard frames.correctedCount > 0, let mended = frames.mended(),
                !frames.isHeaderCorrected || Self.name(inHeader: mended) == testimony?.log
            else { return nil }
            defer { dropTrial(in: directory) }
            try directory.link(Store.fileName, as: trial)
            try directory.replace(trial + "-wal", with: mended)
            guard isBetter(directory.path + "/" + trial, than: directory.path + "/" + Store.fileName, testimony),
                // Who opens it now waits (SQLite's own locks are on some of its bytes).
                let alone = try FileLock.take(try directory.openFile(Store.fileName, creating: false))
            else { return nil }
            defer { alone.release() }
            isKept = !frames.isCertain
            do throws(SystemCallError) {
                if isKept {
                    try directory.link(Self.name, as: name)
                    // A crash leaves both names for one file, which the next opening sees, but not neither.
                    try directory.synchronize()
                }
                try directory.moveReplacing(trial + "-wal", to: Self.name)
            } catch {
                if isKept { StoreSetAside.drop(name, in: directory) }
                throw error
            }
        } catch { return nil }
        try translatingFiles { () throws(SystemCallError) in try directory.synchronize() }
        return Mended(count: frames.correctedCount, kept: isKept ? name : nil)
    }

    /// Whether a database with another log has come as far, and is whole.
    private static func isBetter(_ tried: String, than path: String, _ testimony: StoreTestimony?) -> Bool {
        let witnessed = testimony?.position
        guard case .at(let reached) = Standing(of: tried, withLog: true, of: witnessed), isIntact(tried) else {
            return false
        }
        if let witnessed, witnessed.history != reached.history { return false }
        guard case .at(let before) = Standing(of: path, withLog: true, of: witnessed) else { return true }
        return before.history == reached.history && before.number <= reached.number
    }

    /// Also what a crash left: a second name of the database, and an old log.
    static func dropTrial(in directory: PrivateDirectory) {
        for file in [trial, trial + "-wal", trial + "-shm", ".\(trial)-wal.new"] {
            StoreSetAside.drop(file, in: directory)
        }
    }

    /// The log, nil where there is none; for a look at its first bytes. SQLite has no locks on it
    /// that could go with a descriptor.
    ///
    /// - Throws: where it may not be written either: SQLite would read it, and go on without.
    static func open(in directory: PrivateDirectory) throws(SystemCallError) -> Descriptor? {
        do throws(SystemCallError) { return try directory.openFile(name, creating: false) } catch {
            guard error.isNoSuchFile else { throw error }
            return nil
        }
    }

    /// What tells one log from the next: the two salts of its header, which are others each
    /// time it begins anew; 0 where it holds nothing
    /// (<https://sqlite.org/fileformat2.html>, section 4.1).
    static func name(of log: Descriptor) throws(SystemCallError) -> UInt64 {
        name(inHeader: try log.readAtStart(byteCount: 24))
    }

    private static func name(inHeader header: [UInt8]) -> UInt64 {
        header.count >= 24 ? header[16..<24].reduce(0) { $0 << 8 | UInt64($1) } : 0
    }

    /// nil where there is none that could be kept.
    static func byteCount(in directory: PrivateDirectory) -> Int64? {
        do throws(SystemCallError) {
            let status = try FileStatus(at: FilePath(name), in: directory.descriptor, followingLink: false)
            return status.isRegularFile ? Int64(status.byteCount) : nil
        } catch { return nil }
    }

    /// How far a database has come.
    private enum Standing {
        case at(ChangePosition)
        /// It does not say: no database of ours, a malformed one, no room for the log's index.
        case unknown

        /// - Parameter witnessed: which of two histories is right, where the two copies of the
        ///   record (``StoreCopies``) name two.
        init(of path: String, withLog: Bool, of witnessed: ChangePosition?) {
            let records = StoreCopies.recordTables.map {
                "SELECT value FROM \($0) WHERE name = '\(StoreRecord.history.rawValue)'"
            }
            let last = "SELECT max(number) FROM changes"
            let rows = unsafe StoreLog.firstRows(of: records + [last], in: path, withLog: withLog) { row -> Cell in
                guard unsafe sqlite3_column_type(row, 0) == SQLITE_BLOB else {
                    return .number(unsafe sqlite3_column_int64(row, 0))
                }
                return .bytes(unsafe StoreLog.bytes(of: row))
            }
            let histories = rows.compactMap { cell -> [UInt8]? in
                guard case .bytes(let bytes)? = cell, StoreRecord.history.canBe(bytes) else { return nil }
                return bytes
            }
            guard case .number(let number)?? = rows.last,
                let history = histories.first(where: { $0 == witnessed?.history }) ?? histories.first
            else {
                self = .unknown
                return
            }
            self = .at(ChangePosition(history: history, number: number))
        }

        private enum Cell {
            case bytes([UInt8])
            case number(Int64)
        }
    }

    /// Whether SQLite finds its way through the whole database, and each row in its indexes.
    private static func isIntact(_ path: String) -> Bool {
        unsafe firstRow(of: "PRAGMA integrity_check(1)", in: path, withLog: true) { row in
            unsafe sqlite3_column_text(row, 0).map { unsafe String(cString: $0) }
        } == "ok"
    }

    /// What the records of a database say of its format (``StoreRecord/format``), each that can be read.
    static func toldFormats(in directory: PrivateDirectory) -> [Int] {
        let path = directory.path + "/" + Store.fileName
        let hasLog = (byteCount(in: directory) ?? 0) > 0
        let records = StoreCopies.recordTables.map {
            "SELECT value FROM \($0) WHERE name = '\(StoreRecord.format.rawValue)'"
        }
        let rows = unsafe firstRows(of: records, in: path, withLog: hasLog) { unsafe bytes(of: $0) }
        return rows.compactMap { $0.flatMap { StoreCopies.format(in: $0) } }
    }

    /// The first column of a row.
    private static func bytes(of row: OpaquePointer?) -> [UInt8] {
        guard let bytes = unsafe sqlite3_column_blob(row, 0) else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(row, 0))))
    }

    private static func firstRow<Found>(
        of sql: String, in path: String, withLog: Bool, _ read: (OpaquePointer?) -> Found?
    ) -> Found? {
        unsafe firstRows(of: [sql], in: path, withLog: withLog, read).first.flatMap { $0 }.flatMap { $0 }
    }

    /// The first row of each query. Nothing is written into the database. nil where there is no such
    /// row, no such table, or no database.
    private static func firstRows<Found>(
        of queries: [String], in path: String, withLog: Bool, _ read: (OpaquePointer?) -> Found
    ) -> [Found?] {
        let nothing = [Found?](repeating: nil, count: queries.count)
        guard let encoded = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) else { return nothing }
        // "immutable" leaves the log out (sqlite.org/uri.html, section 3.1).
        let address = "file:" + encoded + (withLog ? "" : "?immutable=1")
        var handle: OpaquePointer?
        defer { unsafe sqlite3_close_v2(handle) }
        guard unsafe sqlite3_open_v2(address, &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nil) == SQLITE_OK else {
            return nothing
        }
        return queries.map { sql in
            var statement: OpaquePointer?
            defer { unsafe sqlite3_finalize(statement) }
            guard unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK,
                unsafe sqlite3_step(statement) == SQLITE_ROW
            else { return nil }
            return unsafe read(statement)
        }
    }
}
