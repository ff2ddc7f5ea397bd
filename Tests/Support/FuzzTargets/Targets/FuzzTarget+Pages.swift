internal import Foundation
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainStore

extension FuzzTarget {
    /// A database, and a log beside it, of which SQLite makes nothing: what is read of them is
    /// bounded by what there is.
    static let databasePages = FuzzTarget(
        "database-pages", largestInput: 8 * PagesUnderFuzz.pageSize, weight: 20,
        seeds: { [PagesUnderFuzz.database, PagesUnderFuzz.databaseWithLog] }
    ) { bytes throws(Finding) in try PagesUnderFuzz.shared.scan(bytes) }

    /// A log as it lies there, whose bytes are changed: what is put right of it is what there is.
    static let logFrames = FuzzTarget(
        "log-frames", largestInput: 8 * PagesUnderFuzz.pageSize, weight: 20,
        seeds: { [LogWithChecksums(pages: Array(PagesUnderFuzz.database.dropFirst())).bytes] }
    ) { bytes throws(Finding) in try PagesUnderFuzz.shared.scan(log: bytes) }
}

/// Two files whose content is the input.
///
/// Its first byte says how many pages are the database's. The others go into the log: its frames,
/// with right checksums, so that they count.
private struct PagesUnderFuzz {
    static let pageSize = 4096
    static let shared = PagesUnderFuzz()

    private let file = Scratch.path("pages.db")
    private let log = Scratch.path("pages.db-wal")

    func scan(_ bytes: [UInt8]) throws(Finding) {
        let size = min(max(0, bytes.count - 1), Int(bytes.first ?? 0) * Self.pageSize)
        try scan(bytes.dropFirst().prefix(size), LogWithChecksums(pages: Array(bytes.dropFirst(1 + size))).bytes[...])
    }

    func scan(log bytes: [UInt8]) throws(Finding) { try scan([], bytes[...]) }

    private func scan(_ database: ArraySlice<UInt8>, _ frames: ArraySlice<UInt8>) throws(Finding) {
        try write(database, file)
        try write(frames, log)
        let byteCount: Int
        do throws(SystemCallError) { byteCount = try Self.scan(file, log) } catch { throw Finding("\(error)") }
        // Cells may lie upon each other, 680 in a page, and share what is behind it.
        let inputCount = database.count + frames.count
        try claim(byteCount <= 800 * (inputCount + Self.pageSize), "\(byteCount) bytes of \(inputCount)")
    }

    /// - Returns: how many bytes the rows have that it finds.
    private static func scan(_ file: String, _ log: String) throws(SystemCallError) -> Int {
        let database = try Descriptor.look(at: FilePath(file), .reading)
        var scan = try PageScan(
            database, log: try Descriptor.look(at: FilePath(log), .reading), until: { false })
        var total = 0
        for itemClass in ItemClass.stored {
            do throws(KeychainError) {
                try scan.forEachRow(of: itemClass, where: { _ in true }) { _, found in
                    if case .row(let row) = found { total += row.metadata.count + (row.secret?.count ?? 0) }
                }
            } catch { continue }
        }
        return total + ProtectionClass.allCases.reduce(0) { $0 + scan.metadataKeys(of: $1).count }
    }

    private func write(_ bytes: ArraySlice<UInt8>, _ path: String) throws(Finding) {
        do { try Data(bytes).write(to: URL(fileURLWithPath: path)) } catch { throw Finding("\(error)") }
    }

    // MARK: Seeds

    /// A page of the schema, a long row with its chain, short ones, a key, a damaged row.
    static let database: [UInt8] = {
        do { return try [250] + made() } catch { preconditionFailure("no database: \(error)") }
    }()

    /// The same pages, the half of them in the log.
    static let databaseWithLog: [UInt8] = {
        let pages = Array(database.dropFirst())
        let half = pages.count / pageSize / 2
        return [UInt8(clamping: half)] + pages
    }()

    private static func made() throws -> [UInt8] {
        let path = Scratch.path("pages-seed.db")
        let raw = try RawDatabase(path)
        try raw.run("PRAGMA page_size = 4096; PRAGMA secure_delete = OFF")
        let tables = StoreSchema.statements.filter { statement in
            ["CREATE TABLE genp (", "CREATE TABLE damaged ("].contains(where: statement.hasPrefix)
        }
        for table in tables { try raw.run(table) }
        try raw.run(
            """
            CREATE TABLE metadata_keys (class INTEGER NOT NULL, gen INTEGER NOT NULL, wrapped BLOB NOT NULL, \
            "check" BLOB NOT NULL, PRIMARY KEY (class, gen)) WITHOUT ROWID; \
            INSERT INTO metadata_keys VALUES (6, 1, zeroblob(60), zeroblob(16)), (7, 2, zeroblob(60), zeroblob(16))
            """)
        for (metadata, secret) in [(300, 100), (300, 9000), (40, 200)] {
            try raw.run(
                """
                INSERT INTO genp (uuid, persistref, fmt, gen, pdmn, sync, tomb, pkey, metadata, wrapped_key, secret) \
                VALUES (zeroblob(16), zeroblob(16), 3, 1, 'ak', 0, 0, zeroblob(16), zeroblob(\(metadata)), \
                zeroblob(60), zeroblob(\(secret)))
                """)
        }
        try raw.run(
            """
            INSERT INTO damaged (class, cause, moved, rowid_was, pdmn, metadata) \
            VALUES ('genp', 'metadata', 1, 4, 'ak', zeroblob(80)); DELETE FROM genp WHERE rowid = 3
            """)
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}

/// A write-ahead log (<https://sqlite.org/fileformat2.html>, section 4) of the pages of an input,
/// each of them committed; the numbers of the pages are theirs.
private struct LogWithChecksums {
    private(set) var bytes: [UInt8] = []
    private var sums: (UInt32, UInt32) = (0, 0)

    init(pages: [UInt8]) {
        let size = PagesUnderFuzz.pageSize
        append([0x377F_0683, 3_007_000, UInt32(size), 0, 1, 2].flatMap(Self.encoded))
        bytes += Self.encoded(sums.0) + Self.encoded(sums.1)
        let count = pages.count / size
        for index in 0..<count {
            let page = Array(pages[index * size..<(index + 1) * size])
            // Behind those of the database, or one of its own, as the page has it.
            let number = UInt32(page[size - 1] % 16) + 1
            append(Self.encoded(number) + Self.encoded(UInt32(page[size - 2] % 32)))
            add(page)
            bytes += [0, 0, 0, 1, 0, 0, 0, 2] + Self.encoded(sums.0) + Self.encoded(sums.1) + page
        }
    }

    private mutating func append(_ more: [UInt8]) {
        bytes += more
        add(more)
    }

    private mutating func add(_ more: [UInt8]) {
        for offset in stride(from: 0, to: more.count - 7, by: 8) {
            sums.0 = sums.0 &+ Self.word(more, offset) &+ sums.1
            sums.1 = sums.1 &+ Self.word(more, offset + 4) &+ sums.0
        }
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func encoded(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
