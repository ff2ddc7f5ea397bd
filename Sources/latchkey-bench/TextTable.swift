/// Columns as wide as their widest cell.
struct TextTable {
    private var rows: [[String]]

    init(_ head: [String]) { rows = [head] }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }
}
