package import KeychainModel
package import KeychainPlatform

/// Finds rows in a database that SQLite finds no way through: every page is looked at by itself,
/// as the published format has it (<https://sqlite.org/fileformat2.html>), with its log's.
///
/// SQLite's own `sqlite3_recover` reads through its virtual table `sqlite_dbpage`, which Debian's
/// library is built without, and wants a readable page 1.
///
/// A row is known by the number and the types of its columns; nobody believes it before its seals
/// have opened. What was deleted is no cell of a page any more, and `secure_delete` has
/// overwritten it; pages on the list of free ones are passed over where that list is whole. An
/// older form of a row, in a page that no tree leads to, cannot be told from the newer one here:
/// both are handed out, one after the other.
///
/// Any file is read to its end without a trap; what is kept of it is 16 bytes for each row, a
/// million of them at the most (``isWhole``).
package struct PageScan {
    /// What may be a row.
    private struct Place {
        let rowid: Int64
        let page: UInt32
        let offset: UInt16
        let shape: RowShape
        let form: DatabasePages.Form

        var order: (UInt8, Int64, UInt32, UInt16, UInt8) {
            (shape.rawValue, ~rowid, page, offset, form.rawValue)
        }
    }

    /// What stands at a place.
    package enum Found: Sendable {
        case row(SealedRow)
        /// A part of it is missing.
        case broken
    }

    private static let mostRows = 1 << 20
    /// Each of them is tried by the enclave.
    private static let mostKeys = 1024

    private let pages: DatabasePages
    private var places: [Place] = []
    private var keys: Set<FoundKey> = []
    private var records: [StoreRecord: [UInt8]] = [:]
    /// The number of the last commit of which a line was found; nil: none.
    package private(set) var lastChange: Int64?
    /// Pages of long rows that are still read: four times as many as there are, since those of a
    /// row are nobody else's.
    private var chainPagesLeft: Int
    /// Whether everything that there is was looked at.
    package private(set) var isWhole: Bool

    /// - Parameters:
    ///   - database: nil where it is gone.
    ///   - log: its write-ahead log; nil where there is none.
    ///   - isOver: asked at each frame of the log and at each page; true ends the search.
    package init(
        _ database: Descriptor?, log: Descriptor?, until isOver: () -> Bool
    ) throws(SystemCallError) {
        pages = try DatabasePages(database, log: log, until: isOver)
        isWhole = !pages.isCutShort
        chainPagesLeft = 4 * pages.count
        let free = pages.free(until: isOver)
        var seen: [Place] = []
        var keys: Set<FoundKey> = []
        var records: [StoreRecord: [UInt8]] = [:]
        var lastChange: Int64?
        var isFull = false
        pages.forEach { number, form, page in
            if isOver() { isFull = true }
            if isFull || number == 1 || free.contains(number) { return !isFull }
            Self.look(at: page, number, form, &seen, &keys, &records, &lastChange)
            isFull = seen.count > Self.mostRows
            return !isFull
        }
        if isFull { isWhole = false }
        seen.sort { $0.order < $1.order }
        places = seen
        self.keys = keys
        self.records = records
        self.lastChange = lastChange
    }

    /// What was set aside under a name, with its log; nil where neither is there.
    ///
    /// - Throws: `inputOutput` where the disk refuses both.
    package init?(
        _ name: String, in directory: PrivateDirectory, until isOver: () -> Bool
    ) throws(KeychainError) {
        let database = Self.file(name, in: directory)
        let log = Self.file(name + "-wal", in: directory)
        if database == nil, log == nil { return nil }
        do throws(SystemCallError) {
            do throws(SystemCallError) { try self.init(database, log: log, until: isOver) } catch {
                guard database != nil else { throw error }
                // A log whose header the disk refuses.
                try self.init(database, log: nil, until: isOver)
            }
        } catch {
            throw KeychainError(.io, reason: .inputOutput, underlying: "\(error)")
        }
    }

    /// nil for what is no file, or cannot be opened.
    private static func file(_ name: String, in directory: PrivateDirectory) -> Descriptor? {
        do throws(SystemCallError) {
            let file = try Descriptor.look(at: FilePath(name), in: directory.descriptor, .readingNoLink)
            return try FileStatus(of: file).isRegularFile ? file : nil
        } catch { return nil }
    }

    private static func look(
        at page: [UInt8], _ number: UInt32, _ form: DatabasePages.Form, _ places: inout [Place],
        _ keys: inout Set<FoundKey>, _ records: inout [StoreRecord: [UInt8]], _ lastChange: inout Int64?
    ) {
        guard let (kind, offsets) = PageCell.offsets(in: page) else { return }
        for offset in offsets {
            guard let cell = PageCell(page, at: offset, kind),
                let layout = RecordLayout(cell.local, of: cell.byteCount)
            else { continue }
            if let key = FoundKey(cell, layout, kind) {
                if keys.count < mostKeys { keys.insert(key) }
            } else if let record = FoundRecord(cell, layout, kind) {
                records[record.name] = record.bytes
            } else if let change = FoundChange(cell, layout, kind) {
                lastChange = max(lastChange ?? change.number, change.number)
            } else if kind == .tableLeaf, let shape = RowShape(cell, layout) {
                places.append(
                    Place(
                        rowid: cell.rowid, page: number, offset: UInt16(truncatingIfNeeded: offset), shape: shape,
                        form: form))
            }
        }
    }

    // MARK: What was found

    /// Every metadata key of a class.
    package func metadataKeys(of protectionClass: ProtectionClass) -> [MetadataKeyRecord] {
        keys.filter { $0.number == Int64(protectionClass.number) }.map(\.record)
            .sorted { $0.generation > $1.generation }
    }

    /// The files that this database had not gone through to their end, as far as a page says it
    /// (``StoreRemains/unfinishedPredecessors()``).
    package var unfinishedPredecessors: [String] {
        records[.salvaging] == nil ? [] : records[.predecessor].map { StoreRecord.names(in: $0) } ?? []
    }

    /// Its note that something was missing from it (``StoreRemains/shortfall()``).
    package var shortfall: [UInt8]? { records[.behind] }

    /// Visits what may be rows of a class: of its table, then of `damaged` (their number below zero);
    /// the highest number first, so that what was made later comes before what had its place, and
    /// all forms of one row one after the other.
    ///
    /// - Parameter isWanted: asked before a row is read.
    package mutating func forEachRow(
        of itemClass: ItemClass, where isWanted: (Int64) throws(KeychainError) -> Bool,
        _ body: (Int64, Found) throws(KeychainError) -> Void
    ) throws(KeychainError) {
        for shape in RowShape.shapes(of: itemClass) {
            for place in places[range(of: shape)] {
                let rowid = shape.isDamaged ? 0 &- place.rowid : place.rowid
                guard try isWanted(rowid) else { continue }
                guard var row = row(at: place) else {
                    try body(rowid, .broken)
                    continue
                }
                row.rowid = rowid
                try body(rowid, .row(row))
            }
        }
    }

    private func range(of shape: RowShape) -> Range<Int> {
        first(atLeast: shape.rawValue)..<first(atLeast: shape.rawValue + 1)
    }

    private func first(atLeast shape: UInt8) -> Int {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = low + (high - low) / 2
            if places[middle].shape.rawValue < shape { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func row(at place: Place) -> SealedRow? {
        guard let page = pages.page(place.page, place.form),
            let cell = PageCell(page, at: Int(place.offset), .tableLeaf),
            let layout = RecordLayout(cell.local, of: cell.byteCount)
        else { return nil }
        chainPagesLeft -= min(chainPagesLeft, cell.overflowCount)
        guard cell.overflowCount == 0 || chainPagesLeft > 0 else {
            isWhole = false
            return nil
        }
        guard let bytes = cell.payload(in: pages, place.form) else { return nil }
        let record = PageRecord(bytes: bytes, layout: layout, order: place.shape.order)
        var row = StoreReader.decode(record, true)
        row.rowid = cell.rowid
        return row
    }
}
