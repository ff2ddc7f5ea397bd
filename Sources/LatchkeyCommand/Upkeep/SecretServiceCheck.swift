internal import KeychainClient
internal import KeychainPlatform
internal import KeychainProtocol
internal import SecretServiceReach

/// What stands between desktop programs and our Secret Service.
struct SecretServiceCheck {
    let surroundings: Surroundings

    private static let enable = "latchkey secret-service enable"

    func findings() -> [MachineFinding] {
        let owner = SecretServiceName.owner()
        let isEnabled = isEnabled
        var findings = owner.map { [finding($0)] } ?? []
        if isEnabled || owner?.isOurs == true {
            findings += others()
            findings += PasswordStore.ofThisSession?.findings ?? []
            if isEnabled { findings += starters() + keePassXC() + own() + unseenFile(owner) }
        }
        return findings + policy()
    }

    private func finding(_ owner: SecretServiceName.Owner) -> MachineFinding {
        guard !owner.isOurs else {
            return MachineFinding(
                what: "whoever is on your session bus sees the group latchkey and the collections of "
                    + "org.freedesktop.secrets, which process \(owner.process) serves: the bus does not tell programs apart",
                command: nil, mend: .byHand)
        }
        return MachineFinding(
            what: "\(owner.text) serves desktop programs as org.freedesktop.secrets; what they store is not here",
            command: isEnabled ? Self.ending(owner) : Self.enable, mend: .byHand)
    }

    /// KWallet takes the name whenever a program opens a wallet before another asks for it; its
    /// own switch keeps it from that (kwalletd 5.97, "apiEnabled").
    private static func ending(_ owner: SecretServiceName.Owner) -> String {
        let kill = "kill \(owner.process)   # the next program that asks finds latchkey"
        guard ["kwalletd5", "kwalletd6"].contains(owner.name), let version = owner.name.last else { return kill }
        let switchedOff = "--file kwalletrc --group \(SecretServiceName.bus) --key apiEnabled false"
        return "kwriteconfig\(version) \(switchedOff) && \(kill)"
    }

    /// Whether the bus's file in the person's own folder is ours.
    private var isEnabled: Bool {
        do throws(CommandFailure) {
            let units = try SecretServiceUnits(surroundings)
            return try OwnFile.isOurs(units.busFile, marked: SecretServiceUnits.mark) == true
        } catch { return false }
    }

    /// Files of ours by which nobody is started, or another than would be now.
    private func own() -> [MachineFinding] {
        do throws(CommandFailure) {
            let units = try SecretServiceUnits(surroundings)
            let program = try SecretServiceUnits.program(surroundings.configuration)
            let again = "\(Self.enable)\(try listens(units) ? " --control" : "") --replace"
            return try outdated(units, program).map { path in
                MachineFinding(what: "\(path) is not what this version writes", command: again, mend: .byHand)
            } + (try isOfSystemd(units, program) ? alias(units, again) : [])
        } catch { return [] }
    }

    /// Of our files those that say something else than they would if they were written now.
    private func outdated(_ units: SecretServiceUnits, _ program: String) throws(CommandFailure) -> [String] {
        var found: [String] = []
        if let folder = units.unitFolder {
            for file in [try units.service(of: program, in: folder), units.socket(in: folder)] {
                guard case .different = try file.state(),
                    try OwnFile.isOurs(file.path, marked: SecretServiceUnits.mark) == true
                else { continue }
                found.append(file.path)
            }
        }
        let starters = [.systemd, .bus(withControl: true), .bus(withControl: false)] as [SecretServiceUnits.Starter]
        for starter in starters where try units.activation(of: program, by: starter).state() == .same { return found }
        return found + [units.busFile]
    }

    private func isOfSystemd(_ units: SecretServiceUnits, _ program: String) throws(CommandFailure) -> Bool {
        try units.activation(of: program, by: .systemd).state() == .same
    }

    /// Where the alias that the bus's file names leads to nobody of ours.
    private func alias(_ units: SecretServiceUnits, _ again: String) throws(CommandFailure) -> [MachineFinding] {
        var provider: String?
        if let folder = units.unitFolder { provider = try units.provider(in: folder) }
        let dangling = try units.danglingLinks().contains { $0.hasSuffix("/\(SecretServiceUnits.alias)") }
        if !dangling, let provider, SecretServiceUnits.isOurs(provider: provider) { return [] }
        return [
            MachineFinding(
                what: "\(units.busFile) has systemd start \(SecretServiceUnits.alias), which leads to "
                    + (provider.map { $0 + (dangling ? ", which is not there" : "") } ?? "nothing"),
                command: again, mend: .byHand)
        ]
    }

    // MARK: Other providers

    /// Programs that the bus would start in our place, were our file not there.
    private func others() -> [MachineFinding] {
        let files = HostFiles(root: surroundings.hostRoot)
        let shared = ProcessEnvironment.variable("XDG_DATA_DIRS").flatMap { $0.isEmpty ? nil : $0 }
        // Others are to be ignored (XDG Base Directory Specification 0.8).
        let folders = (shared ?? "/usr/local/share:/usr/share").split(separator: ":").filter { $0.hasPrefix("/") }
            .map { "\($0)/dbus-1/services" }
        var found: [String] = []
        for folder in folders {
            for name in files.names(folder).sorted() where name.hasSuffix(".service") {
                guard let text = files.text("\(folder)/\(name)") else { continue }
                let lines = text.split(separator: "\n")
                guard lines.contains("Name=\(SecretServiceName.bus)"),
                    let command = lines.first(where: { $0.hasPrefix("Exec=") })
                else { continue }
                let program = command.dropFirst(5).split(separator: " ").first ?? ""
                found.append("\(program) (\(folder)/\(name))")
            }
        }
        guard !found.isEmpty else { return [] }
        return [
            MachineFinding(
                what: "others are installed as org.freedesktop.secrets: \(found.joined(separator: ", ")); "
                    + "the bus starts latchkey-secret-service, unless one of them is there first",
                command: nil, mend: .byHand)
        ]
    }

    /// What starts gnome-keyring at a login, before any program asks the bus.
    private func starters() -> [MachineFinding] { desktopsStarter() + systemdsStarters() }

    /// Of gnome-keyring's package (Desktop Application Autostart Specification).
    static let autostart = "/etc/xdg/autostart/gnome-keyring-secrets.desktop"

    private func desktopsStarter() -> [MachineFinding] {
        let file = Self.autostart
        guard let text = HostFiles(root: surroundings.hostRoot).text(file) else { return [] }
        let shownIn = text.split(separator: "\n").first { $0.hasPrefix("OnlyShowIn=") } ?? ""
        let desktops = shownIn.dropFirst("OnlyShowIn=".count).split(separator: ";")
        let here = (ProcessEnvironment.variable("XDG_CURRENT_DESKTOP") ?? "").split(separator: ":")
        guard here.contains(where: desktops.contains) else { return [] }
        let desktop = here.joined(separator: ":")
        let starts = "\(desktop) starts gnome-keyring at the login (\(file)), which then has the name"
        switch listening {
        case .fromTheLogin: return []
        case .nowhere: return [MachineFinding(what: starts, command: "\(Self.enable) --control", mend: .byHand)]
        case .onceStarted:
            return [
                MachineFinding(
                    what: "\(starts), unless something has asked the session bus before", command: Self.early,
                    mend: .byHand)
            ]
        }
    }

    /// Has the bus start us before a desktop begins; with --control its `gnome-keyring-daemon
    /// --start` then finds who listens, and leaves.
    static let early =
        "dbus-send --session --print-reply --dest=\(SecretServiceName.bus) / org.freedesktop.DBus.Peer.Ping   "
        + "# before the desktop begins: what starts it (~/.xsessionrc, ~/.xinitrc) can say this"

    /// Units of gnome-keyring's that nothing masks, where systemd starts ours.
    private func systemdsStarters() -> [MachineFinding] {
        do throws(CommandFailure) {
            let units = try SecretServiceUnits(surroundings)
            guard try !units.ownUnits().isEmpty else { return [] }
            let files = HostFiles(root: surroundings.hostRoot)
            var findings: [MachineFinding] = []
            for mask in units.masks {
                // A unit of the person's own was named by `enable`.
                guard try mask.state() == .absent, files.has("/usr/lib/systemd/user/\(mask.name)"),
                    !files.has("/etc/systemd/user/\(mask.name)")
                else { continue }
                findings.append(
                    MachineFinding(
                        what: "systemd starts \(mask.name) at the login, and gnome-keyring then has the name "
                            + "and the control socket",
                        command: "\(Self.enable)\(try listens(units) ? " --control" : "")", mend: .byHand))
            }
            return findings
        } catch { return [] }
    }

    /// From when on somebody is at the control socket.
    private enum Listening {
        case fromTheLogin
        case onceStarted
        case nowhere
    }

    private var listening: Listening {
        do throws(CommandFailure) { return try listening(try SecretServiceUnits(surroundings)) } catch {
            return .nowhere
        }
    }

    private func listening(_ units: SecretServiceUnits) throws(CommandFailure) -> Listening {
        if try units.ownUnits().contains(where: { $0.hasSuffix(SecretServiceUnits.socket) }) { return .fromTheLogin }
        let lines = try OwnFile.content(units.busFile)??.split(separator: "\n") ?? []
        return lines.contains { $0.hasPrefix("Exec=") && $0.hasSuffix(" --control") } ? .onceStarted : .nowhere
    }

    /// Whether what is enabled has logins find it.
    private func listens(_ units: SecretServiceUnits) throws(CommandFailure) -> Bool {
        try listening(units) != .nowhere
    }

    // MARK: Who may what

    /// What is wrong with the policy, by which nobody may be given anything.
    private func policy() -> [MachineFinding] {
        guard let file = PolicyFile.ofUser() else { return [] }
        let path = file.path
        do throws(PolicyFile.Fault) {
            return try file.policy().namedPrograms.filter { !isThere($0) }.map { program in
                MachineFinding(
                    what: "\(path) names \(program), which is not there: for others nothing changes",
                    command: "ls -l /proc/PID/exe   # shows what a program is called", mend: .byHand)
            }
        } catch {
            return [
                MachineFinding(
                    what: "\(error); until that is mended org.freedesktop.secrets gives nobody anything",
                    command: "man latchkey   # or docs/secret-service-policy.md", mend: .byHand)
            ]
        }
    }

    private func isThere(_ program: String) -> Bool {
        do throws(SystemCallError) {
            return try FileStatus(at: FilePath(surroundings.hostRoot + program), followingLink: true).isRegularFile
        } catch { return !error.isNoSuchFile }
    }
}
