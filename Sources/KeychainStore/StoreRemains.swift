internal import Foundation
internal import GRDB
package import KeychainModel
package import KeychainPlatform

/// A malformed database that was set aside, read as far as it can be read.
///
/// The connection cannot write: the file stays as it is. What comes out of it is
/// believed by nobody before its seals have opened.
package struct StoreRemains {
    package let name: String
    private let queue: DatabaseQueue
    /// Whether a mended copy is read. Nobody knows then what its log should have held: SQLite
    /// takes none over that does not fit.
    private let isMended: Bool
    /// Rows that SQLite cannot find its way to cost probes; so many at the most
    /// in each table.
    private static let mostProbes = 4096

    /// nil where SQLite makes nothing of the file at all.
    package init?(_ name: String, in directory: PrivateDirectory) throws(KeychainError) {
        self.name = name
        // SQLite deletes the log of a file without a byte, also where it only reads.
        if try StoreHeader.isEmpty(name, in: directory) { return nil }
        do throws(KeychainError) {
            queue = try translating {
                try DatabaseQueue(
                    path: directory.path + "/" + name, configuration: Store.configuration(readOnly: true))
            }
            isMended = false
        } catch {
            guard Self.isHole(error) else { throw error }
            guard let mended = MendedCopy.open(name, in: directory) else { return nil }
            queue = mended
            isMended = true
        }
    }

    /// Where the file says nothing: not only what SQLite calls malformed; a
    /// sector that the disk refuses is a hole as well, and the file stays.
    private static func isHole(_ error: KeychainError) -> Bool {
        error.reason == .storeMalformed || error.reason == .inputOutput || error.reason == .storeUnreadable
    }

    /// Whether SQLite takes over every commit that the log beside it holds: it takes a log to its end
    /// at the first wrong byte (``LogFrames``). False where nobody can see that.
    ///
    /// - Parameter isOver: asked at each frame; true ends the search.
    package static func takesWholeLog(
        _ name: String, in directory: PrivateDirectory, until isOver: () -> Bool
    ) -> Bool {
        do throws(SystemCallError) {
            let log = try Descriptor.look(
                at: FilePath(name + "-wal"), in: directory.descriptor, .readingNoLink)
            guard try FileStatus(of: log).isRegularFile else { return false }
            let frames = try LogFrames(log, until: isOver)
            return frames.correctedCount == 0 && frames.unknownCommitCount == 0 && !frames.isCutShort
        } catch { return error.isNoSuchFile }
    }

    // MARK: Metadata keys

    /// The tables that hold them; the second copies from format 7 on.
    private static let keyTables = StoreCopies.keyTables + ["damaged_keys"]

    /// Every metadata key of a class that SQLite finds in the file.
    package func metadataKeys(of protectionClass: ProtectionClass) throws(KeychainError) -> [MetadataKeyRecord] {
        var found: [MetadataKeyRecord] = []
        for table in Self.keyTables { found += try keys(protectionClass, table) ?? [] }
        return found
    }

    /// Whether there is a metadata key that SQLite does not find: without it rows that are whole
    /// do not open.
    package func lacksKeys() throws(KeychainError) -> Bool {
        if isMended { return true }
        for protectionClass in ProtectionClass.allCases {
            for table in Self.keyTables where try keys(protectionClass, table) == nil { return true }
        }
        return false
    }

    // MARK: Files before this one

    /// The files that this database had not gone through to their end when it was
    /// set aside itself, newest first; none where it does not say.
    package func unfinishedPredecessors() throws(KeychainError) -> [String] {
        guard try record(.salvaging) != nil else { return [] }
        return try record(.predecessor).map { StoreRecord.names(in: $0) } ?? []
    }

    /// Its note that something that was acknowledged was missing from it, which nobody had
    /// accepted; nil where it does not say that.
    package func shortfall() throws(KeychainError) -> [UInt8]? { try record(.behind) }

    /// Whether it is of another history than a testimony; nil where it does not say.
    package func isOfAnother(history: [UInt8]) throws(KeychainError) -> Bool? {
        let own = try records(.history)
        return own.isEmpty ? nil : !own.contains(history)
    }

    /// The number of the last commit that SQLite finds in it; nil where it finds none.
    package func lastChange() throws(KeychainError) -> Int64? {
        try orNothing(nil) { db in
            try Row.fetchOne(db, sql: "SELECT max(number) FROM changes").flatMap { Int64.fromDatabaseValue($0[0]) }
        }
    }

    /// Whether SQLite finds no way to what `store` says by name, in either copy.
    package func lacksRecords() throws(KeychainError) -> Bool {
        if isMended { return true }
        return try orNothing(true) { db in
            for table in StoreCopies.recordTables where try db.tableExists(table) {
                _ = try Row.fetchAll(db, sql: "SELECT name, value FROM \(table)")
            }
            return false
        }
    }

    /// From the first of its two copies that says it.
    private func record(_ name: StoreRecord) throws(KeychainError) -> [UInt8]? { try records(name).first }

    /// From each copy that says it.
    private func records(_ name: StoreRecord) throws(KeychainError) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for table in StoreCopies.recordTables {
            found += try orNothing(nil) { db in
                try Row.fetchOne(db, sql: "SELECT value FROM \(table) WHERE name = ?", arguments: [name.rawValue])
                    .flatMap { Data.fromDatabaseValue($0[0]) }.map { [Array($0)] }
            } ?? []
        }
        return found
    }

    /// The rows of an earlier file that this database took over, as far as it says.
    package func rowsTaken(from file: String) throws(KeychainError) -> [(itemClass: ItemClass, rowid: Int64)] {
        var taken: [(itemClass: ItemClass, rowid: Int64)] = []
        do throws(KeychainError) {
            try translating {
                try queue.unsafeRead { db in
                    let rows = try Row.fetchCursor(
                        db, sql: "SELECT class, rowid_was FROM salvaged WHERE file = ?", arguments: [file])
                    while let row = try rows.next() {
                        guard let itemClass = String.fromDatabaseValue(row[0]).flatMap(ItemClass.init(rawValue:)),
                            let rowid = Int64.fromDatabaseValue(row[1])
                        else { continue }
                        taken.append((itemClass, rowid))
                    }
                }
            }
        } catch {
            guard Self.isHole(error) else { throw error }
        }
        return taken
    }

    /// nil where SQLite finds no way to them.
    private func keys(
        _ protectionClass: ProtectionClass, _ table: String
    ) throws(KeychainError) -> [MetadataKeyRecord]? {
        try orNothing(nil) { db in
            // The copies are of a later format than a file may be.
            guard try table != StoreSchema.keysCopy || db.tableExists(table) else { return [] }
            return try Row.fetchAll(
                db, sql: "SELECT gen, wrapped, \"check\" FROM \(table) WHERE class = ?",
                arguments: [Int(protectionClass.number)]
            ).map { MetadataKeyRecord($0) }
        }
    }

    private func orNothing<R>(_ nothing: R, _ body: (Database) throws -> R) throws(KeychainError) -> R {
        do throws(KeychainError) { return try translating { try queue.unsafeRead { try body($0) } } } catch {
            guard Self.isHole(error) else { throw error }
            return nothing
        }
    }

    // MARK: Rows

    /// Visits every row of a class that can be reached, in its table and in
    /// `damaged`, in no certain order; true where nothing was out of reach.
    package func forEachRow(
        of itemClass: ItemClass, _ body: (SealedRow) throws(KeychainError) -> Void
    ) throws(KeychainError) -> Bool {
        let columns = "\(StoreSchema.rowColumns), \(StoreSchema.secretColumns)"
        var table = TableWalk(queue, "\(itemClass.rawValue) NOT INDEXED", key: "rowid", columns, Self.mostProbes)
        try table.run { row throws(KeychainError) in try body(StoreReader.decode(row, true)) }
        var damaged = TableWalk(
            queue, "(SELECT * FROM damaged NOT INDEXED WHERE cause <> 'superseded')", key: "number", DamagedRow.columns,
            Self.mostProbes)
        try damaged.run { row throws(KeychainError) in
            guard let found = DamagedRow(row), found.itemClass == itemClass else { return }
            var sealed = found.row
            // Below zero: apart from the rows of the table, whose numbers are not.
            sealed.rowid = -found.number
            try body(sealed)
        }
        return table.isWhole && damaged.isWhole && !isMended
    }

    /// Reads a table past its holes: forwards from the start, backwards from the
    /// end, and what lies between by halves.
    private struct TableWalk {
        private let queue: DatabaseQueue
        private let select: String
        private let key: String
        private var probesLeft: Int
        private(set) var isWhole = true

        init(_ queue: DatabaseQueue, _ table: String, key: String, _ columns: String, _ mostProbes: Int) {
            self.queue = queue
            self.key = key
            select = "SELECT \(columns), \(key) AS walked FROM \(table)"
            probesLeft = mostProbes
        }

        /// Where one probe ended: at the edge that it was to reach, or before a hole.
        private struct Reach {
            var last: Int64
            var isComplete: Bool
        }

        mutating func run(_ body: (Row) throws(KeychainError) -> Void) throws(KeychainError) {
            // Ranges still to be looked at, without their edges.
            var ranges: [(low: Int64, high: Int64)] = [(.min, .max)]
            while let range = ranges.popLast() {
                guard range.low < .max, range.low + 1 < range.high else { continue }
                guard probesLeft > 1 else {
                    isWhole = false
                    return
                }
                let forwards = try probe(range.low, range.high, ascending: true, body)
                if forwards.isComplete { continue }
                isWhole = false
                let backwards = try probe(forwards.last, range.high, ascending: false, body)
                if backwards.isComplete { continue }
                ranges += Self.halves(forwards.last, backwards.last)
            }
        }

        /// The row next to an edge may be the one that cannot be read; so a gap
        /// shrinks by half with each pair of probes.
        private static func halves(_ low: Int64, _ high: Int64) -> [(low: Int64, high: Int64)] {
            let (width, isTooWide) = high.subtractingReportingOverflow(low)
            if !isTooWide && width <= 2 { return [] }
            let middle = low / 2 + high / 2
            guard middle > low, middle < high else { return [] }
            // The row in the middle is looked at with the lower half.
            return [(middle, high), (low, middle + 1)]
        }

        private mutating func probe(
            _ low: Int64, _ high: Int64, ascending: Bool, _ body: (Row) throws(KeychainError) -> Void
        ) throws(KeychainError) -> Reach {
            probesLeft -= 1
            var reach = Reach(last: ascending ? low : high, isComplete: false)
            var failure: KeychainError?
            do throws(KeychainError) {
                try translating {
                    try queue.unsafeRead { db in
                        let rows = try Row.fetchCursor(
                            db,
                            sql:
                                "\(select) WHERE \(key) > ? AND \(key) < ? ORDER BY \(key) \(ascending ? "ASC" : "DESC")",
                            arguments: [low, high])
                        while let row = try rows.next() {
                            do throws(KeychainError) { try body(row) } catch {
                                failure = error
                                return
                            }
                            reach.last = Int64.fromDatabaseValue(row["walked"]) ?? reach.last
                        }
                        reach.isComplete = true
                    }
                }
            } catch {
                guard StoreRemains.isHole(error) else { throw error }
            }
            if let failure { throw failure }
            return reach
        }
    }
}
