internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct ProtectorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protector", abstract: "List, add, test and remove what the keychain is bound to.",
        discussion: """
            A protector binds the keychain to something: "software-file" is a file beside it and binds to nothing \
            but that file, "tpm2" is this machine's TPM 2.0, "recovery-code" is what you wrote down. Each opens \
            the root key by itself, so the keychain is bound as weakly as the weakest of them. Who may open it is \
            another question: see `latchkey passcode`.

            To bind a keychain to a TPM: `latchkey protector add tpm`, then `latchkey recovery make`, then \
            `latchkey protector remove software`. From then on a copy of the folder opens nowhere else; what was \
            copied before still opens with the file that was copied with it.
            """,
        subcommands: [
            ProtectorListCommand.self, ProtectorAddCommand.self, ProtectorTestCommand.self,
            ProtectorResealCommand.self, ProtectorRemoveCommand.self,
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
                [protector.kind, protector.shortName, protector.address?.description ?? ""]
                    + (isTested ? [protector.trial.words] : [])
            })
    }

    private var json: JSONValue {
        .array(
            protectors.map { protector in
                .object([
                    ("name", .string(protector.kind)), ("id", .string(protector.name)),
                    ("at", JSONValue(protector.address?.description)), ("state", .string(protector.trial.name)),
                    ("why", JSONValue(protector.trial.refusal)),
                ])
            })
    }
}

extension ProtectorState {
    /// Whether it opens the keychain without a person.
    fileprivate var opensByItself: Bool { kind == "software-file" || kind == "tpm2" }
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

struct ProtectorListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show what the keychain is bound to.",
        discussion: """
            --json writes [{"name", "id", "at", "state", "why"}]; "state" is "not-tried" here.
            """)

    @Flag(help: "Write it as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let door = try PersonReach(store, in: surroundings).remoteDoor()
        let protectors = try PersonReach.asking { () throws(KeychainError) in try door.protectors() }
        try ProtectorReport(protectors: protectors).write(json: json, on: surroundings.console)
        return .done
    }
}

struct ProtectorTestCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Try every protector, as an opening of the keychain would.",
        discussion: """
            Changes nothing. With --pretend-gone NAME that one is left out, and the status says whether the \
            keychain would still open without it: 0 where one opens by itself or with the recovery code, 69 where none does.

            EXAMPLES
              latchkey protector test
              latchkey protector test --pretend-gone tpm

            --json writes [{"name", "id", "at", "state", "why"}]; "state" is "opens", "fails", "needs-person" or \
            "not-tried".
            """)

    @Option(help: ArgumentHelp("Leave this one out.", valueName: "NAME"))
    var pretendGone: String?

    @Flag(help: "Write it as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let door = try PersonReach(store, in: surroundings).remoteDoor()
        var gone: [UInt8]?
        if let pretendGone {
            let present = try PersonReach.asking { () throws(KeychainError) in try door.protectors() }
            gone = try PartName(text: pretendGone, sort: "protector").find(in: present).identifier
        }
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
        commandName: "add", abstract: "Add a TPM, or the software file, as one more protector.",
        discussion: """
            KIND is "tpm" or "software". A TPM seals a random secret, without a password and bound to no state of \
            the machine (no PCR), so that no update takes it away; the machine's lockout settings are never \
            changed. Whoever may use the TPM (on Debian, members of the group tss) and has the folder opens the \
            root key on this machine. As long as the software file is there as well, a copy opens anywhere.

            Takes the passcode where there is one. A recovery code is made by `latchkey recovery make`.

            EXAMPLES
              latchkey protector add tpm
              latchkey protector add tpm --at swtpm:/run/vtpm/sock

            --json writes [{"name", "id", "at", "state", "why"}]: what there is afterwards.
            """)

    @Argument(help: ArgumentHelp("tpm or software.", valueName: "KIND"))
    var kind: Kind

    @Option(
        help: ArgumentHelp(
            "Where the TPM is: device:PATH or swtpm:PATH (default: device:/dev/tpmrm0).", valueName: "ADDRESS"))
    var at: String?

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    enum Kind: String, ExpressibleByArgument, Sendable {
        case tpm
        case software
    }

    func validate() throws {
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
        let address = kind == .tpm ? at.flatMap { TPMAddress($0) } ?? .machines : nil
        let protectors = try PersonReach.asking { () throws(KeychainError) in
            try door.addProtector(address, passcode: passcode)
        }
        try ProtectorReport(protectors: protectors).write(json: arguments.json, on: surroundings.console)
        if kind == .tpm, protectors.contains(where: { $0.kind == "software-file" }) {
            surroundings.console.note(
                "The software file still opens a copy anywhere. `latchkey protector remove software` binds the "
                    + "keychain to the TPM alone; make a recovery code first (`latchkey recovery make`).")
        }
        return .done
    }
}

struct ProtectorResealCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "reseal", abstract: "Seal anew for a TPM that was cleared or replaced.",
        discussion: """
            The keychain has to be open by another protector: `latchkey unlock --recovery` opens it with the \
            recovery code where nothing else does. Takes the passcode where there is one. The root key stays: if the \
            old TPM went to somebody else, remove the protector and add it again instead.

            EXAMPLE
              latchkey protector reseal tpm

            --json writes [{"name", "id", "at", "state", "why"}]: what there is afterwards.
            """)

    @Argument(help: ArgumentHelp("tpm, or the beginning of an ID.", valueName: "NAME"))
    var name: String

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let reach = try PersonReach(store, in: surroundings)
        let door = try reach.remoteDoor()
        let present = try PersonReach.asking { () throws(KeychainError) in try door.protectors() }
        let protector = try PartName(text: name, sort: "protector").find(in: present)
        var input = arguments.input(surroundings.console)
        let passcode = try reach.state.hasPasscode ? SharedSecret(input.existing()) : nil
        let protectors = try PersonReach.asking { () throws(KeychainError) in
            try door.resealProtector(protector.identifier, passcode: passcode)
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
            opens without a person stays, and so does every one while another of them does not work.

            Takes the passcode where there is one, and then the recovery code where there is one, because the \
            keychain does not know it; with --forget-recovery-code that goes as well.

            EXAMPLES
              latchkey protector remove software
              latchkey protector remove tpm

            --json writes [{"name", "id", "at", "state", "why"}]: what there is afterwards.
            """)

    @Argument(help: ArgumentHelp("software, tpm, recovery, or the beginning of an ID.", valueName: "NAME"))
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
        let left = try PersonReach.asking { () throws(KeychainError) in
            try door.removeProtector(
                protector.identifier, passcode: passcode, code: code, withoutCode: forgetRecoveryCode)
        }
        try ProtectorReport(protectors: left).write(json: arguments.json, on: surroundings.console)
        if !left.contains(where: { $0.kind == "software-file" || $0.kind == "recovery-code" }) {
            surroundings.console.note(onlyHardware)
        }
        return .done
    }
}
