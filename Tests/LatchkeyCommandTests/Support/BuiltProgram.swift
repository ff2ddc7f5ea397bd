import Foundation
import KeychainPlatform
import KeychainTestSupport
import Synchronization
import Testing

/// The real `latchkey`, `latchkeyd` and `latchkey-enclave` that were built
/// beside the tests, in a home of the test's own.
final class BuiltPrograms: Sendable {
    struct Outcome {
        let status: Int32
        let output: Data
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    static let folder = ProcessEnvironment.executableDirectory ?? "."
    static let latchkey = "\(folder)/latchkey"

    let home: String
    let environment: [String: String]

    /// - Parameter runtime: with an XDG_RUNTIME_DIR.
    init(runtime: Bool = false) throws {
        home = "/tmp/lk-e2e-" + Random.bytes(4).map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
        for name in ["", "/data", "/tmp"] + (runtime ? ["/runtime"] : []) {
            try FileManager.default.createDirectory(
                atPath: home + name, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        var environment = [
            "PATH": "\(Self.folder):/usr/bin:/bin", "HOME": home, "XDG_DATA_HOME": home + "/data",
            "XDG_CONFIG_HOME": home + "/config",
            "TMPDIR": home + "/tmp",
        ]
        if runtime { environment["XDG_RUNTIME_DIR"] = home + "/runtime" }
        self.environment = environment
    }

    deinit {
        for process in processes("latchkeyd") + processes("latchkey-enclave") { kill(process, SIGKILL) }
        // What a test leaves behind is no reason to fail it.
        try? FileManager.default.removeItem(atPath: home)
    }

    // MARK: Running

    @discardableResult
    func latchkey(_ arguments: String..., input: Data = Data(), changing: [String: String?] = [:]) throws -> Outcome {
        try run(Self.latchkey, arguments, input: input, changing: changing)
    }

    @discardableResult
    func shell(_ script: String, changing: [String: String?] = [:]) throws -> Outcome {
        try run("/bin/sh", ["-c", script], changing: changing)
    }

    func run(
        _ program: String, _ arguments: [String], input: Data = Data(), changing: [String: String?] = [:]
    ) throws -> Outcome {
        // Files, not pipes: what a program leaves running must not keep us waiting,
        // and a test that wants a pipe makes one in a shell.
        let scratch = "\(home)/" + Random.bytes(8).map { String($0) }.joined(separator: "-")
        try input.write(to: URL(fileURLWithPath: scratch + ".in"))
        for name in [".out", ".err"] { _ = FileManager.default.createFile(atPath: scratch + name, contents: nil) }
        let process = start(program, arguments, changing: changing)
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: scratch + ".in"))
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch + ".out"))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch + ".err"))
        try process.run()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationReason == .uncaughtSignal
                ? -process.terminationStatus : process.terminationStatus,
            output: try Data(contentsOf: URL(fileURLWithPath: scratch + ".out")),
            errors: String(decoding: try Data(contentsOf: URL(fileURLWithPath: scratch + ".err")), as: UTF8.self))
    }

    /// A daemon for which, and for whose enclave, the kernel has no memfd_secret(2).
    func startDaemonWithoutHiddenMemory() throws { try startDaemon(without: "memfd_secret") }

    /// A daemon for which, and for whose enclave, the kernel has no such call.
    func startDaemon(without call: String) throws {
        let data = home + "/data/latchkey"
        let daemon = start(
            "\(Self.folder)/confinement-probe",
            ["without", call, "\(Self.folder)/latchkeyd", "--data-dir", data, "--run-dir", data + "/run"])
        try daemon.run()
        guard Self.eventually({ FileManager.default.fileExists(atPath: data + "/run/keychain.sock") }) else {
            throw CocoaError(.fileNoSuchFile)
        }
    }

    /// A keychain with nothing in it, whose programs run: who only looks makes none.
    func makeKeychain() throws {
        try latchkey("set", "to be removed", input: Data("1".utf8))
        try latchkey("rm", "to be removed", "--yes")
    }

    /// Has the keychain lie as a restore leaves it that was decided and then cut short.
    func cutRestoreShort() throws {
        #expect(try latchkey("lock", "--stop").status == 0)
        let (files, data) = (FileManager.default, home + "/data/latchkey")
        let ready = data + "/restore.ready"
        try files.createDirectory(
            atPath: ready, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        for name in ["keychain.db", "enclave"] {
            try files.moveItem(atPath: "\(data)/\(name)", toPath: "\(ready)/\(name)")
        }
        let number = try files.contentsOfDirectory(atPath: data).count { $0.hasPrefix("replaced-") } + 2
        try Data("replaced-20260101T000000Z-\(number)".utf8).write(to: URL(fileURLWithPath: ready + "/aside"))
    }

    /// A data folder with nothing in it but a file called like a restore that was decided.
    func putFileInRestoresPlace() throws {
        let data = home + "/data/latchkey"
        try FileManager.default.createDirectory(
            atPath: data, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Data("CANARY".utf8).write(to: URL(fileURLWithPath: data + "/restore.ready"))
    }

    func expectFileInRestoresPlaceAlone() throws {
        let data = home + "/data/latchkey"
        #expect(FileManager.default.contents(atPath: data + "/restore.ready") == Data("CANARY".utf8))
        let names = try FileManager.default.contentsOfDirectory(atPath: data)
        let made = ["keychain.db", "enclave", "replaced-"]
        #expect(!names.contains { name in made.contains(where: name.hasPrefix) }, "\(names)")
    }

    /// A process with the test's environment, not run yet.
    func start(_ program: String, _ arguments: [String], changing: [String: String?] = [:]) -> TestProcess {
        let process = TestProcess()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = environment.merging(changing.compactMapValues { $0 }) { $1 }
            .filter { changing[$0.key] != .some(.none) }
        return process
    }

    // MARK: Looking

    /// What `latchkey status --json` says.
    func status(changing: [String: String?] = [:]) throws -> [String: Any] {
        let outcome = try latchkey("status", "--json", changing: changing)
        guard let object = try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any] else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return object
    }

    func daemonProcess(changing: [String: String?] = [:]) throws -> Int32 {
        let daemon = try status(changing: changing)["daemon"] as? [String: Any]
        return (daemon?["pid"] as? NSNumber)?.int32Value ?? 0
    }

    /// Processes that run a program of ours on something in this home.
    func processes(_ name: String) -> [Int32] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        return all.filter { process in
            guard let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline"), !line.isEmpty else {
                return false
            }
            let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            return words.first?.hasSuffix("/\(name)") == true && words.contains { $0.hasPrefix(home) }
        }
    }

    /// Processes of any program that have this home in their environment, by the first 15 bytes
    /// of its name.
    func processes(atHome name: String) -> [Int32] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        return all.filter { process in
            guard let comm = FileManager.default.contents(atPath: "/proc/\(process)/comm"),
                String(decoding: comm, as: UTF8.self) == String(name.prefix(15)) + "\n",
                let variables = FileManager.default.contents(atPath: "/proc/\(process)/environ")
            else { return false }
            return variables.split(separator: 0).contains { String(decoding: $0, as: UTF8.self) == "HOME=\(home)" }
        }
    }

    var temporaryFolders: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: home + "/tmp")) ?? []).filter {
            $0.hasPrefix("latchkey-temp-")
        }
    }

    /// Other processes tell nobody when they are ready: look again in a moment.
    private static func pause() {
        var nothing = pollfd()
        _ = unsafe poll(&nothing, 0, 20)
    }

    /// Whether something comes true within a few seconds.
    static func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
        let deadline = Deadline(after: .seconds(10), on: SystemClock())
        while !deadline.hasPassed {
            if try condition() { return true }
            pause()
        }
        return try condition()
    }
}
