import Foundation

/// Resident memory after all that was measured before, and round trips to the
/// enclave as the kernel sees them.
struct MemoryRows {
    private let size: BenchSize
    private let daemon: DaemonUnderBench

    init(_ size: BenchSize, _ daemon: DaemonUnderBench) {
        self.size = size
        self.daemon = daemon
    }

    func rows() throws -> [BenchRow] {
        let matching = Double(min(size.store.items, BenchItem.perService))
        let batches = (matching / 256).rounded(.up)
        var trips = BenchRow(
            "limit-all, enclave round trips per 256 rows", items: size.store.items, measured: nil, unit: "", .figure)
        // The fewest of three: the audit record, which is written each second, has answers of its own.
        let counts = try (0..<3).compactMap { _ in
            try SystemCallCount.sends(of: daemon.enclave) { _ = try daemon.readAll() }
        }
        if let answers = counts.min() {
            trips.measured = Double(answers) / batches
            trips.remark = "\(answers) answers of the enclave for \(Int(matching)) rows (strace)"
        } else {
            trips.remark = "not measured: strace cannot attach here"
        }
        return [
            trips, try resident("daemon, resident", daemon.process), try resident("enclave, resident", daemon.enclave),
        ]
    }

    private func resident(_ name: String, _ process: Int32) throws -> BenchRow {
        var row = BenchRow(
            name, items: size.store.items, measured: try ProcessFigures.residentMemory(of: process), unit: "MiB",
            .figure)
        let parts = try [("own", "RssAnon"), ("files", "RssFile"), ("shared", "RssShmem")].map { word, part in
            "\(word) " + String(format: "%.1f", try ProcessFigures.residentMemory(of: process, part))
        }
        row.remark = parts.joined(separator: ", ")
        return row
    }
}
