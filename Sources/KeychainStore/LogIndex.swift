internal import GRDB
@_implementationOnly import GRDBSQLite

/// What SQLite knows of its write-ahead log: the header of the log's index, in the memory that
/// all connections share (<https://sqlite.org/walformat.html>, section 2.1). Costs no system call.
struct LogIndex: Equatable {
    /// Frames in the log that are valid.
    let frames: Int64
    let pageSize: Int64
    /// The two of the log's header, as one number.
    let salts: UInt64

    /// Bytes that the log has at the least.
    var byteCount: Int64 { frames == 0 ? 0 : 32 + frames * (pageSize + 24) }

    /// The log's name for the witness (``StoreLog/name(of:)``).
    var name: UInt64 { frames == 0 ? 0 : salts }

    /// Bytes of the header, which is there twice.
    private static let headerSize = 48
    /// Bytes of a part of the index (os_unix.c is always asked for as many).
    private static let partSize: Int32 = 32_768

    /// nil where there is no index yet, or another process is about to write it.
    init?(of db: Database) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard let connection = unsafe db.sqliteConnection,
            unsafe sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file = unsafe file, let methods = unsafe file.pointee.pMethods,
            unsafe methods.pointee.iVersion >= 2, let map = unsafe methods.pointee.xShmMap
        else { return nil }
        var memory: UnsafeMutableRawPointer?
        guard unsafe map(file, 0, Self.partSize, 0, &memory) == SQLITE_OK, let memory = unsafe memory
        else { return nil }
        // Others write there: what is looked at is a copy. On the stack, as each commit makes one.
        let read = unsafe withUnsafeTemporaryAllocation(byteCount: 2 * Self.headerSize, alignment: 8) { bytes in
            unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: memory, count: 2 * Self.headerSize))
            return unsafe Self(headers: UnsafeRawBufferPointer(bytes))
        }
        guard let read else { return nil }
        self = read
    }

    /// In the machine's order of bytes, but for the salts; nil where the two are not the same, or
    /// nothing is in them yet.
    private init?(headers: UnsafeRawBufferPointer) {
        let (first, second) = unsafe (headers[..<Self.headerSize], headers[Self.headerSize...])
        guard unsafe first.elementsEqual(second), unsafe headers[12] != 0 else { return nil }
        frames = Int64(unsafe headers.load(fromByteOffset: 16, as: UInt32.self))
        let size = Int64(unsafe headers.load(fromByteOffset: 14, as: UInt16.self))
        // 65 536 does not fit and is 1.
        pageSize = size & 0xFE00 | (size & 1) << 16
        salts = UInt64(bigEndian: unsafe headers.load(fromByteOffset: 32, as: UInt64.self))
    }
}

/// The log as SQLite has it open, also where it has no name any more.
struct OpenLog {
    let byteCount: Int64
    /// Its first 32 bytes; fewer where it has no more.
    let header: [UInt8]

    /// nil where none is open.
    init?(of db: Database) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard let connection = unsafe db.sqliteConnection,
            unsafe sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK,
            let file = unsafe file, let methods = unsafe file.pointee.pMethods
        else { return nil }
        var size: sqlite3_int64 = 0
        guard unsafe methods.pointee.xFileSize(file, &size) == SQLITE_OK else { return nil }
        byteCount = size
        header = unsafe Self.header(file, methods)
    }

    /// The header alone: one pread.
    static func header(of db: Database) -> [UInt8]? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard let connection = unsafe db.sqliteConnection,
            unsafe sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK,
            let file = unsafe file, let methods = unsafe file.pointee.pMethods
        else { return nil }
        return unsafe header(file, methods)
    }

    private static let headerSize = LogFrames.headerSize

    private static func header(
        _ file: UnsafeMutablePointer<sqlite3_file>, _ methods: UnsafePointer<sqlite3_io_methods>
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: headerSize)
        let code = unsafe bytes.withUnsafeMutableBytes { unsafe methods.pointee.xRead(file, $0.baseAddress, 32, 0) }
        return code == SQLITE_OK ? bytes : []
    }

    /// Whether a header is one, with these salts (<https://sqlite.org/fileformat2.html>, sections
    /// 4.1 and 4.2): by any other SQLite would take the log for none.
    static func isSound(_ header: [UInt8], salts: UInt64) -> Bool {
        guard header.count == headerSize, let magic = PageBytes.number32(header, 0), magic & ~1 == LogFrames.magic,
            let first = PageBytes.number32(header, 16), let second = PageBytes.number32(header, 20),
            UInt64(first) << 32 | UInt64(second) == salts
        else { return false }
        let isBigEndian = magic & 1 == 1
        var sum = LogChecksum(isBigEndian: isBigEndian)
        sum.add(header[..<24])
        return sum == LogChecksum(in: header, at: 24, isBigEndian: isBigEndian)
    }
}
