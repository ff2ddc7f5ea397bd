internal import KeychainPlatform
internal import KeychainProtocol

/// The two files that have systemd listen for the keychain and start its daemon:
/// systemd.socket(5), systemd.service(5), systemd.exec(5).
struct UserUnits: Sendable {
    static let socket = "latchkeyd.socket"
    static let service = "latchkeyd.service"
    static let names = [socket, service]
    /// What a file of ours begins with; any other is a person's own.
    private static let mark = "# Written by `latchkey install --user`"

    /// systemd.unit(5), "User Unit Search Path".
    let folder: String
    let program: String
    let locations: KeychainLocations
    /// The folder of the socket as systemd has it: `%t` is its XDG_RUNTIME_DIR.
    let runDirectory: String

    /// - Parameter isNamed: the store was named by its folder, where its clients look
    ///   for the socket too.
    /// - Throws: for paths that a unit file cannot hold.
    init(
        in folder: String, program: String, _ locations: KeychainLocations, isNamed: Bool
    ) throws(CommandFailure) {
        self.folder = folder
        self.program = program
        self.locations = locations
        runDirectory = isNamed ? UnitText.literal(locations.dataDirectory) + "/run" : "%t/latchkey"
        let isProgram = UnitText.canHold(program: program)
        guard isProgram, UnitText.canHold(locations.dataDirectory) else {
            let path = isProgram ? locations.dataDirectory : program
            throw CommandFailure(
                .usage, "\(PrintableText.escaped(path)) cannot be written in a unit file",
                "Choose a folder without quotes, backslashes and control characters in its name.")
        }
        // A socket's address has room for 107 bytes (unix(7)).
        guard !isNamed || (locations.dataDirectory + "/run/" + Rendezvous.socketName).utf8.count <= 107 else {
            throw CommandFailure(
                .usage, "the path of the folder is too long for a socket in it", "Choose a folder with a shorter path.")
        }
    }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    // MARK: Content

    func text(_ name: String) -> String { name == Self.socket ? socketText : serviceText }

    private var socketText: String {
        """
        \(Self.mark); `latchkey uninstall --user` removes it.
        [Unit]
        Description=Latchkey keychain
        Documentation=man:latchkey(1)

        [Socket]
        ListenSequentialPacket=\(runDirectory)/\(Rendezvous.socketName)
        SocketMode=0600
        DirectoryMode=0700
        RemoveOnStop=yes

        [Install]
        WantedBy=sockets.target

        """
    }

    /// What a user's manager can do without privileges and without a namespace: a
    /// daemon in a mount, process or user namespace of its own could not tell its
    /// clients apart (THREAT_MODEL.md). The enclave is a child of the service and
    /// lives by the same rules; it ends by itself when its daemon has gone.
    private var serviceText: String {
        """
        \(Self.mark); `latchkey uninstall --user` removes it.
        [Unit]
        Description=Latchkey keychain daemon
        Documentation=man:latchkey(1)
        Requires=\(Self.socket)
        After=\(Self.socket)

        [Service]
        Type=exec
        ExecStart=\(command)
        # The enclave leaves by itself; a daemon that fails does not take it along.
        KillMode=process
        UMask=0077
        LimitCORE=0
        MemorySwapMax=0
        NoNewPrivileges=yes
        LockPersonality=yes
        MemoryDenyWriteExecute=yes
        RestrictAddressFamilies=AF_UNIX
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        SystemCallArchitectures=native
        SystemCallFilter=@system-service
        # By these the programs confine themselves further; no group of systemd 252 has them.
        SystemCallFilter=seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret
        SystemCallErrorNumber=EPERM

        """
    }

    private var command: String {
        let data = UnitText.argument(UnitText.literal(locations.dataDirectory))
        let program = UnitText.quoted(UnitText.literal(program))
        return "\(program) --data-dir \(data) --run-dir \(UnitText.argument(runDirectory))"
    }

    /// Whether the service there is another store's.
    static func serveAnother(than data: String, in folder: String) throws(CommandFailure) -> Bool {
        guard let found = try OwnFile.content("\(folder)/\(service)"), let text = found, text.hasPrefix(mark) else {
            return false
        }
        return !text.contains(" --data-dir \(UnitText.argument(UnitText.literal(data))) ")
    }

    // MARK: What is there

    private func file(_ name: String) -> OwnFile { OwnFile(path(name), text(name), marked: Self.mark) }

    func state(_ name: String) throws(CommandFailure) -> OwnFile.State { try file(name).state() }

    /// Whether `latchkey install` wrote what has that name.
    static func isOurs(_ path: String) throws(CommandFailure) -> Bool? { try OwnFile.isOurs(path, marked: mark) }

    /// Lines of a unit that differ.
    func difference(_ name: String, from found: String?) -> [String] { file(name).difference(from: found) }

    func write(_ name: String) throws(CommandFailure) { try file(name).write() }
}
