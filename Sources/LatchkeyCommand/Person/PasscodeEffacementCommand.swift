internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct PasscodeEffacementCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "effacement", abstract: "Have a TPM keep what goes with the passcode, so that no copy has it.",
        discussion: """
            WHERE is "tpm" or "file". Items that are kept only as long as the passcode is set \
            (kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly) need a secret that is destroyed with it. In a file it is \
            overwritten, but a copy of the folder made before still has it, and whoever has the old passcode or the \
            recovery code opens those items there. In this machine's TPM there is one, and no copy: once the passcode is \
            removed or reset they are gone everywhere, in this folder and in copies made since. It takes some 200 bytes \
            of the TPM's memory.

            The price: where the TPM is cleared or breaks those items are lost, and the recovery code brings back all \
            others alone. Where it does not answer, or another TPM does, they stay closed, and nothing can be changed that \
            would give them up but by `latchkey passcode reset` and `remove`. Where it does not come back, \
            `latchkey passcode effacement file --give-up` gives them up for good: nobody can tell a TPM that was cleared \
            from another one, so you say it. It asks on a terminal, and needs --yes elsewhere; where the file has it \
            already, nobody tries any more to destroy what is left in TPMs. The TPM's owner must not have set a \
            password; whoever may use the TPM can destroy the secret, and only who has the passcode, the login password \
            or the recovery code can read it. A copy of the folder that is used beside it shares the secret, and destroys \
            it for both. `latchkey erase` asks no TPM: remove the passcode first.

            "tpm" puts new keys in the place of those that the file's secret opened; items are moved to them in the \
            background. Copies from before still have the file. It takes the passcode, and the recovery code where there \
            is one. `latchkey passcode change` leaves it in the TPM; after `reset` the new one lies in the file.

            EXAMPLES
              latchkey passcode effacement tpm
              latchkey passcode effacement file
              latchkey passcode effacement file --give-up

            --json writes \(DeviceText.jsonForm): how the keychain is afterwards.
            """)

    @Argument(help: ArgumentHelp("tpm or file.", valueName: "WHERE"))
    var place: Place

    @OptionGroup var tpm: TPMOption

    @Flag(help: "Destroy those items, because the TPM that opens them does not come back.")
    var giveUp = false

    @Flag(help: "Destroy them without asking.")
    var yes = false

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    enum Place: String, ExpressibleByArgument, Sendable {
        case tpm
        case file
    }

    func validate() throws {
        try tpm.belongs(place == .tpm)
        guard place == .file || !giveUp else { throw ValidationError("--give-up goes with file") }
        guard giveUp || !yes else { throw ValidationError("--yes goes with --give-up") }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        let door = try reach.remoteDoor()
        guard !giveUp else { return try perform(givingUpAt: door, of: reach, console) }
        var input = arguments.input(console)
        let passcode = SharedSecret(try input.existing())
        let needsCode = place == .tpm && reach.state.hasRecoveryCode
        let code = try needsCode ? SharedSecret(input.existing("Recovery code: ")) : nil
        let address = place == .tpm ? tpm.address : nil
        try PersonReach.asking { () throws(KeychainError) in
            try door.keepEffacement(in: address, passcode: passcode, code: code)
        }
        try arguments.report(
            place == .tpm
                ? "What goes with the passcode lies in the TPM from now on. Where the TPM is cleared or breaks, items "
                    + "that last as long as the passcode are lost."
                : "What goes with the passcode lies in a file of the keychain's folder from now on.",
            of: reach, on: console)
        return .done
    }

    private func perform(
        givingUpAt door: RemotePersonDoor, of reach: PersonReach, _ console: any Console
    ) throws(CommandFailure) -> ExitStatus {
        let isLost = reach.state.effacement.tpm != nil
        if isLost { try Confirmation(console: console, isGiven: yes).require(keptWithThePasscode, word: "give up") }
        var input = arguments.input(console)
        let passcode = SharedSecret(try input.existing())
        try PersonReach.asking { () throws(KeychainError) in try door.giveEffacementUp(passcode: passcode) }
        try arguments.report(
            isLost
                ? "Items that were kept as long as the passcode is set are gone. What is stored so from now on opens with a "
                    + "file of the keychain's folder."
                : "Nobody tries any more to destroy what TPMs have left.",
            of: reach, on: console)
        return .done
    }
}
