internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct ProtectorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protector", abstract: "List, add, test and remove what the keychain is bound to.",
        discussion: """
            A protector binds the keychain to something: "software-file" is a file beside it and binds to nothing \
            but that file, "tpm2" is this machine's TPM 2.0, "fido2" is a security key that somebody touches, \
            "recovery-code" is what you wrote down. Each opens the root key by itself, so the keychain is bound as weakly as the weakest of them. Who may open it is \
            another question: see `latchkey passcode`.

            To bind a keychain to a TPM: `latchkey protector add tpm`, then `latchkey recovery make`, then \
            `latchkey protector remove software`. From then on a copy of the folder opens nowhere else; what was \
            copied before still opens with the file that was copied with it. A security key is added in the same \
            way (`latchkey protector add fido2`) and goes where you go: the keychain then opens, once its programs \
            start, when you touch the key.
            """,
        subcommands: [
            ProtectorListCommand.self, ProtectorAddCommand.self, ProtectorTestCommand.self,
            ProtectorResealCommand.self, ProtectorRemoveCommand.self, ProtectorCounterCommand.self,
        ])
}

/// What every command of protectors says afterwards: all of them.
private struct ProtectorReport {
    let protectors: [ProtectorState]
    /// Which, by its name, is the one whose trial was left out.
    var isTested = false

    func write(json: Bool, on console: any Console) throws(CommandFailure) {
        let text = json ? self.json.text + "\n" : table.text(for: console.outputIsTerminal ? .person : .program)
        try printing { () throws(SystemCallError) in try console.write(text) }
    }

    private var table: TextTable {
        TextTable(
            heading: ["NAME", "ID", "AT"] + (isTested ? ["STATE"] : []),
            rows: protectors.map { protector in
                [protector.kind, protector.shortName, protector.address?.description ?? protector.product]
                    + (isTested ? [protector.trial.words] : [])
            })
    }

    private var json: JSONValue {
        .array(
            protectors.map { protector in
                .object([
                    ("name", .string(protector.kind)), ("id", .string(protector.name)),
                    ("at", JSONValue(protector.address?.description)),
                    ("product", JSONValue(protector.product.isEmpty ? nil : protector.product)),
                    ("state", .string(protector.trial.name)),
                    ("why", JSONValue(protector.trial.refusal)),
                ])
            })
    }
}

/// What a person is told before a security key starts to blink.
private func askForTouch(_ times: String, _ console: any Console) {
    console.note("Touch the security key when it blinks\(times).")
}

extension [ProtectorState] {
    fileprivate var haveSecurityKey: Bool { contains { $0.kind == "fido2" } }
}

extension ProtectorState.Trial {
    fileprivate var name: String {
        switch self {
        case .none: "not-tried"
        case .opens: "opens"
        case .failed: "fails"
        case .needsPerson: "needs-person"
        }
    }

    fileprivate var words: String {
        switch self {
        case .none: "not tried"
        case .opens: "opens"
        case .failed(let why): "fails: \(why)"
        case .needsPerson: "opens for whoever has the code"
        }
    }

    fileprivate var refusal: String? { if case .failed(let why) = self { why } else { nil } }
}

/// Where the recovery code alone opens what is bound to hardware that is gone.
private let onlyHardware =
    "Only this machine's hardware opens the keychain now: if it is cleared or breaks, every item is lost. "
    + "`latchkey recovery make` makes a code that opens it without."

/// The same, where that hardware may be on a key ring.
private let onlySecurityKeys =
    "Nothing but hardware opens the keychain now, and a security key is part of it: if that is lost, reset or "
    + "breaks, and nothing else opens it, every item is lost. `latchkey recovery make` makes a code that opens it "
    + "without."

struct ProtectorListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show what the keychain is bound to.",
        discussion: """
            Where a TPM counts (`latchkey protector counter`) that is said on standard error, and by `latchkey status`.

            --json writes [{"name", "id", "at", "product", "state", "why"}]; "state" is "not-tried" here.
            """)

    @Flag(help: "Write it as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try surroundings.requireKeychain(store.dataDirectory)
        let reach = try PersonReach(store, in: surroundings)
        let door = try reach.remoteDoor()
        let protectors = try PersonReach.asking { () throws(KeychainError) in try door.protectors() }
        try ProtectorReport(protectors: protectors).write(json: json, on: surroundings.console)
        if !json, surroundings.console.errorIsTerminal, let counter = DeviceText(reach.state).counter {
            surroundings.console.note("Counter: \(counter)")
        }
        return .done
    }
}

struct ProtectorTestCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Try every protector, as an opening of the keychain would.",
        discussion: """
            Changes nothing. A security key waits for its touch. With --pretend-gone NAME that one is left out, and the status says whether the \
            keychain would still open without it: 0 where one opens by itself or with the recovery code, 69 where none does.

            EXAMPLES
              latchkey protector test
              latchkey protector test --pretend-gone tpm

            --json writes [{"name", "id", "at", "product", "state", "why"}]; "state" is "opens", "fails", "needs-person" or \
            "not-tried".
            """)

    @Option(help: ArgumentHelp("Leave this one out.", valueName: "NAME"))
    var pretendGone: String?

    @Flag(help: "Write it as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try surroundings.requireKeychain(store.dataDirectory)
        let door = try PersonReach(store, in: surroundings).remoteDoor()
        let present = try PersonReach.asking { () throws(KeychainError) in try door.protectors() }
        let gone = try pretendGone.map { name throws(CommandFailure) in
            try PartName(text: name, sort: "protector").find(in: present).identifier
        }
        if present.filter({ $0.identifier != gone }).haveSecurityKey { askForTouch("", surroundings.console) }
        let tried = try PersonReach.asking { () throws(KeychainError) in
            try door.testProtectors(pretendingGone: gone)
        }
        try ProtectorReport(protectors: tried, isTested: true).write(json: json, on: surroundings.console)
        guard tried.contains(where: { $0.trial == .opens || $0.trial == .needsPerson }) else {
            throw CommandFailure(
                .unavailable, "the keychain would not open", "Add a protector that works: `latchkey protector add`.")
        }
        return .done
    }
}

struct ProtectorAddCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a TPM, a security key, or the software file, as one more protector.",
        discussion: """
            KIND is "tpm", "fido2" or "software". A TPM seals a random secret, without a password and bound to no state of \
            the machine (no PCR), so that no update takes it away; the machine's lockout settings are never \
            changed. Whoever may use the TPM (on Debian, members of the group tss) and has the folder opens the \
            root key on this machine. As long as the software file is there as well, a copy opens anywhere.

            "fido2" is a FIDO2 security key with hmac-secret, which has to be touched twice now, and whenever the \
            keychain's programs start and nothing else opens it. It makes a secret of its own for this keychain and \
            keeps nothing. Its PIN is never asked for at a start; some keys take it now (--key-pin). A key that \
            takes its PIN or a finger for everything (alwaysUv) is refused. Whoever has the key and the folder opens the \
            root key. Add a second key, or make a recovery code, for when the first is lost.

            Takes the passcode where there is one, and then the key's PIN with --key-pin. A recovery code is made by \
            `latchkey recovery make`.

            EXAMPLES
              latchkey protector add tpm
              latchkey protector add fido2
              latchkey protector add fido2 --at /dev/hidraw3
              latchkey protector add tpm --at swtpm:/run/vtpm/sock

            --json writes [{"name", "id", "at", "product", "state", "why"}]: what there is afterwards.
            """)

    @Argument(help: ArgumentHelp("tpm, fido2 or software.", valueName: "KIND"))
    var kind: Kind

    @Option(
        help: ArgumentHelp(
            "Where the TPM is: device:PATH or swtpm:PATH (default: device:/dev/tpmrm0); which security key, where "
                + "several are plugged in: /dev/hidrawN.",
            valueName: "ADDRESS"))
    var at: String?

    @Flag(help: "Ask for the security key's PIN, which some take to be added.")
    var keyPin = false

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    enum Kind: String, ExpressibleByArgument, Sendable {
        case tpm
        case fido2
        case software
    }

    func validate() throws {
        if keyPin, kind != .fido2 { throw ValidationError("--key-pin is for a security key") }
        if kind == .fido2 {
            guard at.map({ FIDO2Address(path: $0) != nil }) ?? true else {
                throw ValidationError("--at is the path of a security key, as in /dev/hidraw3")
            }
            return
        }
        if kind == .software, at != nil { throw ValidationError("the software file is where it is: leave out --at") }
        if let at, TPMAddress(at) == nil {
            throw ValidationError(TPMAddress.isWanted)
        }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let reach = try PersonReach(store, in: surroundings)
        let door = try reach.remoteDoor()
        var input = arguments.input(surroundings.console)
        let passcode = try reach.state.hasPasscode ? SharedSecret(input.existing()) : nil
        let pin = try keyPin ? SharedSecret(input.existing(keyPINPrompt)) : nil
        if kind == .fido2 { askForTouch(", and once more", surroundings.console) }
        let protectors = try PersonReach.asking { () throws(KeychainError) in
            try added(by: door, passcode, pin: pin)
        }
        try ProtectorReport(protectors: protectors).write(json: arguments.json, on: surroundings.console)
        if kind != .software, protectors.contains(where: { $0.kind == "software-file" }) {
            surroundings.console.note(
                "The software file still opens a copy anywhere. `latchkey protector remove software` binds the "
                    + "keychain to the \(kind == .tpm ? "TPM" : "security key") alone; make a recovery code first "
                    + "(`latchkey recovery make`).")
        }
        return .done
    }

    private func added(
        by door: RemotePersonDoor, _ passcode: SharedSecret?, pin: SharedSecret?
    ) throws(KeychainError) -> [ProtectorState] {
        switch kind {
        case .software: try door.addProtector(nil, passcode: passcode)
        case .tpm: try door.addProtector(at.flatMap { TPMAddress($0) } ?? .machines, passcode: passcode)
        case .fido2:
            try door.addProtector(at.flatMap { FIDO2Address(path: $0) } ?? .plugged, pin: pin, passcode: passcode)
        }
    }
}

private let keyPINPrompt = "PIN of the security key: "

struct ProtectorResealCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "reseal", abstract: "Seal anew for a TPM or a security key that was cleared or replaced.",
        discussion: """
            The keychain has to be open by another protector: `latchkey unlock --recovery` opens it with the \
            recovery code where nothing else does. Takes the passcode where there is one. The root key stays: if the \
            old one went to somebody else, remove the protector and add it again instead. A security key is the one \
            that is plugged in, and is touched twice; some take their PIN (--key-pin).

            EXAMPLES
              latchkey protector reseal tpm
              latchkey protector reseal fido2

            --json writes [{"name", "id", "at", "product", "state", "why"}]: what there is afterwards.
            """)

    @Argument(help: ArgumentHelp("tpm, fido2, or the beginning of an ID.", valueName: "NAME"))
    var name: String

    @Flag(help: "Ask for the security key's PIN, which some take for this.")
    var keyPin = false

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let reach = try PersonReach(store, in: surroundings)
        let door = try reach.remoteDoor()
        let present = try PersonReach.asking { () throws(KeychainError) in try door.protectors() }
        let protector = try PartName(text: name, sort: "protector").find(in: present)
        var input = arguments.input(surroundings.console)
        let passcode = try reach.state.hasPasscode ? SharedSecret(input.existing()) : nil
        guard !keyPin || protector.kind == "fido2" else {
            throw CommandFailure(.usage, "--key-pin is for a security key", "Leave it out.")
        }
        let pin = try keyPin ? SharedSecret(input.existing(keyPINPrompt)) : nil
        if protector.kind == "fido2" { askForTouch(", and once more", surroundings.console) }
        let protectors = try PersonReach.asking { () throws(KeychainError) in
            try door.resealProtector(protector.identifier, pin: pin, passcode: passcode)
        }
        try ProtectorReport(protectors: protectors).write(json: arguments.json, on: surroundings.console)
        return .done
    }
}

struct ProtectorRemoveCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Have a protector open nothing that is written from now on.",
        discussion: """
            Puts another root key in the place of the present one, and new keys below it; items are moved to them \
            in the background. Copies and backups from before still open with the protector. The last one that \
            opens without a person stays, and so does every one while another of them does not work. A security key that stays is touched.

            Takes the passcode where there is one, and then the recovery code where there is one, because the \
            keychain does not know it; with --forget-recovery-code that goes as well.

            EXAMPLES
              latchkey protector remove software
              latchkey protector remove tpm
              latchkey protector remove fido2

            --json writes [{"name", "id", "at", "product", "state", "why"}]: what there is afterwards.
            """)

    @Argument(help: ArgumentHelp("software, tpm, fido2, recovery, or the beginning of an ID.", valueName: "NAME"))
    var name: String

    @Flag(help: "Let the recovery code open nothing from now on, instead of asking for it.")
    var forgetRecoveryCode = false

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let reach = try PersonReach(store, in: surroundings)
        let door = try reach.remoteDoor()
        let present = try PersonReach.asking { () throws(KeychainError) in try door.protectors() }
        let protector = try PartName(text: name, sort: "protector").find(in: present)
        var input = arguments.input(surroundings.console)
        let passcode = try reach.state.hasPasscode ? SharedSecret(input.existing()) : nil
        let hasCode = reach.state.hasRecoveryCode || present.contains { $0.kind == "recovery-code" }
        let needsCode = hasCode && protector.kind != "recovery-code" && !forgetRecoveryCode
        let code = try needsCode ? SharedSecret(input.existing("Recovery code: ")) : nil
        if present.filter({ $0.identifier != protector.identifier }).haveSecurityKey {
            askForTouch("", surroundings.console)
        }
        let left = try PersonReach.asking { () throws(KeychainError) in
            try door.removeProtector(
                protector.identifier, passcode: passcode, code: code, withoutCode: forgetRecoveryCode)
        }
        try ProtectorReport(protectors: left).write(json: arguments.json, on: surroundings.console)
        if !left.contains(where: { $0.kind == "software-file" || $0.kind == "recovery-code" }) {
            surroundings.console.note(left.haveSecurityKey ? onlySecurityKeys : onlyHardware)
        }
        return .done
    }
}
