import ArgumentParser
import KeychainDaemon
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Logging
import PeerIdentity

/// The keychain daemon. Clients start it when they need it; nobody has to.
@main
struct Latchkeyd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkeyd",
        abstract: "The Latchkey keychain daemon.",
        discussion: """
            Programs that use the keychain start latchkeyd by themselves; it leaves after ten minutes \
            without a connection. It keeps items in DATA/keychain.db, writes DATA/latchkeyd.log (never a \
            value in it), and starts latchkey-enclave, which alone holds the keys.
            """,
        version: LatchkeyVersion.text)

    @Option(help: "Folder of the store (default: $XDG_DATA_HOME/latchkey or ~/.local/share/latchkey).")
    var dataDir: String?

    @Option(help: "Folder of the socket (default: $XDG_RUNTIME_DIR/latchkey or DATA/run).")
    var runDir: String?

    @Flag(help: "Tell the starter on descriptor 3 when the socket is there.")
    var report = false

    @Flag(help: "A throw-away keychain: the data folder is removed when the parent has gone.")
    var temporary = false

    @Option(help: "Descriptor whose end of file means that the parent of a throw-away keychain has gone.")
    var parentFd: Int32?

    @Option(help: "Property list with the entitlements that every client of a throw-away keychain gets.")
    var entitlements: String?

    @Flag(help: "Write the log to standard error instead of the data folder.")
    var logToStderr = false

    @Option(help: "Write a backup to this file and leave; `latchkey backup` is the way to ask for it.")
    var backup: String?

    @Option(help: "Restore the store from this backup and leave; `latchkey restore` is the way to ask for it.")
    var restore: String?

    @Flag(help: "With --restore: the first line of standard input is the recovery code.")
    var recovery = false

    @Flag(help: "Delete the store and leave; `latchkey uninstall --delete-keychain` asks first.")
    var erase = false

    @Flag(help: "End the store's daemon and enclave and leave; `latchkey lock --stop` locks it first.")
    var stop = false

    @Flag(help: "With --backup: over a file that is there. With --restore: in place of a store with items.")
    var replace = false

    @Flag(help: "With --backup and --restore: say what was done as JSON.")
    var json = false

    static func main() {
        do {
            var command = try parseAsRoot(ProgramArguments.given(to: "latchkeyd"))
            try command.run()
        } catch {
            tellStarter(error)
            exit(withError: error)
        }
    }

    /// A starter hears why nothing was started: of an argument that is refused, of
    /// a property list that cannot be used. What ends with a status was told before.
    private static func tellStarter(_ error: any Error) {
        guard ProgramArguments.given?.contains("--report") == true, !(error is ExitCode),
            exitCode(for: error) != .success
        else { return }
        let refusal =
            error as? KeychainError
            ?? KeychainError(.notAvailable, reason: .startRefused(why: message(for: error)))
        do throws(FrameError) {
            try StarterReport.send(
                refusal, on: PacketSocket(owning: Descriptor(owning: 3)),
                until: Deadline(after: .seconds(5), on: SystemClock()))
        } catch {
            StandardError.write("latchkeyd: the starter is gone: \(error)\n")
        }
    }

    func run() throws {
        // First: the next descriptor that is opened must not be taken for it.
        let handedOver = Result { () throws(ActivationSocket.Refusal) in try ActivationSocket.take() }
        Hardening.ignoreBrokenPipes()
        Hardening.ignoreFileSizeSignal()
        ProgramMemory.openPageMap()
        try Hardening.apply()
        Hardening.raiseDescriptorLimit()
        ProgramMemory.shareArenas()
        if let status = try upkeep() { throw ExitCode(status) }
        var configuration = try daemonConfiguration()
        configuration.activation = try activation(handedOver)
        let starter = report ? PacketSocket(owning: Descriptor(owning: 3)) : nil
        try confine(&configuration)
        let sink = logSink(configuration.locations)
        let logger = Logger(label: "latchkeyd") { _ in DaemonLog(sink) }
        switch DaemonProcess(configuration, logger: logger, report: starter).run() {
        case .served, .notNeeded: return
        case .failed(let error):
            StandardError.write("latchkeyd: \(error)\n")
            throw ExitCode(69)  // sysexits.h EX_UNAVAILABLE
        }
    }

    /// From here on this process starts nothing by itself: before there are other
    /// threads, and before anything secret is there that the spawner would have a copy of.
    private func confine(_ configuration: inout DaemonConfiguration) throws {
        // What was needed to come here is not, in what is forked.
        ProgramMemory.letGoOfCode()
        ProgramMemory.letGoOfUnwrittenData()
        let spawner = try ProgramSpawner(for: configuration.startable)
        configuration.spawner = spawner
        configuration.asker = PromptProgram(
            programDirectories: programDirectories, dataDirectory: configuration.locations.dataDirectory,
            clock: SystemClock(), by: spawner)
        configuration.confined = Confinement.ofDaemon.enter(.all)
    }

    /// The socket that a service manager gave us, nil where a program started us.
    private func activation(
        _ handedOver: Result<PacketSocket?, ActivationSocket.Refusal>
    ) throws -> PacketSocket? {
        let socket: PacketSocket?
        do throws(ActivationSocket.Refusal) { socket = try handedOver.get() } catch {
            StandardError.write("latchkeyd: \(error)\n")
            throw ExitCode(69)  // sysexits.h EX_UNAVAILABLE
        }
        guard socket == nil || !report && !temporary else {
            throw ValidationError("--report and --temporary do not go with a socket from LISTEN_FDS")
        }
        return socket
    }

    /// Nil where this is to be a daemon.
    private func upkeep() throws -> Int32? {
        let tasks = [backup != nil, restore != nil, erase, stop].filter { $0 }.count
        guard tasks > 0 else { return nil }
        guard tasks == 1, !temporary, !report else {
            throw ValidationError("--backup, --restore, --erase and --stop stand alone")
        }
        guard !recovery || restore != nil else { throw ValidationError("--recovery goes with --restore") }
        let upkeep = Upkeep(configuration: try daemonConfiguration(), replacing: replace, json: json)
        if erase { return upkeep.erase() }
        if stop { return upkeep.stop() }
        if let backup { return upkeep.backup(to: backup) }
        return restore.map { upkeep.restore(from: $0, takesCode: recovery) }
    }

    private func daemonConfiguration() throws -> DaemonConfiguration {
        let standard = try standardLocations()
        let data = standard.dataDirectory
        let run = runDir ?? standard.runDirectory
        guard data.hasPrefix("/"), run.hasPrefix("/") else {
            throw ValidationError("folders are named by absolute paths")
        }
        var configuration = DaemonConfiguration(
            locations: KeychainLocations(dataDirectory: data, runDirectory: run), features: try KernelFeatures.probed(),
            clock: SystemClock(), programDirectories: programDirectories)
        configuration.isTemporary = temporary
        if let parentFd {
            guard temporary, parentFd > 2 else { throw ValidationError("--parent-fd goes with --temporary") }
            configuration.parent = Descriptor(owning: parentFd)
        }
        if temporary { configuration.rights = .fixed(try temporaryRights()) }
        return configuration
    }

    /// A named folder needs no home: users of containers often have none.
    private func standardLocations() throws -> KeychainLocations {
        if let dataDir { return KeychainLocations(dataDirectory: dataDir, runDirectory: dataDir + "/run") }
        guard let standard = KeychainLocations.user() else {
            throw ValidationError("this user has no home; name a folder with --data-dir")
        }
        return standard
    }

    /// Beside ourselves first, then where packages put it.
    private var programDirectories: [String] {
        [ProcessEnvironment.executableDirectory, "/usr/libexec/latchkey", "/usr/local/libexec/latchkey"].compactMap {
            $0
        }
    }

    /// Without a file every client has the command line's group, so that a
    /// program and the command line see the same items (decisions.md).
    private func temporaryRights() throws -> Entitlements {
        guard let entitlements else {
            var rights = Entitlements()
            rights.keychainAccessGroups = [AccessGroup.latchkey.name]
            // As programs have it that no sandbox holds: for the Secret Service.
            rights.nameableGroups = [AccessGroup.secretService.name]
            return rights
        }
        return try EntitlementFile.entitlements(in: PrivateFile.readAll(entitlements, atMost: 1 << 20))
    }

    private func logSink(_ locations: KeychainLocations) -> LogSink {
        guard !logToStderr else { return LogSink() }
        do throws(DirectoryRefusal) {
            return LogSink(in: try PrivateDirectory(locations.dataDirectory, creating: true))
        } catch {
            return LogSink()
        }
    }
}
