package import KeychainClient
package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol

/// What a command finds around it; a test passes its own.
package struct Surroundings: Sendable {
    package var console: any Console
    /// The way to the keychain in a data directory (nil: the user's own).
    package var keychain: @Sendable (_ dataDirectory: String?) -> any KeychainTransport
    package var shield: Shield
    /// Against which relative paths are read.
    package var currentDirectory: String
    /// Where `temp` looks for latchkeyd.
    package var configuration: ClientConfiguration
    /// What `import` and `export` are done by.
    package var transfer: any Transfer
    /// Signalled when `watch` is to end; nil: by SIGINT, SIGTERM or SIGHUP.
    package var watchEnding: EventSignal?
    /// Whether this process has a controlling terminal, to which what a person agrees
    /// to can be tied.
    package var isInTerminalSession: @Sendable () -> Bool = { false }
    /// Where doctor looks for /proc and /sys; tests have a folder of fixtures.
    package var hostRoot = ""
    /// What `install` and `uninstall` write and ask.
    package var userManager = UserManager(units: .usersOwn)
    /// The enclave of a data folder, as a person reaches it.
    package var personDoor: @Sendable (_ dataDirectory: String) -> Result<any PersonDoor, KeychainError>

    package init(
        console: any Console, keychain: @escaping @Sendable (String?) -> any KeychainTransport, shield: Shield,
        currentDirectory: String, configuration: ClientConfiguration, transfer: any Transfer
    ) {
        self.console = console
        self.keychain = keychain
        self.shield = shield
        self.currentDirectory = currentDirectory
        self.configuration = configuration
        self.transfer = transfer
        personDoor = { [clock = configuration.clock] folder in
            Result { () throws(KeychainError) in try RemotePersonDoor.present(inData: folder, clock: clock) }
        }
    }

    /// The user's own.
    package static func system(transfer: any Transfer) -> Surroundings {
        let configuration = ClientConfiguration.user(lookingBesideThisProgram: true)
        var surroundings = Surroundings(
            console: SystemConsole(),
            keychain: { ExplainedKeychain.around(DaemonConnectionPool(configuration.looking(in: $0))) },
            shield: .process, currentDirectory: ProcessEnvironment.currentDirectory ?? removedDirectory,
            configuration: configuration, transfer: transfer)
        surroundings.isInTerminalSession = { Terminal.controlling != nil }
        return surroundings
    }

    /// Where relative paths lead from a working folder that was removed: nowhere, for the
    /// daemon as well, and each failure says why.
    private static let removedDirectory = "/dev/null/(the working folder was removed)"

    func endOfWatch() throws(CommandFailure) -> EventSignal {
        if let watchEnding { return watchEnding }
        do throws(SystemCallError) {
            let signal = try EventSignal()
            try TerminationSignals.notify(signal)
            return signal
        } catch {
            throw CommandFailure(
                .fault, "nothing can be waited for (\(error))", "Close other programs, then try again.")
        }
    }

    /// The way to a keychain that runs already; none is started.
    func runningKeychain(_ dataDirectory: String?, patience: Duration) -> any KeychainTransport {
        var running = configuration.looking(in: dataDirectory.map(absolute))
        if case .store(let locations, _) = running.target { running.target = .store(locations, autostart: false) }
        running.patience = patience
        return DaemonConnectionPool(running)
    }

    /// The folder of a keychain of one's own where none was made yet; nil: it was, or the
    /// keychain is not one's own to look for.
    package func missingKeychain(_ dataDirectory: String?) -> String? {
        configuration.looking(in: dataDirectory.map(absolute)).missingKeychain
    }

    /// For commands that only look: they make no keychain.
    package func requireKeychain(_ dataDirectory: String?) throws(CommandFailure) {
        if let path = missingKeychain(dataDirectory) { throw .noKeychain(at: path) }
    }

    package func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "\(currentDirectory)/\(path)" }
}

/// What a process does to itself before it holds a secret.
package struct Shield: Sendable {
    /// Before anything else.
    package var raise: @Sendable () -> Void
    /// After the hello: before it, the daemon must be able to look at us
    /// (decisions.md, "Who sees what").
    package var close: @Sendable () -> Void

    package init(raise: @escaping @Sendable () -> Void, close: @escaping @Sendable () -> Void) {
        self.raise = raise
        self.close = close
    }

    static let process = Shield(raise: { Hardening.forbidCoreDumps() }, close: { Hardening.becomeNotDumpable() })
    /// For tests, whose process goes on afterwards.
    package static let none = Shield(raise: {}, close: {})
}

extension ClientConfiguration {
    /// A store that --data-dir names stands before everything else.
    func looking(in dataDirectory: String?) -> ClientConfiguration {
        guard let dataDirectory else { return self }
        var named = self
        let run = "\(dataDirectory)/run"
        named.target = .store(KeychainLocations(dataDirectory: dataDirectory, runDirectory: run), autostart: true)
        return named
    }
}
