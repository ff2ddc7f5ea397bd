import Foundation
import KeychainPlatform

/// gnome-keyring beside ours: the same items, the same calls, each through its own
/// C-shaped API, on whatever processors the scheduler gives both.
struct PeerRows {
    private let groups: [String]
    private let oneHop: SocketFloor
    private let twoHops: SocketFloor

    init(_ groups: [String], _ oneHop: SocketFloor, _ twoHops: SocketFloor) {
        self.groups = groups
        self.oneHop = oneHop
        self.twoHops = twoHops
    }

    private static let sizes = [(items: 1000, reads: 1000, adds: 60), (items: 10_000, reads: 400, adds: 12)]

    /// What scripts/bench-peer prints, in microseconds.
    private struct Peer: Decodable {
        let read_us: Double
        let add_us: Double
        let secret_tool_us: Double
        let resident_mib: Double
    }

    func rows() throws -> [BenchRow] {
        var rows: [BenchRow] = []
        for (items, reads, adds) in Self.sizes {
            BenchLog.say("gnome-keyring, \(items) items")
            let peer = try Self.peer([items, reads, adds])
            rows += try beside(peer, items)
        }
        return rows
    }

    private static func peer(_ arguments: [Int]) throws -> Peer {
        let script = Process()
        script.executableURL = URL(fileURLWithPath: FileManager.default.currentDirectoryPath + "/scripts/bench-peer")
        script.arguments = arguments.map { "\($0)" }
        let output = Pipe()
        script.standardOutput = output
        try script.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        script.waitUntilExit()
        guard script.terminationStatus == 0 else { throw BenchFailure("scripts/bench-peer") }
        return try JSONDecoder().decode(Peer.self, from: said)
    }

    private func beside(_ peer: Peer, _ items: Int) throws -> [BenchRow] {
        let size = try BenchSize(items, groups: groups, oneHop, twoHops)
        let daemon = try DaemonUnderBench(size.store.data)
        defer { daemon.stop() }
        try daemon.pin(.free)
        let get = try ProgramRows(size.store).get(daemon)
        let measured = try Measurements(of: [
            Work("read", count: 4000) { try BenchItem.readThroughDoor(BenchItem.scattered($0, of: items)) },
            Work("add", count: 400) { _ in try daemon.add() }, Work("get", count: 100) { _ in try get.run() },
        ])
        try daemon.tidy()
        return [
            row("read, against gnome-keyring", items, peer.read_us, measured["read"], "libsecret lookup"),
            row("add, against gnome-keyring", items, peer.add_us, measured["add"], "libsecret store"),
            row("secret-tool lookup, against latchkey get", items, peer.secret_tool_us, measured["get"], "secret-tool"),
            BenchRow("gnome-keyring, resident", items: items, measured: peer.resident_mib, unit: "MiB", .figure),
        ]
    }

    /// How many times as long the peer takes.
    private func row(_ name: String, _ items: Int, _ peer: Double, _ ours: Measurement, _ what: String) -> BenchRow {
        var row = BenchRow(name, items: items, .free, measured: peer, unit: "µs", .gain)
        row.floor = ours.median
        row.floorIs = "ours; measured: \(what)"
        return row
    }
}
