import KeychainPlatform

/// A row of the store as bytes, from which rows of the same sizes are made.
struct StoreFloorRow {
    private enum Cell {
        case null
        case integer(Int64)
        case text([UInt8])
        /// The same in every row: a blind value of what all items share.
        case shared([UInt8])
        /// Different in every row.
        case own(byteCount: Int)
    }

    private let names: [String]
    private let cells: [Cell]
    /// The blind value of the first row's service.
    let service: [UInt8]
    let sizes: (metadata: Int, rowKey: Int, secret: Int)
    /// How many blind values a row has.
    let blindCount: Int

    /// Learns from the first two rows what differs from row to row.
    init(_ db: OpaquePointer?) throws {
        let statement = try unsafe SQLStatement(db, "SELECT * FROM genp ORDER BY rowid LIMIT 2")
        defer { statement.end() }
        guard try statement.step() else { throw BenchFailure("an empty store") }
        let columns = 1..<statement.columnCount
        names = columns.map(statement.name)
        let first = columns.map { statement.blob($0) }
        let kinds = columns.map { Self.cell(statement, $0) }
        guard try statement.step() else { throw BenchFailure("a store with one item") }
        let second = columns.map { statement.blob($0) }
        cells = zip(kinds, zip(first, second)).map { kind, bytes in
            guard case .shared = kind, bytes.0 != bytes.1 else { return kind }
            return .own(byteCount: bytes.0.count)
        }
        let byName = Dictionary(uniqueKeysWithValues: zip(names, first))
        service = byName["b_svce"] ?? []
        blindCount = zip(names, cells).count { name, cell in
            if case .null = cell { return false }
            return name == "pkey" || name.hasPrefix("b_")
        }
        sizes = (
            byName["metadata"]?.count ?? 0, byName["wrapped_key"]?.count ?? 0, byName["secret"]?.count ?? 0
        )
    }

    private static func cell(_ statement: SQLStatement, _ column: Int32) -> Cell {
        if statement.isNull(column) { return .null }
        if statement.isBlob(column) { return .shared(statement.blob(column)) }
        return statement.isText(column) ? .text(statement.blob(column)) : .integer(statement.integer(column))
    }

    var insertion: String {
        let places = Array(repeating: "?", count: names.count).joined(separator: ", ")
        return "INSERT INTO genp (\(names.joined(separator: ", "))) VALUES (\(places))"
    }

    /// A row that is not there yet.
    func bindFresh(to statement: SQLStatement) {
        for (index, cell) in cells.enumerated() {
            let place = Int32(index + 1)
            switch cell {
            case .null: statement.bindNull(at: place)
            case .integer(let number): statement.bind(integer: number, at: place)
            case .text(let bytes): statement.bind(text: bytes, at: place)
            case .shared(let bytes): statement.bind(blob: bytes, at: place)
            case .own(let byteCount): statement.bind(blob: Random.bytes(byteCount), at: place)
            }
        }
    }
}
