internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct InstallCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Have systemd listen for the keychain and start its daemon.",
        discussion: """
            Nobody needs this: programs start latchkeyd by themselves. With it the daemon is a service of your own \
            systemd manager: it runs apart from the program that happened to call first, with fewer rights, \
            and `systemctl --user status latchkeyd` shows it and why a start failed. Its log stays \
            latchkeyd.log in the data folder.

            Writes latchkeyd.socket and latchkeyd.service to $XDG_CONFIG_HOME/systemd/user (or \
            ~/.config/systemd/user), and enables and starts the socket where your manager answers. A file that is \
            there and says something else is kept, its differences are shown and the status is 2; --replace writes \
            over it. Changes of your own belong into a drop-in: systemctl --user edit latchkeyd.service. Where \
            there is no systemd nothing is written and the status is 0. `latchkey uninstall --user` undoes it.

            --secret-service does what `latchkey secret-service enable` does, and nothing else.

            EXAMPLES
              latchkey install --user
              latchkey install --secret-service

            --json writes {"systemd", "files", "written": [FILE], "listening"}: whether there is a systemd, the \
            two files, those that were written now, and whether systemd listens.
            """)

    @Flag(help: "For you alone; nothing else is there.")
    var user = false

    @Flag(help: "Serve desktop programs: `latchkey secret-service enable`.")
    var secretService = false

    @Flag(help: "Write over unit files that say something else.")
    var replace = false

    @Flag(help: "Write what was done as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    mutating func validate() throws {
        guard user != secretService else {
            throw ValidationError(
                "Say --user, or --secret-service: the keychain, its daemon and what it serves are one user's own.")
        }
        if secretService { try SecretServiceCommand.refuse(store) }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        if secretService {
            return try SecretServiceEnableCommand.perform(
                withControl: false, others: replace ? .arePutAside : .stay, json: json, in: surroundings)
        }
        let manager = surroundings.userManager
        guard manager.program != nil else { return try report(nil, [], isListening: false, surroundings.console) }
        let units = try UserUnits.wanted(store.dataDirectory, in: surroundings)
        let written = try write(units)
        let isListening = try start(units, hasChanged: !written.isEmpty, surroundings)
        return try report(units, written, isListening: isListening, surroundings.console)
    }

    /// Those that were not there, or not so; none before it is certain that all may be.
    private func write(_ units: UserUnits) throws(CommandFailure) -> [String] {
        var wanted: [String] = []
        var differences: [String] = []
        for name in UserUnits.names {
            switch try units.state(name) {
            case .same: continue
            case .absent: wanted.append(name)
            case .different(let found):
                wanted.append(name)
                differences += ["\(PrintableText.escaped(units.path(name))) says something else:"]
                differences += units.difference(name, from: found)
            }
        }
        guard replace || differences.isEmpty else {
            throw CommandFailure(
                .usage,
                lines: differences + [
                    "Nothing was changed. Add --replace to write over it; own changes belong into a drop-in (systemctl --user edit)."
                ])
        }
        for name in wanted { try units.write(name) }
        return wanted.map(units.path)
    }

    /// False where no manager answers.
    private func start(
        _ units: UserUnits, hasChanged: Bool, _ surroundings: Surroundings
    ) throws(CommandFailure) -> Bool {
        let (manager, clock) = (surroundings.userManager, surroundings.configuration.clock)
        guard manager.does("daemon-reload", by: clock) else { return false }
        let wasListening = manager.does("is-active", "--quiet", UserUnits.socket, by: clock)
        // A daemon that a program started has the place; clients come back by themselves.
        if !wasListening { endDaemon(surroundings) }
        let turn = wasListening && hasChanged ? "restart" : "start"
        guard manager.does("enable", UserUnits.socket, by: clock), manager.does(turn, UserUnits.socket, by: clock)
        else {
            throw CommandFailure(
                .unavailable, "the units are written, and systemd does not start \(UserUnits.socket)",
                "Look why: systemctl --user status \(UserUnits.socket). Programs go on starting latchkeyd by themselves."
            )
        }
        return true
    }

    private func endDaemon(_ surroundings: Surroundings) {
        let keychain = surroundings.runningKeychain(store.dataDirectory, patience: .seconds(2))
        let process: Int32?
        do throws(KeychainError) {
            process = try keychain.perform(KeychainRequest(.status)).status?.daemonProcess
        } catch { return }
        guard let process, process > 1 else { return }
        do throws(SystemCallError) {
            try ProcessHandle.askToEnd(process)
            _ = try ProcessHandle.waitForEnd(
                of: process, until: Deadline(after: .seconds(5), on: surroundings.configuration.clock))
        } catch {
            // It moves to another place when systemd takes its own.
            return
        }
    }

    private func report(
        _ units: UserUnits?, _ written: [String], isListening: Bool, _ console: any Console
    ) throws(CommandFailure) -> ExitStatus {
        if json {
            let line = JSONValue.object([
                ("systemd", .bool(units != nil)), ("files", .strings(units.map { UserUnits.names.map($0.path) } ?? [])),
                ("written", .strings(written)), ("listening", .bool(isListening)),
            ])
            try printing { () throws(SystemCallError) in try console.write("\(line.text)\n") }
            return .done
        }
        guard let units else {
            console.note("There is no systemd here, and nothing is needed: programs start latchkeyd by themselves.")
            return .done
        }
        for name in UserUnits.names {
            let path = units.path(name)
            console.note("\(written.contains(path) ? "Wrote" : "Already there:") \(PrintableText.escaped(path))")
        }
        console.note(
            isListening
                ? "systemd listens for the keychain now, and starts its daemon for the first program that calls."
                : "No systemd manager of yours answers now. In a session where it does: systemctl --user enable --now \(UserUnits.socket). Until then programs start latchkeyd by themselves."
        )
        console.note("To undo this: latchkey uninstall --user. It keeps the keychain.")
        return .done
    }
}

extension UserUnits {
    /// The units for the store of a command.
    static func wanted(
        _ dataDirectory: String?, in surroundings: Surroundings
    ) throws(CommandFailure) -> UserUnits {
        let configuration = surroundings.configuration.looking(in: dataDirectory.map(surroundings.absolute))
        guard case .store(let locations, _) = configuration.target, let folder = surroundings.userManager.unitFolder
        else {
            throw CommandFailure(
                .usage, "only a keychain of your own can be a service of yours",
                "Run this outside `latchkey temp`, as a user with a home.")
        }
        let program = try asking { () throws(KeychainError) in
            try DaemonProgram.find(in: configuration.programDirectories)
        }
        return try UserUnits(in: folder, program: program, locations, isNamed: dataDirectory != nil)
    }
}
