internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct SlotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slot", abstract: "List, add, change and remove what opens the keychain.",
        discussion: """
            A slot opens a keychain that has a passcode. "passcode" and "recovery" take a person; "tpm2" opens it \
            when its programs start, by this machine's TPM; "credential" opens it for whoever brings what was \
            handed out once, for a service manager to keep. "login" takes a person too: the password that they log \
            in with. "fingerprint" is no key of its own: after a lock a finger opens the keychain again. \
            What is stored for as long as a passcode is set (kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly) opens for a person alone, and nothing but a person \
            agrees to anything.

            A keychain that opens by itself is as safe as the machine: `latchkey status` says so. To what it is \
            bound is another question: see `latchkey protector`.
            """,
        subcommands: [
            SlotListCommand.self, SlotAddCommand.self, SlotChangeCommand.self, SlotRemoveCommand.self,
        ])
}

/// What every command of slots says afterwards: all of them.
private struct SlotReport {
    let slots: [SlotState]

    func write(json: Bool, on console: any Console) throws(CommandFailure) {
        let text = json ? self.json.text + "\n" : table.text(for: console.outputIsTerminal ? .person : .program)
        try printing { () throws(SystemCallError) in try console.write(text) }
    }

    private var table: TextTable {
        TextTable(
            heading: ["NAME", "ID", "AT", "TAKES"],
            rows: slots.map { [$0.kind, $0.shortName, $0.address?.description ?? "", $0.takes] })
    }

    private var json: JSONValue {
        .array(
            slots.map { slot in
                .object([
                    ("name", .string(slot.kind)), ("id", .string(slot.name)),
                    ("at", JSONValue(slot.address?.description)), ("takes", .string(slot.takes)),
                ])
            })
    }
}

extension SlotState {
    /// What has to be brought.
    fileprivate var takes: String {
        switch kind {
        case "passcode", "recovery": "a person"
        case "credential": "the credential"
        case "login": "the login password"
        case "fingerprint": "a finger, after a lock"
        case "open", "tpm2": "nothing"
        default: "a newer version"
        }
    }
}

struct SlotListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show what opens the keychain.",
        discussion: """
            Without a passcode it is always open, by a slot of that name.

            --json writes [{"name", "id", "at", "takes"}].
            """)

    @Flag(help: "Write it as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try surroundings.requireKeychain(store.dataDirectory)
        let door = try PersonReach(store, in: surroundings).remoteDoor()
        let slots = try PersonReach.asking { () throws(KeychainError) in try door.slots() }
        try SlotReport(slots: slots).write(json: json, on: surroundings.console)
        return .done
    }
}

struct SlotAddCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Have the keychain open without a person, with the login password or a finger.",
        discussion: """
            KIND is "tpm", "credential", "login" or "fingerprint". Takes the passcode.

            tpm: this machine's TPM opens the keychain whenever its programs start. Whoever may use the TPM (on \
            Debian, members of the group tss) and has the folder opens it on this machine. `latchkey lock` still \
            closes it until then.

            credential: writes to standard output, once, what opens the keychain; never to a terminal. Encrypt it \
            for this machine, and have a unit bring it with `latchkey unlock --slot --passcode-credential NAME`. \
            Whoever has it and the folder opens the keychain.

            login: takes the login password after the passcode, and from then on opens everything with it, where \
            pam_latchkey is part of the login (`latchkey unlock --login` without). The keychain is then as weak as \
            the weaker of the two. In place of a login password that was taken before; nobody checks that it is the \
            one that you log in with.

            fingerprint: after a lock a finger that fprintd knows opens everything again (`latchkey unlock \
            --finger`), for two days from the last time the passcode was typed, until five fingers in a row were not \
            recognized, and never before the passcode was typed since the keychain's programs started. For that a \
            lock leaves what opens the keychain in the enclave's memory, where it was wiped before; nothing more \
            lies on the disk. Whoever has fprintd take a finger for yours opens it, as whoever enrolls one; any \
            program of yours may wait for the next touch. To delete the fingers is not enough to take it back.

            EXAMPLES
              latchkey slot add tpm
              latchkey slot add login
              latchkey slot add fingerprint
              latchkey slot add credential | sudo systemd-creds encrypt \\
                --name=latchkey - /etc/credstore.encrypted/latchkey

            --json (not of a credential) writes [{"name", "id", "at", "takes"}]: what there is afterwards.
            """)

    @Argument(help: ArgumentHelp("tpm, credential, login or fingerprint.", valueName: "KIND"))
    var kind: Kind

    @OptionGroup var tpm: TPMOption

    @OptionGroup var source: SecretSource

    @Flag(help: "Write what there is afterwards as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    enum Kind: String, ExpressibleByArgument, Sendable {
        case tpm
        case credential
        case login
        case fingerprint
    }

    func validate() throws {
        try tpm.belongs(kind == .tpm)
        if kind == .credential, json { throw ValidationError("--json goes with tpm, login and fingerprint") }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        if kind == .credential, console.outputIsTerminal {
            throw CommandFailure(
                .usage, "it would stand on the terminal; nothing was made",
                "Pipe it: latchkey slot add credential | sudo systemd-creds encrypt --name=latchkey - FILE")
        }
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        let door = try reach.remoteDoor()
        var input = source.input(console)
        let passcode = SharedSecret(try input.existing())
        switch kind {
        case .tpm:
            let slots = try PersonReach.asking { () throws(KeychainError) in
                try door.addSlot(of: tpm.address, passcode: passcode)
            }
            try SlotReport(slots: slots).write(json: json, on: console)
            console.note("The keychain opens by itself on this machine from now on, when its programs start.")
        case .credential:
            let credential = try PersonReach.asking { () throws(KeychainError) in
                try door.addCredentialSlot(passcode: passcode)
            }
            do throws(CommandFailure) {
                try printing { () throws(SystemCallError) in
                    try console.write(credential.bytes)
                    try console.write("\n")
                }
            } catch {
                console.note("Nobody has the credential, and the slot is there: `latchkey slot remove` takes it away.")
                throw error
            }
            console.note("Whoever has this credential and the keychain's folder opens it. It is not shown again.")
        case .login:
            let password = SharedSecret(try input.new("Login password: "))
            let slots = try PersonReach.asking { () throws(KeychainError) in
                try door.addLoginSlot(password, passcode: passcode)
            }
            try SlotReport(slots: slots).write(json: json, on: console)
            console.note("The login password opens the keychain from now on, as the passcode does.")
        case .fingerprint:
            let slots = try PersonReach.asking { () throws(KeychainError) in
                try door.addFingerSlot(passcode: passcode)
            }
            try SlotReport(slots: slots).write(json: json, on: console)
            console.note("After a lock `latchkey unlock --finger` opens the keychain from now on.")
        }
        return .done
    }
}

struct SlotChangeCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "change", abstract: "Have another login password open the keychain.",
        discussion: """
            Takes the old login password, then the new one, and no passcode: one small key is wrapped anew, and what \
            is locked stays locked. pam_latchkey does so where the password is changed. Copies and backups from \
            before still open with the old one. Where the old one is not known, `latchkey slot add login` with the \
            passcode does the same.

            Where no login password opens the keychain nothing is started, and the status is 1.

            EXAMPLES
              latchkey slot change login

            --json writes [{"name", "id", "at", "takes"}]: what there is afterwards.
            """)

    @Argument(help: ArgumentHelp("login; no other slot has anything to change.", valueName: "NAME"))
    var name: Kind

    @OptionGroup var source: SecretSource

    @Flag(help: "Write what there is afterwards as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    enum Kind: String, ExpressibleByArgument, Sendable {
        case login
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try PersonReach.requireLoginSlot(store, surroundings)
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        let door = try reach.remoteDoor()
        var input = source.input(surroundings.console)
        let old = SharedSecret(try input.existing("Old login password: "))
        let new = SharedSecret(try input.new("New login password: "))
        try PersonReach.asking { () throws(KeychainError) in try door.changeLogin(from: old, to: new) }
        let slots = try PersonReach.asking { () throws(KeychainError) in try door.slots() }
        try SlotReport(slots: slots).write(json: json, on: surroundings.console)
        return .done
    }
}

struct SlotRemoveCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Have a slot open nothing that is written from now on.",
        discussion: """
            "tpm", "credential", "login", "fingerprint", or the beginning of an ID. Puts new keys in \
            the place of those that it opened; items are moved to them in the background. Copies and backups from \
            before still open with it. Nothing on the disk opens for a finger, so that "fingerprint" leaves the keys \
            as they are; what a lock had left in memory for it is wiped.

            Takes the passcode, and the recovery code where there is one, because the keychain does not know it (not \
            with "fingerprint").

            EXAMPLES
              latchkey slot remove tpm
              latchkey slot remove 1f0c

            --json writes [{"name", "id", "at", "takes"}]: what there is afterwards.
            """)

    @Argument(help: ArgumentHelp("tpm, credential, login, fingerprint, or the beginning of an ID.", valueName: "NAME"))
    var name: String

    @OptionGroup var source: SecretSource

    @Flag(help: "Write what there is afterwards as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        let door = try reach.remoteDoor()
        let present = try PersonReach.asking { () throws(KeychainError) in try door.slots() }
        let slot = try PartName(text: name, sort: "slot").find(in: present)
        var input = source.input(surroundings.console)
        let passcode = SharedSecret(try input.existing())
        let needsCode = reach.state.hasRecoveryCode && slot != .fingerprint
        let code = try needsCode ? SharedSecret(input.existing("Recovery code: ")) : nil
        let left = try PersonReach.asking { () throws(KeychainError) in
            try door.removeSlot(slot.identifier, passcode: passcode, code: code)
        }
        try SlotReport(slots: left).write(json: json, on: surroundings.console)
        return .done
    }
}
