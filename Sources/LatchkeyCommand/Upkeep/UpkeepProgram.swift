internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// latchkeyd, run for one thing in the foreground: it may open the store's
/// files, which no socket gives away.
struct UpkeepProgram {
    private let configuration: ClientConfiguration

    init(_ surroundings: Surroundings, _ store: StoreOptions) {
        configuration = surroundings.configuration.looking(in: store.dataDirectory.map(surroundings.absolute))
    }

    /// Whether it is a store that we may open by its files.
    var hasOwnStore: Bool {
        if case .store = configuration.target { true } else { false }
    }

    /// - Parameter secret: what the program reads from its standard input; nil: ours.
    func run(
        _ arguments: [String], replacing: Bool, json: Bool, secret: SharedSecret? = nil
    ) throws(CommandFailure) -> ExitStatus {
        guard case .store(let locations, _) = configuration.target else {
            throw CommandFailure(
                .usage, "only a keychain of your own can be backed up and restored",
                "Run this outside `latchkey temp`, or name a folder with --data-dir.")
        }
        let program = try asking { () throws(KeychainError) in
            try DaemonProgram.find(in: configuration.programDirectories)
        }
        let whole =
            [program, "--data-dir", locations.dataDirectory, "--run-dir", locations.runDirectory] + arguments
            + (replacing ? ["--replace"] : []) + (json ? ["--json"] : [])
        do throws(SystemCallError) {
            var input: Descriptor?
            if let secret {
                // Of one line, which a pipe takes whole before anybody reads (pipe(7)).
                let pipe = try PipeEnds()
                try pipe.writing.write(secret.bytes)
                input = pipe.reading
            }
            return ExitStatus(
                rawValue: try ForegroundCommand.run(
                    whole, environment: ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"], input: input))
        } catch {
            throw CommandFailure(
                .unavailable, "latchkeyd cannot be started (\(error))", "Check its mode, then try again.")
        }
    }
}
