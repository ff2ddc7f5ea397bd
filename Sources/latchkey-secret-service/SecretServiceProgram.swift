internal import ArgumentParser
internal import ForeignKeyrings
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import MessageBus
internal import SecretService
internal import SecretServiceReach

/// `org.freedesktop.secrets` on the session bus.
@main
struct LatchkeySecretService: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey-secret-service",
        abstract: "Serves the keychain as org.freedesktop.secrets; started by the session bus.",
        discussion: """
            It takes the name once the keychain answers, and leaves when the bus ends its connection. A listening \
            stream socket that a service manager hands over (sd_listen_fds(3)) is taken for gnome-keyring's control \
            socket, as with --control, unless --listen is given. Who comes there is answered also where another \
            program has the name, before it leaves.
            """,
        version: LatchkeyVersion.text)

    @Flag(help: "Take the name from a service that allows it.")
    var replace = false

    @Option(
        help: ArgumentHelp(
            "Serve programs that connect to this socket, with no bus between; the folder is yours alone.",
            valueName: "PATH"))
    var listen = ""

    @Flag(
        help: ArgumentHelp(
            "Listen at $XDG_RUNTIME_DIR/keyring/control as well, for pam_gnome_keyring.",
            discussion: "The login password has to have a slot: `latchkey slot add login`."))
    var control = false

    @Option(name: .customLong("socket-fd"), help: .hidden)
    var socket: Int32?

    @Option(name: .customLong("parent-fd"), help: .hidden)
    var parent: Int32?

    /// Writes what another program on the bus has to standard output: for `latchkey import`,
    /// which is linked without libsystemd.
    @Option(name: .customLong("read-out"), help: .hidden)
    var source: ForeignKeyring?

    /// Seconds that a person may take to answer the program whose items they are.
    @Option(name: .customLong("answer-within"), help: .hidden)
    var patience: UInt16 = 300

    /// Seconds that the bus may take to say which program a caller is.
    @Option(name: .customLong("callers-within"), help: .hidden)
    var callerPatience: UInt16 = 25

    func validate() throws {
        guard [socket, parent].allSatisfy({ $0 ?? 3 > 2 }) else { throw ValidationError("descriptors are above 2") }
        guard listen.isEmpty || listen.hasPrefix("/") else { throw ValidationError("--listen is an absolute path") }
        if replace, !listen.isEmpty { throw ValidationError("--replace is for the bus, which --listen goes without") }
    }

    private func serve(_ door: SecretServiceDoor, on bus: SessionBus) throws {
        try door.serve(bus)
        guard try bus.request(SecretServiceNames.bus, replacing: replace) else {
            StandardError.write("latchkey-secret-service: another program is org.freedesktop.secrets here\n")
            throw ExitCode(69)
        }
    }

    /// Whoever started us goes: then nobody knows our socket any more.
    private func follow(_ parent: Int32?, in loop: BusLoop) {
        guard let parent, let pipe = Descriptor.inherited(parent) else { return }
        loop.watch(pipe) { loop.end() }
    }

    /// gnome-keyring's control socket, where nobody else has it.
    private func listenForLogins(_ door: ControlDoor) {
        guard control, let runtime = ProcessEnvironment.variable("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") else {
            return
        }
        do {
            let folder = try PrivateDirectory("\(runtime)/\(ControlDoor.folder)", creating: true)
            // Of one that has ended; of one that is there it is left.
            guard try !StreamListener.isThere(at: "\(folder.path)/\(ControlDoor.name)") else {
                return StandardError.write(
                    "latchkey-secret-service: another program has \(folder.path)/\(ControlDoor.name); where it is "
                        + "gnome-keyring's unit: systemctl --user mask gnome-keyring-daemon.socket\n")
            }
            _ = try folder.remove(ControlDoor.name)
            try door.serve(try StreamListener(at: ControlDoor.name, in: folder.descriptor))
        } catch { Self.tell(error) }
    }

    private static func tell(_ error: any Error) {
        StandardError.write("latchkey-secret-service: pam_gnome_keyring cannot reach us: \(error)\n")
    }

    private func listen(_ door: SecretServiceDoor) throws {
        if let socket {
            guard let inherited = Descriptor.inherited(socket) else { throw ValidationError("--socket-fd is not open") }
            return door.serveDirectly(try StreamListener(owning: inherited))
        }
        guard let slash = listen.lastIndex(of: "/"), slash != listen.startIndex else {
            throw ValidationError("--listen is a socket in a folder")
        }
        let folder = try PrivateDirectory(String(listen[..<slash]), creating: false)
        let name = String(listen[slash...].dropFirst())
        // Of one that has ended; a service that runs there would have nobody come to it any more.
        do {
            guard try FileStatus(at: FilePath(name), in: folder.descriptor, followingLink: false).isSocket else {
                throw ValidationError("\(listen) is something else than a socket")
            }
            _ = try folder.remove(name)
        } catch let error as SystemCallError { guard error.isNoSuchFile else { throw error } }
        door.serveDirectly(try StreamListener(at: name, in: folder.descriptor))
    }

    private func readOut(_ keyring: ForeignKeyring) throws {
        guard !StandardStream.output.isTerminal else {
            throw ValidationError("secrets are not for a terminal: latchkey import --from \(keyring.rawValue)")
        }
        Hardening.forbidCoreDumps()
        Hardening.becomeNotDumpable()
        Hardening.ignoreBrokenPipes()
        let displays = ["DISPLAY", "WAYLAND_DISPLAY"].compactMap(ProcessEnvironment.variable)
        var lines = KeyringLines(to: .output)
        do throws(ReadingFailure) {
            let hasDisplay = displays.contains { !$0.isEmpty }
            try keyring.read(askingFor: hasDisplay ? .seconds(patience) : nil, into: &lines)
        } catch {
            lines.fail(error)
            throw ExitCode.failure
        }
    }

    /// Whether programs connect to a socket of ours in place of a bus.
    private var isDirect: Bool { !listen.isEmpty || socket != nil }

    /// - Parameter logins: who is to listen for them besides.
    private func serve(_ configuration: ClientConfiguration, _ logins: ControlDoor?) throws {
        let loop = BusLoop()
        let door = SecretServiceDoor(
            DaemonConnectionPool(configuration), followedBy: DaemonConnectionPool(configuration.startingNothing),
            in: loop, programDirectories: configuration.programDirectories, policy: PolicyFile.ofUser())
        let bus = try isDirect ? nil : SessionBus.user(patience: .seconds(callerPatience))
        follow(parent, in: loop)
        try door.open()
        if let bus {
            try serve(door, on: bus)
            if let logins { listenForLogins(logins) }
        } else {
            try listen(door)
        }
        ProgramMemory.letGoOfCode()
        try withExtendedLifetime(door) { try loop.run(until: bus) }
    }

    static func main() { main(ProgramArguments.given(to: "latchkey-secret-service")) }

    func run() throws {
        if let source { return try readOut(source) }
        ProgramMemory.openPageMap()
        ProgramMemory.letGoOfUnwrittenData()
        do {
            // Dumpable it stays: the daemon has to see who calls, also after it was started anew.
            Hardening.forbidCoreDumps()
            Hardening.ignoreBrokenPipes()
            let handedOver = try isDirect ? nil : ActivationSocket.takeStream()
            let configuration = ClientConfiguration.user(lookingBesideThisProgram: true)
            let logins = try ControlDoor(DaemonConnectionPool(configuration))
            guard let handedOver else { return try serve(configuration, logins) }
            // Before everything that takes its time, or fails: a login waits.
            try logins.serve(handedOver)
            do { try serve(configuration, nil) } catch {
                // Whoever comes after that has the service manager start us again.
                try logins.waitForQuiet()
                throw error
            }
        } catch let error as ExitCode {
            throw error
        } catch {
            StandardError.write("latchkey-secret-service: \(error)\n")
            throw ExitCode.failure
        }
    }
}

extension ForeignKeyring: ExpressibleByArgument {}
