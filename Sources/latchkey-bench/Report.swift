import Foundation

/// The table, the file, and the thresholds that are checked in.
enum Report {
    static func thresholds() throws -> [String: Double] {
        let path = FileManager.default.currentDirectoryPath + "/Benchmarks/thresholds.json"
        return try JSONDecoder().decode([String: Double].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    static func write(_ comparisons: [Comparison]) throws {
        print("figure (median µs of one run)".padded(44), "median".padded(9), "p99".padded(9), "floor".padded(9), "ratio".padded(7), "limit")
        for row in comparisons {
            print(
                row.name.padded(44), number(row.measured.median).padded(9), number(row.measured.percentile(0.99)).padded(9),
                number(row.floor).padded(9), number(row.ratio).padded(7),
                row.threshold.map { number($0) + (row.isWithin ? "" : "  EXCEEDED") } ?? "-")
        }
        let folder = FileManager.default.currentDirectoryPath + "/bench-results"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let rows = comparisons.map { row -> [String: Any] in
            [
                "name": row.name, "median_us": row.measured.median, "p99_us": row.measured.percentile(0.99),
                "floor_us": row.floor, "floor": row.floorIs, "ratio": row.ratio, "within": row.isWithin,
            ]
        }
        try JSONSerialization.data(withJSONObject: rows, options: [.prettyPrinted, .sortedKeys])
            .write(to: URL(fileURLWithPath: folder + "/latest.json"))
    }

    private static func number(_ value: Double) -> String { String(format: value < 100 ? "%.2f" : "%.0f", value) }
}

extension String {
    fileprivate func padded(_ width: Int) -> String { padding(toLength: max(width, count), withPad: " ", startingAt: 0) }
}
