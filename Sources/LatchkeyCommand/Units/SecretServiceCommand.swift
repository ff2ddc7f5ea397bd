internal import ArgumentParser
internal import KeychainClient
internal import KeychainPlatform
internal import KeychainProtocol

struct SecretServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret-service",
        abstract: "Serve desktop programs as org.freedesktop.secrets, in place of gnome-keyring.",
        discussion: """
            secret-tool, git-credential-libsecret, Python's keyring and whatever else uses Secret Service then keep \
            their secrets here. The session bus starts latchkey-secret-service for the first program that asks.

            Whoever is on your session bus sees every item of every collection, as with gnome-keyring: the bus \
            does not tell programs apart. The default collection is where `latchkey set` stores; \
            `latchkey get SERVICE ACCOUNT` finds what such programs store, and they find what you did.

            `$XDG_CONFIG_HOME/latchkey/secret-service.policy` (or below ~/.config) keeps collections and schemas for the \
            programs that it names: "schema com.example.Kept /usr/bin/secret-tool", "collection work nobody".

            Where the keychain is locked, a prompt on the program's own terminal or display asks for the passcode; \
            where there is neither, the program is told at once. `latchkey unlock` opens it for all.

            Other providers stay installed: `enable` writes files of your own, and `disable` takes them away. \
            `latchkey doctor` says who has the name.

            Where there is no session bus, `latchkey secret-service exec -- COMMAND` serves one command.
            """,
        subcommands: [
            SecretServiceEnableCommand.self, SecretServiceDisableCommand.self, SecretServiceExecCommand.self,
        ])

    /// A session has one service, and that the keychain of whoever has the session.
    static func refuse(_ store: StoreOptions) throws {
        guard store.dataDirectory != nil else { return }
        throw ValidationError(
            "The session bus starts it for the keychain of the session, which XDG_DATA_HOME names; "
                + "leave out --data-dir.")
    }
}

struct SecretServiceEnableCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Have the session bus start it for whoever asks.",
        discussion: """
            Writes $XDG_DATA_HOME/dbus-1/services/org.freedesktop.secrets.service (or below ~/.local/share), which \
            comes before what the system has there, so that gnome-keyring, KeePassXC or KWallet stay installed and \
            as they are. Where your systemd manager answers, latchkey-secret-service.service is written to \
            ~/.config/systemd/user too, with fewer rights, and enabled: it is then what \
            dbus-org.freedesktop.secrets.service stands for. There gnome-keyring-daemon.service and \
            gnome-keyring-daemon.socket, which start gnome-keyring at a login and would take the name first, are \
            masked by links to /dev/null (systemctl(1)); a unit of your own of such a name stays. That goes for \
            gnome-keyring's PKCS#11 store as well.

            --control has it listen at $XDG_RUNTIME_DIR/keyring/control as well, from the login on where there is a \
            systemd manager: the stock pam_gnome_keyring then opens the keychain with the login password (`latchkey \
            slot add login`), follows `passwd`, and starts no gnome-keyring. The sessions of GNOME and MATE do so \
            themselves without it, and gnome-keyring then has the name. A service that runs already is named: \
            it does not listen before it is started anew.

            A program that serves the name already keeps it until it ends: the command says which, and how it is \
            ended. What another wrote at the place of such a file is kept unless --replace is given; then it lies \
            beside it, and `disable` brings it back. `latchkey install --secret-service` is another name for this.

            --json writes {"file", "written", "owner", "process", "units": [FILE], "managed", "masked": [FILE]}: the \
            bus's file, whether anything was written now, who has the name (null: nobody, or no bus answers) and its \
            process, the unit files, whether systemd starts it, and the links to /dev/null.
            """)

    @Flag(help: "Have pam_gnome_keyring find it at a login, too.")
    var control = false

    @Flag(help: "Put aside what says something else.")
    var replace = false

    @Flag(help: "Write what was done as JSON.")
    var json = false

    /// Taken only to be refused in plain words.
    @OptionGroup(visibility: .hidden) var store: StoreOptions

    mutating func validate() throws { try SecretServiceCommand.refuse(store) }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try Self.perform(
            withControl: control, others: replace ? .arePutAside : .stay, json: json, in: surroundings)
    }

    static func perform(
        withControl control: Bool, others: SecretServiceEnabling.Others, json: Bool, in surroundings: Surroundings
    ) throws(CommandFailure) -> ExitStatus {
        let enabling = try SecretServiceEnabling(surroundings)
        let state = try enabling.enable(withControl: control, others: others)
        let owner = SecretServiceName.owner()
        let console = surroundings.console
        if json {
            let line = JSONValue.object([
                ("file", .string(state.file)), ("written", .bool(!state.written.isEmpty)),
                ("owner", JSONValue(owner?.name)), ("process", owner.map { .integer(Int64($0.process)) } ?? .null),
                ("units", .strings(state.units)), ("managed", .bool(state.isManaged)),
                ("masked", .strings(state.masked.map(\.path))),
            ])
            try printing { () throws(SystemCallError) in try console.write("\(line.text)\n") }
            return .done
        }
        for path in state.units + [state.file] {
            console.note("\(state.written.contains(path) ? "Wrote" : "Already there:") \(PrintableText.escaped(path))")
        }
        for line in notes(on: state, withControl: control, owner) { console.note(line) }
        if !control || !state.isManaged,
            HostFiles(root: surroundings.hostRoot).text(SecretServiceCheck.autostart) != nil
        {
            let leaves = control ? "it leaves that to us" : "with --control it leaves that to us"
            console.note(
                "The sessions of GNOME and MATE start gnome-keyring themselves, which then has the name; \(leaves)"
                    + (state.isManaged ? "." : " where the bus has started us before: \(SecretServiceCheck.early)"))
        }
        console.note("To undo this: latchkey secret-service disable. It keeps the keychain.")
        return .done
    }

    /// What a person has to know besides.
    private static func notes(
        on state: SecretServiceEnabling.Enabled, withControl: Bool, _ owner: SecretServiceName.Owner?
    ) -> [String] {
        var notes: [String] = []
        if !state.masked.isEmpty {
            notes.append(
                "systemd starts gnome-keyring no more (masked: \(state.masked.map(\.name).joined(separator: ", "))).")
        }
        for mask in state.unmasked {
            notes.append(
                "\(PrintableText.escaped(mask.path)) is a unit of your own and stays: if it starts gnome-keyring at a "
                    + "login, that has the name.")
        }
        if withControl, !state.isManaged {
            notes.append("No systemd manager of yours answers: logins find it once some program has asked the bus.")
        }
        if state.listening == .untold {
            notes.append(
                "No systemd manager of yours answers, which has to listen for logins: "
                    + "do the same in a session where it does.")
        }
        if state.listening == .fromNextLogin {
            notes.append(
                "latchkey-secret-service runs already\(owner.map { " (process \($0.process))" } ?? ""), and systemd then "
                    + "begins to listen for logins with the next session, or with: systemctl --user stop "
                    + "\(SecretServiceUnits.service) && systemctl --user start \(SecretServiceUnits.socket)")
        } else if let owner, !owner.isOurs {
            notes.append(
                "\(PrintableText.escaped(owner.text)) has the name until it ends: log out, or `kill \(owner.process)`.")
        } else if let owner, withControl, !state.written.isEmpty {
            notes.append(
                "\(PrintableText.escaped(owner.text)) serves already, and listens for no logins until it is started "
                    + "anew: log out, or `kill \(owner.process)`.")
        }
        return notes
    }
}

struct SecretServiceDisableCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Leave the name to whoever else serves it.",
        discussion: """
            Removes what `enable` wrote, gnome-keyring's masks among it, and brings back what it put aside: \
            gnome-keyring, or whoever else is installed, serves again as before. What programs stored stays in the keychain. A service that runs goes \
            on until the session ends. `latchkey uninstall --secret-service` is another name for this.

            --json writes {"file", "removed", "units": [FILE], "restored": [FILE], "unmasked": [FILE]}: the bus's \
            file, whether it was removed, the unit files that were removed, what was brought back, and the links to \
            /dev/null that were removed.
            """)

    @Flag(help: "Write what was done as JSON.")
    var json = false

    /// Taken only to be refused in plain words.
    @OptionGroup(visibility: .hidden) var store: StoreOptions

    mutating func validate() throws { try SecretServiceCommand.refuse(store) }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try Self.perform(json: json, in: surroundings)
    }

    static func perform(json: Bool, in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let state = try SecretServiceEnabling(surroundings).disable()
        let console = surroundings.console
        if json {
            let line = JSONValue.object([
                ("file", .string(state.file)), ("removed", .bool(state.wasOurs == true)),
                ("units", .strings(state.removed.filter { $0 != state.file })), ("restored", .strings(state.restored)),
                ("unmasked", .strings(state.unmasked.map(\.path))),
            ])
            try printing { () throws(SystemCallError) in try console.write("\(line.text)\n") }
            return .done
        }
        let shown = PrintableText.escaped(state.file)
        switch state.wasOurs {
        case nil: console.note("Nothing is there: \(shown)")
        case false?: console.note("\(shown) is not by `latchkey secret-service enable`; it stays.")
        case true?: break
        }
        for path in state.removed { console.note("Removed \(PrintableText.escaped(path))") }
        for mask in state.unmasked { console.note("Unmasked \(mask.name)") }
        for path in state.restored { console.note("Brought back \(PrintableText.escaped(path))") }
        if state.othersListenLater {
            console.note("gnome-keyring, which runs, listens for logins again from the next session on.")
        }
        if let owner = SecretServiceName.owner(), owner.isOurs {
            console.note("It serves this session until that ends, or: kill \(owner.process)")
        }
        return .done
    }
}
