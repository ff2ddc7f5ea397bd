internal import KeychainClient
internal import KeychainPlatform

/// Has a person's session start our Secret Service, and has it stop.
struct SecretServiceEnabling {
    private let units: SecretServiceUnits
    private let manager: UserManager
    private let clock: any KeychainClock
    private let configuration: ClientConfiguration

    init(_ surroundings: Surroundings) throws(CommandFailure) {
        units = try SecretServiceUnits(surroundings)
        manager = surroundings.userManager
        configuration = surroundings.configuration
        clock = configuration.clock
    }

    /// Of whose name is added what was at the place of a file of ours.
    static let aside = ".before-latchkey"

    /// Whether a file of the person's, or of another provider, gives way.
    enum Others: Sendable {
        case stay
        case arePutAside
    }

    struct Enabled: Sendable {
        var file = ""
        var written: [String] = []
        var units: [String] = []
        /// Whether systemd runs it.
        var isManaged = false
    }

    // MARK: There

    /// - Parameter withControl: pam_gnome_keyring finds it at a login.
    func enable(withControl: Bool, others: Others) throws(CommandFailure) -> Enabled {
        let program = try SecretServiceUnits.program(configuration)
        // Where no manager answers now the bus starts it: it needs none.
        let folder = manager.does("daemon-reload", by: clock) ? units.unitFolder : nil
        var files = folder.map { [units.service(of: program, in: $0)] } ?? []
        if let folder, withControl { files.append(units.socket(in: folder)) }
        let starters = [.systemd, .bus(withControl: true), .bus(withControl: false)] as [SecretServiceUnits.Starter]
        let wanted = folder == nil ? SecretServiceUnits.Starter.bus(withControl: withControl) : .systemd
        let activation = units.activation(of: program, by: wanted)
        let ways = starters.map { units.activation(of: program, by: $0) }
        var state = Enabled(file: activation.path, units: files.map(\.path), isManaged: folder != nil)
        let taken = try takenPlaces(files + [activation], ways, in: folder, others)
        for path in taken { try putAside(path) }
        // The bus's file last: whom it names is there then.
        for file in files where try file.state() != .same {
            try file.write()
            state.written.append(file.path)
        }
        if folder != nil { try start(withControl: withControl) }
        if try activation.state() != .same {
            try activation.write()
            state.written.append(activation.path)
        }
        SecretServiceName.reload()
        return state
    }

    /// What stands at the places of ours and is somebody else's.
    ///
    /// - Throws: where that is to stay; then nothing has been changed.
    private func takenPlaces(
        _ files: [OwnFile], _ ways: [OwnFile], in folder: String?, _ others: Others
    ) throws(CommandFailure) -> [String] {
        var taken: [String] = []
        var differences: [String] = []
        for file in files {
            guard case .different(let found) = try file.state() else { continue }
            // Ours of another way to be started is no person's.
            var isWay = false
            for way in ways where way.path == file.path { isWay = try way.state() == .same || isWay }
            if isWay { continue }
            if try OwnFile.isOurs(file.path, marked: SecretServiceUnits.mark) == false { taken.append(file.path) }
            differences += ["\(PrintableText.escaped(file.path)) says something else:"] + file.difference(from: found)
        }
        if let folder, let provider = try units.provider(in: folder), !SecretServiceUnits.isOurs(provider: provider) {
            taken.append("\(folder)/\(SecretServiceUnits.alias)")
            differences.append(
                "\(SecretServiceUnits.alias), by which systemd starts whoever provides \(SecretServiceName.bus), leads to "
                    + PrintableText.escaped(provider))
        }
        if case .stay = others, !differences.isEmpty {
            throw CommandFailure(
                .usage,
                lines: differences + [
                    "Nothing was changed. Add --replace to have ours there; what is another's is kept beside it, and `disable` brings it back."
                ])
        }
        return taken
    }

    private func putAside(_ path: String) throws(CommandFailure) {
        do throws(SystemCallError) { _ = try FileMove.move(path, to: path + Self.aside) } catch {
            throw CommandFailure(
                .unavailable, "\(PrintableText.escaped(path)) cannot be put aside (\(error))",
                "Look at \(PrintableText.escaped(path + Self.aside)): it is there from before, or its folder cannot be written."
            )
        }
    }

    private func start(withControl: Bool) throws(CommandFailure) {
        let names = [SecretServiceUnits.service] + (withControl ? [SecretServiceUnits.socket] : [])
        var done = manager.does("daemon-reload", by: clock)
        for name in names { done = manager.does("enable", name, by: clock) && done }
        if withControl { done = manager.does("start", SecretServiceUnits.socket, by: clock) && done }
        guard done else {
            throw CommandFailure(
                .unavailable, "the units are written, and systemd does not take them",
                "Look why: systemctl --user status \(names.joined(separator: " ")). `latchkey secret-service disable` takes them away."
            )
        }
    }

    // MARK: And back

    struct Disabled: Sendable {
        let file: String
        /// Of the bus's file: whether it was ours; nil: nothing is there.
        var wasOurs: Bool?
        var removed: [String] = []
        var restored: [String] = []
    }

    func disable() throws(CommandFailure) -> Disabled {
        var state = Disabled(file: units.busFile)
        state.wasOurs = try OwnFile.isOurs(units.busFile, marked: SecretServiceUnits.mark)
        let own = try units.ownUnits()
        if !own.isEmpty {
            // Where no manager answers nothing runs by it either.
            _ = manager.does("disable", "--now", SecretServiceUnits.socket, by: clock)
            _ = manager.does("disable", SecretServiceUnits.service, by: clock)
        }
        let gone = own + (state.wasOurs == true ? [units.busFile] : [])
        do throws(SystemCallError) {
            for path in gone where try FileRemoval.remove(FilePath(path)) { state.removed.append(path) }
            if !own.isEmpty { try removeLinks() }
            for path in [units.busFile] + (units.unitFolder.map(restorable) ?? []) {
                if try restore(path) { state.restored.append(path) }
            }
        } catch {
            throw CommandFailure(
                .unavailable, "a file cannot be taken away (\(error))",
                "Check the folders of \(gone.map(PrintableText.escaped).joined(separator: " ")) and try again.")
        }
        if !own.isEmpty { letOthersListen(hadSocket: own.contains { $0.hasSuffix(SecretServiceUnits.socket) }) }
        if !state.removed.isEmpty || !state.restored.isEmpty { SecretServiceName.reload() }
        return state
    }

    private func restorable(in folder: String) -> [String] {
        [SecretServiceUnits.service, SecretServiceUnits.socket, SecretServiceUnits.alias].map { "\(folder)/\($0)" }
    }

    /// Of `enable`, where no manager took them away.
    private func removeLinks() throws(SystemCallError) {
        guard let folder = units.unitFolder else { return }
        let listening = "\(folder)/sockets.target.wants"
        _ = try FileRemoval.remove(FilePath("\(listening)/\(SecretServiceUnits.socket)"))
        try FileRemoval.removeIfEmpty(FilePath(listening))
        let provider: String?
        do throws(CommandFailure) { provider = try units.provider(in: folder) } catch { return }
        if let provider, SecretServiceUnits.isOurs(provider: provider) {
            _ = try FileRemoval.remove(FilePath("\(folder)/\(SecretServiceUnits.alias)"))
        }
    }

    /// What was at the place before; what stands there by now stays.
    private func restore(_ path: String) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) { return try FileMove.move(path + Self.aside, to: path) } catch {
            if error.isAlreadyThere { return false }
            throw error
        }
    }

    /// gnome-keyring's socket, which ours had systemd stop.
    private func letOthersListen(hadSocket: Bool) {
        _ = manager.does("daemon-reload", by: clock)
        guard hadSocket, manager.does("is-enabled", "--quiet", SecretServiceUnits.gnomeSocket, by: clock) else {
            return
        }
        _ = manager.does("start", SecretServiceUnits.gnomeSocket, by: clock)
    }
}
