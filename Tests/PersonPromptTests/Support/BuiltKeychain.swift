import Foundation
import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import PersonPrompt

/// A store of the built latchkeyd and latchkey-enclave, with the passcode 1234, and a
/// terminal for programs that use it.
final class BuiltKeychain: Sendable {
    static let programs = ProcessEnvironment.executableDirectory ?? "."
    static let isWithinReach = FileManager.default.isExecutableFile(atPath: "\(programs)/latchkeyd")

    let terminal: PseudoTerminal
    let locations: KeychainLocations
    let client: DaemonConnectionPool
    /// latchkeyd, then latchkey-enclave.
    let processes: [Int32]
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory("whole-way")
        terminal = try PseudoTerminal()
        locations = KeychainLocations(dataDirectory: folder.path("data"), runDirectory: folder.path("run"))
        client = DaemonConnectionPool(
            ClientConfiguration(target: .store(locations, autostart: true), programDirectories: [Self.programs]))
        guard let status = try client.perform(KeychainRequest(.status)).status else {
            throw CocoaError(.fileReadUnknown)
        }
        processes = [status.daemonProcess, status.enclaveProcess]
        try door().setPasscode(SharedSecret(SecretBytes(copying: Array("1234".utf8))))
    }

    deinit { for process in processes { kill(process, SIGKILL) } }

    func door() throws -> RemotePersonDoor {
        try RemotePersonDoor(runDirectory: locations.runDirectory, process: nil, clock: SystemClock())
    }

    /// fault-client at work, on the terminal.
    func caller(_ what: String = "agree", _ environment: [String: String] = [:]) throws -> Caller {
        let program = "\(Self.programs)/fault-client \(what) \(locations.dataDirectory) \(locations.runDirectory)"
        return try Caller(
            on: terminal, script: "echo $$ >&3; exec \(program)",
            environment.merging(["LANG": "C.UTF-8", "TERM": "xterm"]) { first, _ in first })
    }
}
