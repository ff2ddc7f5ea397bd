import Foundation

/// The table, and the file from which the plot is made.
struct Report {
    private let rows: [BenchRow]
    private let options: BenchOptions

    init(rows: [BenchRow], _ options: BenchOptions) {
        self.rows = rows
        self.options = options
    }

    /// The rows beyond their limit, in words.
    var failures: [String] {
        rows.filter { !$0.isWithinLimit }.map { row in
            let place = [row.items.map { "\($0) items" }, row.pinning?.rawValue].compactMap { $0 }.joined(
                separator: ", ")
            return
                "\(row.name) (\(place)): \(row.judged.map(Self.number) ?? ""), limit \(row.limit.map(Self.number) ?? "")"
        }
    }

    func printTable() {
        var table = TextTable(["row", "items", "where", "measured", "p99", "floor", "judged", "budget", "limit", ""])
        for row in rows { table.add(Self.cells(row)) }
        print(table.text)
        let missed = rows.filter { $0.meetsBudget == false }
        print("\(missed.count) rows miss their budget; \(rows.count { !$0.isWithinLimit }) are beyond their limit.")
    }

    private static func cells(_ row: BenchRow) -> [String] {
        let judged = row.judged.map { number in
            switch row.judgement {
            case .ratio, .gain: "\(Self.number(number)) ×"
            case .excess: "+\(Self.number(number)) µs"
            case .figure: ""
            }
        }
        let verdict = row.isWithinLimit ? (row.meetsBudget == false ? "over budget" : "") : "BEYOND THE LIMIT"
        return [
            row.name, row.items.map { "\($0)" } ?? "", row.pinning?.rawValue ?? "",
            row.measured.map { Self.number($0) + (row.unit.isEmpty ? "" : " \(row.unit)") } ?? "-",
            row.p99.map(Self.number) ?? "",
            row.floor.map(Self.number) ?? "", judged ?? "", row.budget.map(Self.number) ?? "",
            row.limit.map(Self.number) ?? "",
            [verdict, row.floorIs.isEmpty ? "" : "floor: \(row.floorIs)", row.remark].filter { !$0.isEmpty }
                .joined(separator: "; "),
        ]
    }

    private static func number(_ value: Double) -> String {
        String(format: value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value)
    }

    // MARK: The file

    func write() throws {
        try FileManager.default.createDirectory(atPath: BenchFolder.results, withIntermediateDirectories: true)
        let content: [String: Any] = [
            "date": ISO8601DateFormatter().string(from: Date()), "machine": Machine.description,
            "sizes": options.sizes, "rows": rows.map(Self.object),
        ]
        try JSONSerialization.data(withJSONObject: content, options: [.prettyPrinted, .sortedKeys])
            .write(to: URL(fileURLWithPath: BenchFolder.results + "/latest.json"))
    }

    private static func object(_ row: BenchRow) -> [String: Any] {
        let optional: [String: Any?] = [
            "items": row.items, "pinning": row.pinning?.rawValue, "measured": row.measured, "p99": row.p99,
            "floor": row.floor, "judged": row.judged, "budget": row.budget, "limit": row.limit,
            "meets_budget": row.meetsBudget,
        ]
        var object = optional.compactMapValues { $0 }
        object["name"] = row.name
        object["unit"] = row.unit
        object["judgement"] = row.judgement.rawValue
        object["floor_is"] = row.floorIs
        object["remark"] = row.remark
        object["within_limit"] = row.isWithinLimit
        return object
    }
}
