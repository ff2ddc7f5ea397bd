import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainServices

/// `make bench`: the real daemon and enclave beside their raw floors, measured
/// by one program in one run. Prints a table, writes bench-results/latest.json,
/// and fails where a ratio exceeds its threshold.
@main
struct LatchkeyBench {
    static let items = 1000
    static let reads = 20_000
    static let adds = 2000

    static func main() throws {
        if CommandLine.arguments.dropFirst().first == "echo" { return try SocketFloor.echo(3) }
        let program = CommandLine.arguments[0].hasPrefix("/")
            ? CommandLine.arguments[0] : FileManager.default.currentDirectoryPath + "/" + CommandLine.arguments[0]
        let folder = NSTemporaryDirectory() + "latchkey-bench-\(ProcessEnvironment.processID)"
        _ = try PrivateDirectory(folder, creating: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        do {
            let comparisons = try measure(program, folder)
            try Report.write(comparisons)
            guard comparisons.allSatisfy(\.isWithin) else { throw BenchFailure("a threshold") }
        } catch {
            StandardError.write("\(error)\n")
            try? FileManager.default.removeItem(atPath: folder)
            exit(1)
        }
    }

    private static func measure(_ program: String, _ folder: String) throws -> [Comparison] {
        let thresholds = try Report.thresholds()
        let hop = try SocketFloor(program: program).measure(count: reads)
        let floor = try StoreFloor(path: folder + "/floor.db", rows: items)
        let select = try floor.measureSelect(count: reads)
        let insert = try floor.measureInsert(count: adds)
        let open = try StoreFloor.measureOpen(count: reads)
        let daemon = try DaemonUnderBench(folder, beside: program)
        defer { daemon.stop() }
        try daemon.fill(items)
        let readFloor = 2 * hop.median + select.median + 3 * open.median
        return [
            Comparison(
                name: "daemon read, value (transport)", measured: try daemon.measureRead(reads), floor: readFloor,
                floorIs: "2 round trips + select + 3 opens", threshold: thresholds["daemon read, value (transport)"]),
            Comparison(
                name: "daemon read, value (SecItemCopyMatching)", measured: try daemon.measureDoorRead(reads),
                floor: readFloor, floorIs: "2 round trips + select + 3 opens",
                threshold: thresholds["daemon read, value (SecItemCopyMatching)"]),
            Comparison(
                name: "daemon read, attributes only", measured: try daemon.measureAttributes(reads),
                floor: hop.median + select.median + open.median, floorIs: "1 round trip + select + 1 open",
                threshold: thresholds["daemon read, attributes only"]),
            Comparison(
                name: "daemon add, durable", measured: try daemon.measureAdd(adds),
                floor: insert.median + 2 * hop.median, floorIs: "raw insert + 2 round trips",
                threshold: thresholds["daemon add, durable"]),
            Comparison(name: hop.name, measured: hop, floor: hop.median, floorIs: "itself", threshold: nil),
            Comparison(name: select.name, measured: select, floor: select.median, floorIs: "itself", threshold: nil),
            Comparison(name: insert.name, measured: insert, floor: insert.median, floorIs: "itself", threshold: nil),
            Comparison(name: open.name, measured: open, floor: open.median, floorIs: "itself", threshold: nil),
        ]
    }
}
