internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// A daemon of our own on a folder of its own; both go with us, because the
/// daemon wipes its folder and leaves when the pipe that only we hold closes.
final class TemporaryKeychain {
    static let variable = ClientConfiguration.temporaryVariable
    private static let folderPrefix = "latchkey-temp"
    private static let socketPath = "run/\(Rendezvous.socketName)"
    /// How long the daemon may take to leave.
    private static let patience = Duration.seconds(5)

    private let folder: TemporaryFolder
    private let daemon: ChildProcess
    /// The write end of the daemon's pipe; nil once we let go of it.
    private var lifeline: Descriptor?
    private let clock: any KeychainClock

    private init(_ folder: TemporaryFolder, _ daemon: ChildProcess, _ lifeline: Descriptor, _ clock: any KeychainClock)
    {
        self.folder = folder
        self.daemon = daemon
        self.lifeline = lifeline
        self.clock = clock
    }

    /// Absolute path of the socket, for LATCHKEY_TEMP.
    var socket: String { "\(folder.path)/\(Self.socketPath)" }

    // MARK: Start

    static func start(
        entitlements: String?, _ configuration: ClientConfiguration
    ) throws(CommandFailure) -> TemporaryKeychain {
        let program = try asking { () throws(KeychainError) in
            try DaemonProgram.find(in: configuration.programDirectories)
        }
        let folder = try SocketFolder.make(prefix: folderPrefix, for: socketPath)
        do throws(KeychainError) {
            return try launch(program, entitlements, folder, configuration)
        } catch {
            discard(folder)
            guard error.status == .param, entitlements != nil else { throw CommandFailure(error) }
            throw CommandFailure(
                .usage, "the entitlements file cannot be used: \(error.reason.explanation)",
                "Give an XML property list with Apple's keys; see `latchkey temp --help`.")
        }
    }

    private static func launch(
        _ program: String, _ entitlements: String?, _ folder: TemporaryFolder, _ configuration: ClientConfiguration
    ) throws(KeychainError) -> TemporaryKeychain {
        let (keychain, report) = try spawn(program, entitlements, folder, configuration)
        do throws(KeychainError) {
            try DaemonReport.wait(
                on: report, until: Deadline(after: configuration.patience, on: configuration.clock))
        } catch {
            // Without an answer the daemon is not to be relied on to leave.
            keychain.stop()
            throw error
        }
        return keychain
    }

    private static func spawn(
        _ program: String, _ entitlements: String?, _ folder: TemporaryFolder, _ configuration: ClientConfiguration
    ) throws(KeychainError) -> (TemporaryKeychain, report: PacketSocket) {
        var arguments = [
            "--temporary", "--data-dir", folder.path, "--run-dir", "\(folder.path)/run", "--report", "--parent-fd", "4",
        ]
        if let entitlements { arguments += ["--entitlements", entitlements] }
        do throws(SystemCallError) {
            let (ours, theirs) = try PacketSocket.pair()
            let pipe = try PipeEnds()
            let daemon = try ChildProcess.start(
                program, arguments: arguments, environment: ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"],
                third: theirs.descriptor, fourth: pipe.reading)
            return (TemporaryKeychain(folder, daemon, pipe.writing, configuration.clock), ours)
        } catch {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "\(error)")
        }
    }

    /// Gives it its passcode, which goes to its enclave and not to its daemon.
    func set(
        _ passcode: SharedSecret, by reach: (_ dataDirectory: String) -> Result<any PersonDoor, KeychainError>
    ) throws(CommandFailure) {
        try asking { () throws(KeychainError) in try reach(folder.path).get().setPasscode(passcode) }
    }

    // MARK: End

    /// Lets the daemon go, and returns when it and the folder are gone.
    func end() throws(CommandFailure) {
        stop()
        do throws(SystemCallError) { try folder.remove() } catch {
            throw CommandFailure(
                .unavailable, "the temporary keychain could not be removed (\(error))",
                "Remove the folder yourself: \(folder.path)")
        }
    }

    private func stop() {
        lifeline = nil
        // One that is gone already, or that the kernel will not name, is no failure of ours.
        do throws(SystemCallError) { try daemon.end(within: Self.patience, on: clock) } catch { return }
    }

    private static func discard(_ folder: TemporaryFolder) {
        // What could not be started is what is reported; the next `temp` sweeps.
        do throws(SystemCallError) { try folder.remove() } catch { return }
    }
}
