/// How the columns of a record lie in its bytes
/// (<https://sqlite.org/fileformat2.html>, section 2.1).
struct RecordLayout {
    enum Kind: Hashable {
        case null
        case integer
        case real
        case blob
        case text
    }

    struct Column: Hashable {
        let kind: Kind
        let offset: Int
        let byteCount: Int
        /// A number that takes no bytes (serial types 8 and 9).
        let constant: Int64?
    }

    /// More than any table of ours has.
    private static let mostColumns = 128

    let columns: [Column]

    /// - Parameters:
    ///   - bytes: the start of the record, with all of its header.
    ///   - byteCount: of the whole record.
    /// - Returns: nil for a header that does not describe exactly that many bytes.
    init?(_ bytes: [UInt8], of byteCount: Int) {
        var offset = 0
        guard let headerSize = PageBytes.variable(bytes, &offset), headerSize <= UInt64(bytes.count) else { return nil }
        let end = Int(headerSize)
        var place = end
        var found: [Column] = []
        while offset < end {
            guard found.count < Self.mostColumns, let type = PageBytes.variable(bytes, &offset), offset <= end,
                let column = Self.column(type, at: place), column.byteCount <= byteCount - place
            else { return nil }
            found.append(column)
            place += column.byteCount
        }
        guard offset == end, place == byteCount else { return nil }
        columns = found
    }

    /// nil for a type that is reserved, or too long.
    private static func column(_ type: UInt64, at offset: Int) -> Column? {
        func made(_ kind: Kind, _ byteCount: Int, _ constant: Int64? = nil) -> Column {
            Column(kind: kind, offset: offset, byteCount: byteCount, constant: constant)
        }
        switch type {
        case 0: return made(.null, 0)
        case 1...4: return made(.integer, Int(type))
        case 5: return made(.integer, 6)
        case 6: return made(.integer, 8)
        case 7: return made(.real, 8)
        case 8, 9: return made(.integer, 0, Int64(type) - 8)
        case 10, 11: return nil
        default:
            guard type <= UInt64(Int32.max) * 2 else { return nil }
            return made(type % 2 == 0 ? .blob : .text, Int(type - 12) / 2)
        }
    }
}

/// A record, its columns under the numbers that ``StoreReader/decode(_:_:)`` asks for.
struct PageRecord: Cells {
    let bytes: [UInt8]
    let layout: RecordLayout
    /// Which column of the record stands for each that is asked for.
    let order: [Int]

    private func column(_ number: Int32) -> RecordLayout.Column? {
        let index = Int(number)
        guard order.indices.contains(index), layout.columns.indices.contains(order[index]) else { return nil }
        return layout.columns[order[index]]
    }

    private func content(_ column: RecordLayout.Column) -> ArraySlice<UInt8>? {
        guard column.offset >= 0, column.offset <= bytes.count - column.byteCount else { return nil }
        return bytes[column.offset..<column.offset + column.byteCount]
    }

    func bytes(_ column: Int32) -> [UInt8]? {
        guard let found = self.column(column), found.kind != .null else { return nil }
        return found.kind == .blob || found.kind == .text ? content(found).map { Array($0) } ?? [] : []
    }

    func number(_ column: Int32) -> Int64? {
        guard let found = self.column(column), found.kind == .integer else { return nil }
        if let constant = found.constant { return constant }
        guard let content = content(found), let first = content.first else { return nil }
        // Two's complement, of one to eight bytes.
        return content.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) }
    }

    func text(_ column: Int32) -> String? {
        guard let found = self.column(column), found.kind == .text, let content = content(found) else { return nil }
        return String(validating: content, as: UTF8.self)
    }
}
