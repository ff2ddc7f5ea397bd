/// Rows of names, as a table for a person or as fields for a program.
struct TextTable: Sendable {
    enum Reader: Sendable {
        case person
        case program
    }

    let heading: [String]
    let rows: [[String]]

    /// Every line ends in a newline; nothing where there are no rows.
    func text(for reader: Reader) -> String {
        guard !rows.isEmpty else { return "" }
        let rows = rows.map { $0.map(PrintableText.escaped) }
        switch reader {
        case .program: return rows.map { $0.joined(separator: "\t") + "\n" }.joined()
        case .person: return Self.aligned([heading] + rows)
        }
    }

    /// What is wider moves its own row aside, and no other.
    private static let widest = 40

    private static func aligned(_ rows: [[String]]) -> String {
        let widths = rows[0].indices.map { column in
            rows.map { TextColumns.count($0[column]) }.filter { $0 <= widest }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, field) in row.enumerated() where row[column...].contains(where: { !$0.isEmpty }) {
                line += (column == 0 ? "" : "  ") + field
                if row[(column + 1)...].contains(where: { !$0.isEmpty }) {
                    line += String(repeating: " ", count: max(0, widths[column] - TextColumns.count(field)))
                }
            }
            return line + "\n"
        }.joined()
    }
}
