import Foundation
import KeychainPlatform

/// `latchkey import` of ten thousand rows, its whole process, beside SQLite alone
/// inserting as many sealed rows in commits of fifty.
struct ImportRows {
    private static let count = 10_000
    private static let rowsOfACommit = 50
    private static let runs = 3

    private let floor: StoreFloor

    init(_ floor: StoreFloor) { self.floor = floor }

    func rows() throws -> [BenchRow] {
        try Pinning.free.pinClient()
        let file = BenchFolder.run + "/rows.csv"
        try Data(Self.text.utf8).write(to: URL(fileURLWithPath: file))
        var (imported, inserted): ([Double], [Double]) = ([], [])
        for run in 0..<Self.runs {
            imported.append(try imports(file, into: BenchFolder.run + "/import-\(run)"))
            inserted.append(try rate { try floor.insert(Self.count, inCommitsOf: Self.rowsOfACommit) })
            try floor.tidy()
        }
        var row = BenchRow(
            "importing 10 000 rows, rows/s", items: Self.count, .free, measured: Measurement(samples: imported).median,
            unit: "rows/s", .gain)
        row.floor = Measurement(samples: inserted).median
        row.floorIs = "SQLite alone, sealed rows in commits of 50"
        return [row]
    }

    private static var text: String {
        "name,url,username,password,note\n"
            + (0..<count).map { "Site \($0),https://host\($0).example/login,user\($0),password \($0),\n" }.joined()
    }

    private func rate(_ body: () throws -> Void) throws -> Double {
        let clock = SystemClock()
        let start = clock.monotonic
        try body()
        return Double(Self.count) / (clock.monotonic - start).seconds
    }

    /// Rows a second, into a store of its own. The daemon is up before: its start
    /// has a row of its own.
    private func imports(_ file: String, into data: String) throws -> Double {
        let daemon = try DaemonUnderBench(data)
        defer { daemon.stop() }
        let program = SpawnedProgram([BenchFolder.programs + "/latchkey", "import", "--data-dir", data, file])
        return try rate { try program.run() }
    }
}
