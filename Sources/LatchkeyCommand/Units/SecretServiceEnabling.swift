internal import KeychainClient
internal import KeychainPlatform

/// Has a person's session start our Secret Service, and has it stop.
struct SecretServiceEnabling {
    let units: SecretServiceUnits
    let manager: UserManager
    let clock: any KeychainClock
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

    /// From when on systemd listens for logins.
    enum Listening: Sendable, Hashable {
        case wasNotAskedFor
        case fromNow
        /// Its service runs already: systemd then starts no socket for it.
        case fromNextLogin
        /// No manager answers that could be told.
        case untold
    }

    struct Enabled: Sendable {
        var file = ""
        var written: [String] = []
        var units: [String] = []
        /// Whether systemd runs it.
        var isManaged = false
        var listening = Listening.wasNotAskedFor
        /// Units of gnome-keyring's that systemd starts no more, by us.
        var masked: [UnitMask] = []
        /// In whose place a unit of the person's own is, which stays.
        var unmasked: [UnitMask] = []
    }

    /// Who is to start it.
    private enum Starter {
        case bus
        /// systemd; one that does not answer here and now has our units from before.
        case systemd(folder: String, answers: Bool)

        var folder: String? {
            if case .systemd(let folder, _) = self { folder } else { nil }
        }
    }

    // MARK: There

    /// - Parameter withControl: pam_gnome_keyring finds it at a login.
    /// - Throws: also where another `enable` or `disable` goes on and on; then nothing has been
    ///   changed.
    func enable(withControl: Bool, others: Others) throws(CommandFailure) -> Enabled {
        do throws(DirectoryRefusal) { try PrivateDirectory.make(units.dataHome) } catch {
            throw CommandFailure(.unavailable, "\(error)", "Check the folder and try again.")
        }
        let turn = try turn()
        defer { withExtendedLifetime(turn) {} }
        return try enableInTurn(withControl: withControl, others: others)
    }

    private func enableInTurn(withControl: Bool, others: Others) throws(CommandFailure) -> Enabled {
        let program = try SecretServiceUnits.program(configuration)
        let starter = try starter()
        let unitTurn = try starter.folder.map(makeTurn)
        defer { withExtendedLifetime(unitTurn) {} }
        let isManaged = starter.folder != nil
        let activation = units.activation(of: program, by: isManaged ? .systemd : .bus(withControl: withControl))
        let files = try files(of: program, by: starter, withControl: withControl)
        let starters = [.systemd, .bus(withControl: true), .bus(withControl: false)] as [SecretServiceUnits.Starter]
        let ways = starters.map { units.activation(of: program, by: $0) }
        var state = Enabled(file: activation.path, units: files.map(\.path), isManaged: isManaged)
        let taken = try takenPlaces(files + [activation], ways, in: starter.folder, others)
        var steps = EnablingSteps()
        var theirsListened = false
        do throws(CommandFailure) {
            for path in taken { try steps.putAside(path) }
            for file in files where try file.state() != .same { try steps.write(file) }
            if case .systemd = starter { try mask(&state, &steps) }
            if try activation.state() != .same { try steps.write(activation) }
            // Last: what listens by now stops for it.
            if case .systemd(_, let answers) = starter {
                if answers {
                    theirsListened = withControl && isActive(SecretServiceUnits.gnomeSocket)
                    state.listening = try start(withControl: withControl)
                } else if withControl, files.count == 1 {
                    state.listening = .untold
                }
            }
        } catch {
            let failure = failure(after: error, steps)
            // Unmasked by now.
            if theirsListened { _ = manager.does("start", SecretServiceUnits.gnomeSocket, by: clock) }
            throw failure
        }
        state.written = steps.written.map(\.path)
        SecretServiceName.reload()
        return state
    }

    private func makeTurn(ofUnitsIn folder: String) throws(CommandFailure) -> NamedLock {
        do throws(DirectoryRefusal) { try PrivateDirectory.make(Self.home(of: folder)) } catch {
            throw CommandFailure(.unavailable, "\(error)", "Check the folder and try again.")
        }
        return try turn(ofUnitsIn: folder)
    }

    private func starter() throws(CommandFailure) -> Starter {
        guard let folder = units.unitFolder else { return .bus }
        // Where the bus is no service of the manager's it asks the manager for nobody, and the
        // manager sees no names on it.
        if manager.does("daemon-reload", by: clock), manager.does("is-active", "--quiet", "dbus.socket", by: clock) {
            return .systemd(folder: folder, answers: true)
        }
        // In the session for which they were written they hold still.
        return try units.ownUnits().isEmpty ? .bus : .systemd(folder: folder, answers: false)
    }

    private func files(
        of program: String, by starter: Starter, withControl: Bool
    ) throws(CommandFailure) -> [OwnFile] {
        guard case .systemd(let folder, let answers) = starter else { return [] }
        let service = try units.service(of: program, in: folder)
        let socket = units.socket(in: folder)
        // Only a manager enables one that is not there yet.
        let hasSocket = try OwnFile.isOurs(socket.path, marked: SecretServiceUnits.mark) == true
        return [service] + (withControl && (answers || hasSocket) ? [socket] : [])
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

    /// Has systemd start none of gnome-keyring's units.
    private func mask(_ state: inout Enabled, _ steps: inout EnablingSteps) throws(CommandFailure) {
        for mask in units.masks {
            switch try mask.state() {
            case .absent:
                try steps.set(mask)
                state.masked.append(mask)
            case .masked(let byUs): if byUs { state.masked.append(mask) }
            case .taken: state.unmasked.append(mask)
            }
        }
    }

    private func start(withControl: Bool) throws(CommandFailure) -> Listening {
        let names = [SecretServiceUnits.service] + (withControl ? [SecretServiceUnits.socket] : [])
        var listening = withControl ? Listening.fromNow : .wasNotAskedFor
        var done = manager.does("daemon-reload", by: clock)
        for name in names { done = manager.does("enable", name, by: clock) && done }
        if withControl, !isActive(SecretServiceUnits.socket) {
            if isActive(SecretServiceUnits.service) {
                listening = .fromNextLogin
            } else {
                done = manager.does("start", SecretServiceUnits.socket, by: clock) && done
            }
        }
        guard done else {
            throw CommandFailure(
                .unavailable, "systemd does not take the units",
                "Look why: journalctl --user \(names.map { "-u \($0)" }.joined(separator: " ")).")
        }
        return listening
    }

    private func isActive(_ unit: String) -> Bool { manager.does("is-active", "--quiet", unit, by: clock) }

    // MARK: Taken back

    /// What to say of an `enable` that failed; everything is then as before it.
    private func failure(after failure: CommandFailure, _ steps: EnablingSteps) -> CommandFailure {
        guard !steps.isEmpty else { return failure }
        let new = [SecretServiceUnits.socket, SecretServiceUnits.service].filter(steps.hasMade)
        disableUnits(new)
        var tidying = Tidying()
        removeLinks(of: new, &tidying)
        steps.undo(&tidying)
        if units.unitFolder != nil { _ = manager.does("daemon-reload", by: clock) }
        SecretServiceName.reload()
        guard let left = tidying.failure else {
            return CommandFailure(
                failure.status,
                lines: failure.lines.dropLast() + ["Everything is as it was before."] + failure.lines.suffix(1))
        }
        return CommandFailure(
            failure.status,
            lines: failure.lines + left.lines + ["`latchkey secret-service disable` takes away what is left."])
    }
}
