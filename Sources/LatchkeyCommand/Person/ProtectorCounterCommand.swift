internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct ProtectorCounterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counter",
        abstract: "Have the TPM count, so that an older copy of the keychain's folder is refused.",
        discussion: """
            Whoever can write the keychain's folder (a cloud's copy of it, a backup's server, a container) can put an \
            older copy back: one in which an old passcode opens, a removed slot is there again, or no attempt has failed \
            yet. With a counter the TPM that the keychain is bound to counts each change of what opens it, and each attempt \
            at the passcode or the login password before it is tried. A copy from before is then not opened: not with any \
            passcode, only with its recovery code, by `latchkey protector counter accept`.

            The price: each attempt takes a command of the TPM, which writes its memory. Where the TPM does not answer, no \
            passcode is tried, and the recovery code alone opens the keychain; at a start nothing opens until it answers, \
            or until `latchkey protector counter accept --give-up` goes on without it with that code, as where it was \
            cleared or exchanged. A snapshot of the file system that you go back to is an older copy as well. What is put \
            back besides, the items, is not counted. Copies from before the counter was turned on know nothing of it: they open, but not what is stored \
            later. And whoever may use the TPM (on Debian, members of the group tss) and has the folder can open an older \
            copy without our programs, or write one that passes: against those the passcode itself has to hold.
            """,
        subcommands: [CounterOnCommand.self, CounterOffCommand.self, CounterAcceptCommand.self])
}

struct CounterOnCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "on", abstract: "Have the TPM that the keychain is bound to count from now on.",
        discussion: """
            It needs a TPM as protector and no software file (`latchkey protector remove software`), a passcode, and a \
            recovery code, which opens the keychain where the TPM is gone: it is asked for now, so that you know where it \
            is. Puts new keys in the place of the present ones; items are moved to them in the background.

            EXAMPLE
              latchkey protector counter on

            --json writes \(DeviceText.jsonForm): how the keychain is afterwards.
            """)

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        let door = try reach.remoteDoor()
        let present = try PersonReach.asking { () throws(KeychainError) in try door.protectors() }
        guard let address = present.first(where: { $0.kind == "tpm2" })?.address else {
            throw CommandFailure(
                .usage, "the keychain is bound to no TPM that could count",
                "`latchkey protector add tpm` binds it to one.")
        }
        var input = arguments.input(console)
        let passcode = SharedSecret(try input.existing())
        let code = try reach.state.hasRecoveryCode ? SharedSecret(input.existing("Recovery code: ")) : nil
        try PersonReach.asking { () throws(KeychainError) in
            try door.count(in: address, passcode: passcode, code: code)
        }
        try arguments.report(
            "The TPM counts from now on. Keep the recovery code: without the TPM it alone opens the keychain, and a "
                + "backup made from now on is opened with the code of its time.",
            of: reach, on: console)
        return .done
    }
}

struct CounterOffCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "off", abstract: "Have no TPM count any more.",
        discussion: """
            The present folder, and copies made from now on, open without a count. The TPM's index is removed; once it is, \
            copies from the time of the counter are refused. Until then, where the TPM does not do it (`latchkey status` \
            says so), the newest of them opens as well.

            EXAMPLE
              latchkey protector counter off

            --json writes \(DeviceText.jsonForm): how the keychain is afterwards.
            """)

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let reach = try PersonReach(store, in: surroundings)
        let door = try reach.remoteDoor()
        var input = arguments.input(console)
        let passcode = try reach.state.hasPasscode ? SharedSecret(input.existing()) : nil
        try PersonReach.asking { () throws(KeychainError) in try door.count(in: nil, passcode: passcode, code: nil) }
        let left = try reach.presentState().counter.left
        if !left.isEmpty { console.note(Self.told(left)) }
        console.note(
            "Backups made while it counted open with the recovery code of their time alone: make a new one now "
                + "(`latchkey backup`), or keep that code.")
        try arguments.report("No TPM counts any more.", of: reach, on: console)
        return .done
    }

    private static func told(_ left: [TPMPlace]) -> String {
        "The counter may still be in \(left.map(\.description).joined(separator: ", ")): the TPM does not answer, or the "
            + "keychain's files could not all be written. Until it is removed, the newest copy of the folder from its time "
            + "opens as well. It is tried again at each start, and after the next `latchkey unlock`."
    }
}

struct CounterAcceptCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Open a copy of the folder that the TPM's counter speaks against.",
        discussion: """
            After `latchkey restore`, or where you put a copy of the folder back yourself. If you did neither, somebody else \
            did: what was changed since is not in this copy, and an old passcode may open it. Look at `latchkey log` \
            afterwards, and change the passcode.

            It takes the recovery code that belongs to this copy: the one that was valid when the copy was made. The TPM \
            counts on from there, and every other copy from before is refused. It does not open what the passcode opens; \
            `latchkey unlock` comes after it.

            It is for a keychain that is open, too: where a copy of it is used beside it and has counted, no passcode is \
            tried any more, and accepting makes this one the one that counts.

            --give-up is for a TPM that is gone, or was cleared, or does not answer for good: nothing counts from then on, \
            also where the keychain is open and a passcode cannot be tried any more. It asks on a terminal, and needs --yes \
            elsewhere.

            EXAMPLES
              latchkey protector counter accept
              latchkey protector counter accept --give-up

            --json writes \(DeviceText.jsonForm): how the keychain is afterwards.
            """)

    @Flag(help: "Have nothing count from then on, because the TPM that counts does not come back.")
    var giveUp = false

    @Flag(help: "Give it up without asking.")
    var yes = false

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    func validate() throws {
        guard giveUp || !yes else { throw ValidationError("--yes goes with --give-up") }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let door = try door(surroundings)
        if giveUp {
            try Confirmation(console: console, isGiven: yes).require(
                "From then on nothing tells an older copy of the keychain's folder from the newest", word: "give up")
        }
        var input = arguments.input(console)
        let code = SharedSecret(try input.existing("Recovery code of this copy: "))
        try PersonReach.asking { () throws(KeychainError) in try door.acceptCopy(code: code, givingUp: giveUp) }
        try arguments.report(
            giveUp ? "This copy is open, and no TPM counts any more." : "This copy is the one that counts from now on.",
            of: try PersonReach(store, in: surroundings), on: console)
        return .done
    }

    /// Of the enclave that refuses the folder, or has it open.
    private func door(_ surroundings: Surroundings) throws(CommandFailure) -> RemotePersonDoor {
        do throws(CommandFailure) { return try PersonReach(store, in: surroundings).remoteDoor() } catch {
            guard error.status == .damaged || error.status == .unavailable,
                let path = PersonReach.ownDirectory(store, surroundings)
            else { throw error }
            return try PersonReach.asking { () throws(KeychainError) in
                try RemotePersonDoor.present(inData: path, clock: surroundings.configuration.clock)
            }
        }
    }
}
