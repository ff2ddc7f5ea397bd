internal import KeychainClient
internal import KeychainPlatform
internal import KeychainProtocol

/// What has a person's session start our Secret Service, as files: one by which the bus
/// starts it (D-Bus Specification 0.43, "Message Bus Starting Services (Activation)"), and
/// two units of systemd.
///
/// The unit has our own name, and stands for whoever provides org.freedesktop.secrets by an
/// alias, so that another provider's unit can have its place; the bus's file names the alias.
/// No file of another provider has a name of ours, but for the bus's own in the person's
/// folder, which is put aside and brought back.
struct SecretServiceUnits: Sendable {
    static let service = "latchkey-secret-service.service"
    static let socket = "latchkey-secret-service.socket"
    /// systemd's name for what the bus asks it to start.
    static let alias = "dbus-\(SecretServiceName.bus).service"
    static let mark = "# Written by `latchkey secret-service enable`"
    private static let firstLine = "\(mark); `latchkey secret-service disable` removes it."

    /// Who starts it for whoever asks the bus.
    enum Starter: Sendable, Hashable {
        /// The bus itself. It is the one that listens for logins, too, once somebody has asked.
        case bus(withControl: Bool)
        /// systemd, whose unit of that alias runs it.
        case systemd
    }

    /// The person's XDG_DATA_HOME, or what stands for it.
    let dataHome: String
    /// The bus looks here before it looks at what the system has.
    let busFile: String
    /// Of systemd's user manager; nil for a user without a home.
    let unitFolder: String?
    /// Where the person's folders are elsewhere than usual: systemd's manager need not have
    /// it from their session.
    private let variables: [(name: String, value: String)]

    init(_ surroundings: Surroundings) throws(CommandFailure) {
        // The folder of the data folder is XDG_DATA_HOME.
        guard case .store(let locations, _) = surroundings.configuration.target,
            let end = locations.dataDirectory.lastIndex(of: "/")
        else {
            throw CommandFailure(
                .usage, "only a keychain of your own can serve your session",
                "Run this outside `latchkey temp`, as a user with a home.")
        }
        dataHome = String(locations.dataDirectory[..<end])
        busFile = "\(dataHome)/dbus-1/services/\(SecretServiceName.bus).service"
        unitFolder = surroundings.userManager.unitFolder
        variables = ["XDG_DATA_HOME", "XDG_CONFIG_HOME"].compactMap { name in
            ProcessEnvironment.variable(name).flatMap { $0.hasPrefix("/") ? (name, $0) : nil }
        }
    }

    static func program(_ configuration: ClientConfiguration) throws(CommandFailure) -> String {
        let program = try PrivateSecretService.find(configuration)
        guard program.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"\"'\\$`%".utf8.contains($0) }) else {
            throw CommandFailure(
                .usage, "\(PrintableText.escaped(program)) cannot be written in a service file",
                "Install it in a folder without spaces, quotes and control characters in its name.")
        }
        return program
    }

    // MARK: What they say

    func activation(of program: String, by starter: Starter) -> OwnFile {
        let how =
            switch starter {
            case .bus(let withControl): "Exec=\(program)\(withControl ? " --control" : "")"
            // A bus that asks no systemd takes the first line alone.
            case .systemd: "Exec=\(program)\nSystemdService=\(Self.alias)"
            }
        let text = """
            \(Self.firstLine)
            [D-BUS Service]
            Name=\(SecretServiceName.bus)
            \(how)

            """
        return OwnFile(busFile, text, marked: Self.mark)
    }

    /// - Throws: for folders that a unit file cannot hold.
    func service(of program: String, in folder: String) throws(CommandFailure) -> OwnFile {
        for (name, value) in variables where !UnitText.canHold(value) {
            throw CommandFailure(
                .usage, "\(name) (\(PrintableText.escaped(value))) cannot be written in a unit file",
                "Choose a folder without control characters in its name.")
        }
        let text = Self.serviceText(program, variables)
        return OwnFile("\(folder)/\(Self.service)", "\(Self.firstLine)\n\(text)", marked: Self.mark)
    }

    func socket(in folder: String) -> OwnFile {
        OwnFile("\(folder)/\(Self.socket)", "\(Self.firstLine)\n\(Self.socketText)", marked: Self.mark)
    }

    /// Less is taken from it than from the daemon: it starts latchkey-prompt, and that a
    /// pinentry with the libraries of a display.
    static func serviceText(_ program: String, _ variables: [(name: String, value: String)]) -> String {
        let environment = variables.map { name, value in
            "Environment=\(UnitText.quoted(UnitText.literal("\(name)=\(value)")))\n"
        }
        return """
            [Unit]
            Description=Latchkey as \(SecretServiceName.bus)
            Documentation=man:latchkey(1)

            [Service]
            Type=dbus
            BusName=\(SecretServiceName.bus)
            ExecStart="\(program)"
            \(environment.joined())# Whoever asked the bus waits no longer than this.
            TimeoutStartSec=15
            # What it starts, the daemon and its enclave, goes on without it.
            KillMode=process
            UMask=0077
            LimitCORE=0
            MemorySwapMax=0
            NoNewPrivileges=yes
            LockPersonality=yes
            # A prompt's display may be another machine's.
            RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
            RestrictNamespaces=yes
            RestrictRealtime=yes
            RestrictSUIDSGID=yes
            SystemCallArchitectures=native
            SystemCallFilter=@system-service
            # By these the daemon confines itself further; no group of systemd 252 has them.
            SystemCallFilter=seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret
            SystemCallErrorNumber=EPERM

            [Install]
            Alias=\(alias)

            """
    }

    /// Where pam_gnome_keyring looks. gnome-keyring's own unit listens there as well, and
    /// whoever comes second would take the other's place: systemd has one of them listen, and
    /// ``UnitMask`` has it be ours at a login.
    private static let socketText = """
        [Unit]
        Description=Login passwords for Latchkey, from pam_gnome_keyring
        Documentation=man:latchkey(1)
        Conflicts=\(gnomeSocket)
        After=\(gnomeSocket)

        [Socket]
        ListenStream=%t/keyring/control
        SocketMode=0600
        DirectoryMode=0700
        RemoveOnStop=yes

        [Install]
        WantedBy=sockets.target

        """

    static let gnomeSocket = "gnome-keyring-daemon.socket"

    // MARK: What is there

    /// Units that are there, by us, in the order in which they are taken away.
    func ownUnits() throws(CommandFailure) -> [String] {
        guard let unitFolder else { return [] }
        var found: [String] = []
        for name in [Self.socket, Self.service] {
            let path = "\(unitFolder)/\(name)"
            if try OwnFile.isOurs(path, marked: Self.mark) == true { found.append(path) }
        }
        return found
    }

    /// What systemd starts by, where our units are enabled: the alias, and what has it listen.
    static func links(in folder: String) -> (alias: String, listening: String) {
        ("\(folder)/\(alias)", "\(folder)/sockets.target.wants/\(socket)")
    }

    /// Links to units of ours that are no more.
    func danglingLinks() throws(CommandFailure) -> [String] {
        guard let unitFolder else { return [] }
        let links = Self.links(in: unitFolder)
        do throws(SystemCallError) {
            var found: [String] = []
            for path in [links.alias, links.listening] where try leadsNowhere(FilePath(path)) { found.append(path) }
            return found
        } catch {
            throw CommandFailure(
                .unavailable, "the links in \(PrintableText.escaped(unitFolder)) cannot be read (\(error))",
                "Check its mode and its folders.")
        }
    }

    private func leadsNowhere(_ path: FilePath) throws(SystemCallError) -> Bool {
        let own = [Self.service, Self.socket].map { Array($0.utf8) }
        guard case .link(let target) = try FileLink.look(at: path), own.contains(Array(target.name)) else {
            return false
        }
        do throws(SystemCallError) {
            _ = try FileStatus(at: path, followingLink: true)
            return false
        } catch {
            guard error.isNoSuchFile else { throw error }
            return true
        }
    }

    /// What keeps gnome-keyring's units from being started.
    var masks: [UnitMask] {
        unitFolder.map { folder in UnitMask.ofGnomeKeyring.map { UnitMask(name: $0, folder: folder) } } ?? []
    }

    /// What the alias leads to; nil where there is none.
    func provider(in folder: String) throws(CommandFailure) -> String? {
        do throws(SystemCallError) {
            let target = try Descriptor.look(at: FilePath(folder), .folder).linkTarget(FilePath(Self.alias))
            return target.printable ?? Self.alias
        } catch {
            if error.isNoSuchFile { return nil }
            // A file in place of a link is somebody's, too.
            return Self.alias
        }
    }

    static func isOurs(provider: String) -> Bool { provider == service || provider.hasSuffix("/\(service)") }
}
