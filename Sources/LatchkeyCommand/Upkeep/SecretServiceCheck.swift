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
            if isEnabled { findings += starters() + own() }
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
            command: isEnabled ? "kill \(owner.process)   # the next program that asks finds latchkey" : Self.enable,
            mend: .byHand)
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
            let managed = units.activation(of: program, by: .systemd)
            if try managed.state() == .same {
                let provider =
                    try units.unitFolder.map { folder throws(CommandFailure) in
                        try units.provider(in: folder)
                    } ?? nil
                guard let provider, SecretServiceUnits.isOurs(provider: provider) else {
                    return [
                        MachineFinding(
                            what: "\(units.busFile) has systemd start \(SecretServiceUnits.alias), which leads to "
                                + (provider ?? "nothing"),
                            command: "\(Self.enable) --replace", mend: .byHand)
                    ]
                }
                return []
            }
            for control in [false, true]
            where try units.activation(of: program, by: .bus(withControl: control)).state() == .same { return [] }
            return [
                MachineFinding(
                    what: "\(units.busFile) is not what this version writes", command: "\(Self.enable) --replace",
                    mend: .byHand)
            ]
        } catch { return [] }
    }

    // MARK: Other providers

    /// Programs that the bus would start in our place, were our file not there.
    private func others() -> [MachineFinding] {
        let files = HostFiles(root: surroundings.hostRoot)
        let shared = ProcessEnvironment.variable("XDG_DATA_DIRS").flatMap { $0.isEmpty ? nil : $0 }
        let folders = (shared ?? "/usr/local/share:/usr/share").split(separator: ":").map { "\($0)/dbus-1/services" }
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
    private func starters() -> [MachineFinding] {
        let file = "/etc/xdg/autostart/gnome-keyring-secrets.desktop"
        guard let text = HostFiles(root: surroundings.hostRoot).text(file) else { return [] }
        let shownIn = text.split(separator: "\n").first { $0.hasPrefix("OnlyShowIn=") } ?? ""
        let desktops = shownIn.dropFirst("OnlyShowIn=".count).split(separator: ";")
        let here = (ProcessEnvironment.variable("XDG_CURRENT_DESKTOP") ?? "").split(separator: ":")
        guard here.contains(where: desktops.contains), !listensForLogins else { return [] }
        return [
            MachineFinding(
                what: "\(here.joined(separator: ":")) starts gnome-keyring at the login (\(file)), "
                    + "which then has the name",
                command: "\(Self.enable) --control", mend: .byHand)
        ]
    }

    private var listensForLogins: Bool {
        do throws(CommandFailure) {
            return try SecretServiceUnits(surroundings).ownUnits().contains { $0.hasSuffix(SecretServiceUnits.socket) }
        } catch { return false }
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
