internal import KeychainClient
internal import KeychainPlatform

/// A latchkey-secret-service of our own, on a socket of its own; it goes with us, because
/// it leaves when the pipe that only we hold closes.
final class PrivateSecretService {
    /// D-Bus Specification 0.43, "Well-known Message Bus Instances".
    static let variable = "DBUS_SESSION_BUS_ADDRESS"
    static let program = "latchkey-secret-service"
    private static let socket = "bus"
    /// How long it may take to leave.
    private static let patience = Duration.seconds(5)

    private let folder: TemporaryFolder
    private let service: ChildProcess
    private var lifeline: Descriptor?
    private let clock: any KeychainClock

    private init(
        _ folder: TemporaryFolder, _ service: ChildProcess, _ lifeline: Descriptor, _ clock: any KeychainClock
    ) {
        (self.folder, self.service, self.lifeline, self.clock) = (folder, service, lifeline, clock)
    }

    /// Every byte of the folder's name can stand in an address as it is: TMPDIR may have others.
    var address: String { "unix:path=" + Self.escaped("\(folder.path)/\(Self.socket)") }

    /// D-Bus Specification 0.43, "Server Addresses": other bytes stand as % and two digits.
    static func escaped(_ path: String) -> String {
        let plain = Set("-_/.\\*0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        return path.utf8.map { byte in
            plain.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }

    static func find(_ configuration: ClientConfiguration) throws(CommandFailure) -> String {
        let paths = configuration.programDirectories.map { "\($0)/\(program)" }
        if let path = paths.first(where: { TrustedPath.isExecutableOfOurs($0) }) { return path }
        for path in paths {
            guard let refusal = TrustedPath.refusal(of: path), refusal != .noProgram else { continue }
            throw CommandFailure(
                .unavailable, "\(path) is not started: \(refusal)",
                "Whoever can write it or a folder above decides what it is: make them yours, or root's.")
        }
        throw CommandFailure(
            .unavailable, "\(program) is not installed", "It comes with `make install`, where libsystemd is.")
    }

    static func start(_ configuration: ClientConfiguration) throws(CommandFailure) -> PrivateSecretService {
        let program = try find(configuration)
        let folder = try SocketFolder.make(prefix: "latchkey-bus", for: socket)
        do throws(SystemCallError) {
            // It listens before the command starts, whenever the service takes what comes.
            let listener = try StreamListener(at: socket, in: folder.directory.descriptor)
            let pipe = try PipeEnds()
            let service = try ChildProcess.start(
                program, arguments: ["--socket-fd", "3", "--parent-fd", "4"],
                environment: ProcessEnvironment.variables, third: listener.descriptor, fourth: pipe.reading)
            return PrivateSecretService(folder, service, pipe.writing, configuration.clock)
        } catch {
            // The next one sweeps what cannot be removed now.
            do throws(SystemCallError) { try folder.remove() } catch {}
            throw CommandFailure(
                .unavailable, "\(Self.program) cannot be started (\(error))", "Look at `latchkey doctor`.")
        }
    }

    func end() throws(CommandFailure) {
        lifeline = nil
        do throws(SystemCallError) {
            try service.end(within: Self.patience, on: clock)
            try folder.remove()
        } catch {
            throw CommandFailure(
                .unavailable, "\(Self.program) could not be ended (\(error))",
                "Remove the folder yourself: \(folder.path)")
        }
    }
}
