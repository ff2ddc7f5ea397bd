/// Rows that follow from others.
enum ContractRows {
    /// The same call at the largest size against the smallest, on one core.
    static func growth(_ rows: [BenchRow]) -> [BenchRow] {
        ["daemon read, value", "daemon read, attributes only", "daemon add, durable"].compactMap { name in
            let found = rows.filter { $0.name == name && $0.pinning == .same }
                .sorted { ($0.items ?? 0) < ($1.items ?? 0) }
            guard let small = found.first, let large = found.last, small.items != large.items else { return nil }
            var row = BenchRow(
                "\(name), against \(small.items ?? 0) items", items: large.items, .same,
                measured: large.measured, unit: "µs", .ratio)
            row.floor = small.measured
            row.floorIs = "its own figure at \(small.items ?? 0)"
            return row
        }
    }
}
