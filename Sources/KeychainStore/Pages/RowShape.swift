internal import KeychainModel

/// What tells rows of ours from each other where nothing says of which table they are
/// (``StoreSchema``): how many columns they have, and of which types. No two tables are alike.
struct RowShape: Hashable {
    /// Twice the place of the class in ``ItemClass/stored``, one more in the table `damaged`.
    let rawValue: UInt8

    var isDamaged: Bool { rawValue & 1 == 1 }

    static func shapes(of itemClass: ItemClass) -> [RowShape] {
        guard let index = ItemClass.stored.firstIndex(of: itemClass) else { return [] }
        return [RowShape(rawValue: UInt8(index) * 2), RowShape(rawValue: UInt8(index) * 2 + 1)]
    }

    private init(rawValue: UInt8) { self.rawValue = rawValue }

    private static let columnCounts = ItemClass.stored.map { StoreSchema.columnCount(of: $0) }
    private static let damagedCount = 17

    /// nil for a cell of another table.
    init?(_ cell: PageCell, _ layout: RecordLayout) {
        // The number of a row is its key, and NULL in the record (section 2.1 of the format).
        guard layout.columns.first?.kind == .null else { return nil }
        if let index = Self.columnCounts.firstIndex(of: layout.columns.count), Self.isRow(layout) {
            self.init(rawValue: UInt8(index) * 2)
        } else if layout.columns.count == Self.damagedCount, let index = Self.damagedClass(cell, layout) {
            self.init(rawValue: UInt8(index) * 2 + 1)
        } else {
            return nil
        }
    }

    /// uuid, persistref, fmt, gen, pdmn, sync, tomb in front; pkey and metadata near the end.
    private static func isRow(_ layout: RecordLayout) -> Bool {
        let kinds = layout.columns.map(\.kind)
        return Array(kinds[1..<8]) == [.blob, .blob, .integer, .integer, .text, .integer, .integer]
            && Array(kinds[(kinds.count - 4)..<(kinds.count - 2)]) == [.blob, .blob]
    }

    /// The class that a row of `damaged` names; nil for one whose place a newer item has.
    private static func damagedClass(_ cell: PageCell, _ layout: RecordLayout) -> Int? {
        let record = PageRecord(bytes: cell.local, layout: layout, order: [1, 2])
        guard let cause = record.text(1), cause != "superseded" else { return nil }
        return record.text(0).flatMap(ItemClass.init(rawValue:)).flatMap { ItemClass.stored.firstIndex(of: $0) }
    }

    /// The columns in the order of ``SealedRow``.
    var order: [Int] {
        if isDamaged { return [4, 5, 6, 7, 8, 9, 10, 11, 14, 15, 16] }
        let count = Self.columnCounts[Int(rawValue / 2)]
        return Array(0..<8) + [count - 3, count - 2, count - 1]
    }
}

/// A record of `store` or its second copy, told by two columns, a known name and bytes: every other
/// table of ours with two has bytes or a number in front.
struct FoundRecord {
    let name: StoreRecord
    let bytes: [UInt8]

    /// nil for a cell of another table, or a record that nobody reads from pages.
    init?(_ cell: PageCell, _ layout: RecordLayout, _ kind: PageCell.Kind) {
        guard cell.overflow == 0, kind != .tableLeaf, layout.columns.count == 2, layout.columns[1].kind == .blob else {
            return nil
        }
        let found = PageRecord(bytes: cell.local, layout: layout, order: [0, 1])
        guard let name = found.text(0).flatMap(StoreRecord.init(rawValue:)), let bytes = found.bytes(1) else {
            return nil
        }
        self.name = name
        self.bytes = bytes
    }
}

/// A line of `changes`, told by five columns: NULL, a class, a group or none, and two numbers.
struct FoundChange {
    let number: Int64

    /// nil for a cell of another table.
    init?(_ cell: PageCell, _ layout: RecordLayout, _ kind: PageCell.Kind) {
        let kinds = layout.columns.map(\.kind)
        guard kind == .tableLeaf, cell.overflow == 0,
            kinds == [.null, .text, .blob, .integer, .integer] || kinds == [.null, .text, .null, .integer, .integer]
        else { return nil }
        let record = PageRecord(bytes: cell.local, layout: layout, order: [1])
        guard let name = record.text(0), name.isEmpty || ItemClass(rawValue: name) != nil else { return nil }
        number = cell.rowid
    }
}

/// A record of `metadata_keys` (either copy) or `damaged_keys`, whichever table it is from.
struct FoundKey: Hashable {
    /// Of the protection class.
    let number: Int64
    let record: MetadataKeyRecord

    /// The box and the check value (FORMATS.md, "Metadata keys").
    private static let (boxSize, checkSize) = (60, 16)

    /// nil for a cell of another table.
    init?(_ cell: PageCell, _ layout: RecordLayout, _ kind: PageCell.Kind) {
        guard cell.overflow == 0 else { return nil }
        let order: [Int]
        switch (kind, layout.columns.count) {
        // Until format 3 the class was the number of the row.
        case (.tableLeaf, 4), (.indexLeaf, 4), (.indexInterior, 4): order = [0, 1, 2, 3]
        case (.tableLeaf, 6): order = [1, 3, 4, 5]
        default: return nil
        }
        let found = PageRecord(bytes: cell.local, layout: layout, order: order)
        let isKey = kind == .tableLeaf && layout.columns.count == 4
        guard let number = isKey && layout.columns[0].kind == .null ? cell.rowid : found.number(0),
            let generation = found.number(1).flatMap({ UInt32(exactly: $0) }),
            let wrapped = found.bytes(2), wrapped.count == Self.boxSize,
            let check = found.bytes(3), check.count == Self.checkSize
        else { return nil }
        self.number = number
        record = MetadataKeyRecord(generation: generation, wrapped: wrapped, check: check)
    }
}
