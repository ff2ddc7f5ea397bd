internal import Foundation
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainTestSupport

/// The whole: honest clients in eight processes, large values in one, slow requests in one,
/// hostile ones in this.
struct LoadRun {
    private let programs: String
    private let seconds: Int
    private let connections: Int
    private let folder: TemporaryDirectory
    private let keychain: Keychain

    init(programs: String, seconds: Int, connections: Int) throws {
        self.programs = programs
        self.seconds = seconds
        self.connections = connections
        folder = try TemporaryDirectory("load")
        keychain = Keychain(programs: programs, folder: folder.path)
    }

    func run() throws {
        defer { stop() }
        let status = try keychain.status()
        try widen()
        let hostile = HostileClients(keychain: keychain)
        try hostile.openAndDrop(min(connections, 300))
        let before = try Usage(status)
        try hostile.openAndDrop(connections)
        let after = try Usage(status)
        print("\(connections) connections opened and dropped: \(before) before, \(after) after")
        try after.expectNoGrowth(since: before)
        try SlowRequests(keychain: keychain).fill()
        try underFire(hostile)
        let end = try settled(status, atMost: before)
        print("at the end: \(end)")
        try checkLedgers(killing: status.daemonProcess)
        print("load: passed")
    }

    /// A row of which a handful of answers fill a socket.
    private func widen() throws {
        let comment = String(repeating: "c", count: 50_000)
        _ = try keychain.pool.perform(
            KeychainRequest(.add, query: QueryDictionary(Keychain.item("wide") + [("icmt", .string(comment))])))
    }

    private func underFire(_ hostile: HostileClients) throws {
        let others = try ["large", "slow"].map { try start("--\($0)", $0) }
        let clients = try (0..<8).map { try start("--client", "\($0)") }
        let silent = try hostile.neverRead()
        for client in clients + others { client.waitUntilExit() }
        withExtendedLifetime(silent) {}
        guard (clients + others).allSatisfy({ $0.terminationStatus == 0 }) else {
            throw LoadFailure("an honest client had a fault")
        }
    }

    private func start(_ kind: String, _ name: String) throws -> TestProcess {
        let process = TestProcess()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [kind, programs, folder.path, "\(seconds)", name]
        process.standardOutput = FileHandle.standardOutput
        process.standardError = FileHandle.standardError
        try process.run()
        return process
    }

    /// What is left once everybody has gone; a departure is seen a moment later.
    private func settled(_ status: KeychainStatus, atMost before: Usage) throws -> Usage {
        let patience = Deadline(after: .seconds(20), on: SystemClock())
        var usage = try Usage(status)
        // What stays: a connection to the enclave for each worker, and this
        // process's idle ones, eight of either at the most.
        let most = before.daemonSockets + 16
        while usage.daemonSockets > most, !patience.hasPassed { usage = try Usage(status) }
        guard usage.daemonSockets <= most else { throw LoadFailure("sockets are left: \(usage)") }
        return usage
    }

    /// Every acknowledged write is there after a kill, and nothing deleted is.
    private func checkLedgers(killing process: Int32) throws {
        kill(process, SIGKILL)
        var count = 0
        for name in 0..<8 {
            let text = try String(contentsOfFile: "\(folder.path)/ledger-\(name)", encoding: .utf8)
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: " ", maxSplits: 1)
                guard try keychain.value(String(parts[0])) == Array(parts[1].utf8) else {
                    throw LoadFailure("\(parts[0]) is not what was acknowledged")
                }
                count += 1
            }
        }
        print("\(count) acknowledged items are there after a kill")
    }

    private func stop() {
        guard let status = try? keychain.status() else { return }
        kill(status.daemonProcess, SIGTERM)
    }
}

/// What both processes hold.
struct Usage: CustomStringConvertible {
    let daemonSockets: Int
    let daemonKiB: Int
    let enclaveKiB: Int
    let enclaveDescriptors: Int

    init(_ status: KeychainStatus) throws {
        daemonSockets = try Self.descriptors(status.daemonProcess, of: "socket:")
        enclaveDescriptors = try Self.descriptors(status.enclaveProcess, of: "")
        daemonKiB = try Self.writtenKiB(status.daemonProcess)
        enclaveKiB = try Self.writtenKiB(status.enclaveProcess)
    }

    private static func descriptors(_ process: Int32, of kind: String) throws -> Int {
        let folder = "/proc/\(process)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).count {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
            return target?.hasPrefix(kind) ?? false
        }
    }

    /// Without their code, of which they let go now and then.
    private static func writtenKiB(_ process: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// Four MiB are what an allocator may keep.
    func expectNoGrowth(since before: Usage) throws {
        guard daemonKiB <= before.daemonKiB + 4096, enclaveKiB <= before.enclaveKiB + 4096,
            daemonSockets <= before.daemonSockets + 64, enclaveDescriptors <= before.enclaveDescriptors + 8
        else { throw LoadFailure("connections cost memory or descriptors: \(before) before, \(self) after") }
    }

    var description: String {
        "daemon \(daemonKiB) KiB and \(daemonSockets) sockets, enclave \(enclaveKiB) KiB and \(enclaveDescriptors) descriptors"
    }
}
