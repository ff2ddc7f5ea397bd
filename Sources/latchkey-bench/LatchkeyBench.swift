import Foundation
import KeychainPlatform

/// `make bench`: the real engine, daemon, enclave and command line beside their
/// raw floors, measured by one program in one run. Prints a table, writes
/// bench-results/latest.json, and fails where a row is beyond its limit.
@main
struct LatchkeyBench {
    static func main() {
        do { try run(Array(CommandLine.arguments.dropFirst())) } catch {
            StandardError.write("\(error)\n")
            ProcessEnvironment.exit(1)
        }
    }

    private static func run(_ arguments: [String]) throws {
        let rest = Array(arguments.dropFirst())
        switch arguments.first {
        case "echo":
            guard rest.count == 2, let hops = Int(rest[0]) else { throw BenchFailure("the arguments of echo") }
            try SocketFloor.serve(hops: hops, program: rest[1])
        case "client": try ClientProcess.main(rest)
        case "loop": try CallLoop.main(rest)
        case "store": try printStore(rest)
        case "daemon": try RecordingDaemon.serve(rest)
        case "audit": try printAudit(rest)
        case "spawn": try printSpawned(rest)
        default: try bench(try BenchOptions(arguments))
        }
    }

    /// `store ITEMS`: fills a store where there is none, and says where it is.
    private static func printStore(_ arguments: [String]) throws {
        guard let items = arguments.first.flatMap({ Int($0) }) else { throw BenchFailure("the number of items") }
        let store = try inRunFolder { try FilledStore(items: items, groups: try DaemonUnderBench.groups()) }
        print(store.data, store.groups.joined(separator: ","))
    }

    /// `audit ITEMS`: what the audit record costs a read, alone.
    private static func printAudit(_ arguments: [String]) throws {
        guard let items = arguments.first.flatMap({ Int($0) }) else { throw BenchFailure("the number of items") }
        let rows = try inRunFolder {
            try AuditRows(FilledStore(items: items, groups: try DaemonUnderBench.groups())).rows()
        }
        for row in rows {
            print(row.name, row.pinning?.rawValue ?? "", row.measured ?? 0, row.floor ?? 0, row.judged ?? 0)
        }
    }

    /// `spawn COUNT PROGRAM ARGUMENT…`: the median microseconds of a whole process.
    private static func printSpawned(_ arguments: [String]) throws {
        guard arguments.count > 1, let count = Int(arguments[0]) else { throw BenchFailure("the arguments of spawn") }
        let program = SpawnedProgram(Array(arguments.dropFirst()))
        print(try Measurements(of: [Work("spawn", count: count) { _ in try program.run() }])["spawn"].median)
    }

    private static func bench(_ options: BenchOptions) throws {
        let report = Report(rows: try judged(inRunFolder { try measure(options) }), options)
        report.printTable()
        try report.write()
        guard report.failures.isEmpty else {
            report.failures.forEach { BenchLog.say("beyond the limit of Benchmarks/thresholds.json: \($0)") }
            ProcessEnvironment.exit(1)
        }
    }

    private static func inRunFolder<R>(_ body: () throws -> R) throws -> R {
        _ = try PrivateDirectory(BenchFolder.run, creating: true)
        defer { try? FileManager.default.removeItem(atPath: BenchFolder.run) }
        return try body()
    }

    private static func measure(_ options: BenchOptions) throws -> [BenchRow] {
        let groups = try DaemonUnderBench.groups()
        let oneHop = try SocketFloor(program: BenchFolder.program, hops: 1)
        let twoHops = try SocketFloor(program: BenchFolder.program, hops: 2)
        var rows: [BenchRow] = []
        for items in options.sizes {
            BenchLog.say("\(items) items")
            let size = try BenchSize(items, groups: groups, oneHop, twoHops)
            rows += try size.rows()
            if items == options.sizes.first {
                rows += try ProgramRows(size.store).rows()
                rows += try AuditRows(size.store).rows()
                rows += try ImportRows(size.floor).rows()
                rows += FinderRows().rows()
            }
        }
        if let most = options.sizes.last { rows += try LockRows(items: most, groups: groups).rows() }
        if options.withPeers { rows += try PeerRows(groups, oneHop, twoHops).rows() }
        return rows + ContractRows.growth(rows)
    }

    private static func judged(_ rows: [BenchRow]) throws -> [BenchRow] {
        let thresholds = try Threshold.all()
        return rows.map { row in
            var row = row
            row.threshold = thresholds[row.name]
            return row
        }
    }
}
