internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct PasscodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passcode", abstract: "Set, change, reset or remove the passcode.",
        discussion: """
            With a passcode the keychain begins locked when its programs start anew, as after a boot, and \
            `latchkey lock` locks it; `latchkey unlock` opens it. A copy of its folder opens with the passcode \
            or the recovery code alone.

            A passcode is typed at a prompt that does not show it or, where standard input is not a terminal, \
            read from there, a line each; --passcode-fd reads it from a descriptor. It is never an argument \
            and never in the environment. It goes to the enclave process and to no other, the daemon included. \
            It has 4 to 1024 bytes.
            """,
        subcommands: [
            PasscodeSetCommand.self, PasscodeChangeCommand.self, PasscodeResetCommand.self,
            PasscodeRemoveCommand.self, PasscodeGuardCommand.self, PasscodeEffacementCommand.self,
        ])
}

/// What is destroyed with a passcode that goes without being known.
let keptWithThePasscode =
    "This destroys every item that is kept only as long as the passcode is set "
    + "(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly), for good"

struct PasscodeSetCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set the first passcode.",
        discussion: """
            From then on a copy of the keychain's folder opens only with it; copies and backups from before \
            still open by themselves. Whoever forgets it loses every item, unless there is a recovery code \
            (`latchkey recovery make`).

            EXAMPLES
              latchkey passcode set
              printf '%s\\n' "$words" | latchkey passcode set

            --json writes \(DeviceText.jsonForm): how the keychain is afterwards.
            """)

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let reach = try PersonReach(store, in: surroundings)
        guard !reach.state.hasPasscode else { throw CommandFailure(.parameter(.passcodeIsSet)) }
        if console.errorIsTerminal {
            console.note(
                "From now on a copy of the keychain's folder opens only with the passcode; copies from before still "
                    + "open. If you forget it every item is lost, unless you have a recovery code.")
        }
        var input = arguments.input(console)
        let new = SharedSecret(try input.new())
        try reach.ask { door throws(KeychainError) in try door.setPasscode(new) }
        try arguments.report(
            "The passcode is set, and the keychain is unlocked.",
            "`latchkey recovery make` makes a code that opens the keychain if you forget it (one from before does not).",
            of: reach, on: console)
        return .done
    }
}

struct PasscodeChangeCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "change", abstract: "Put another passcode in place of the one you know.",
        discussion: """
            Every item stays, and so does the recovery code. Copies and backups from before open with the old \
            passcode as long as they exist. Where nobody types, the old one is the first line and the new one \
            the second.

            EXAMPLE
              latchkey passcode change

            --json writes \(DeviceText.jsonForm): how the keychain is afterwards.
            """)

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        var input = arguments.input(surroundings.console)
        let old = SharedSecret(try input.existing("Passcode now: "))
        let new = SharedSecret(try input.new())
        try reach.ask { door throws(KeychainError) in try door.changePasscode(from: old, to: new) }
        try arguments.report("The passcode is changed.", of: reach, on: surroundings.console)
        return .done
    }
}

struct PasscodeResetCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Put another passcode in place of a forgotten one, with the recovery code.",
        discussion: """
            Destroys every item that is kept only as long as the passcode is set \
            (kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly): whoever has the recovery code alone does not get \
            those. No TPM guards the new passcode (`latchkey passcode guard`) or keeps what goes with it (`latchkey passcode \
            effacement`). All others stay, and the code opens as before. It asks on a terminal, and needs --yes \
            elsewhere, where the code is the first line and the new passcode the second.

            EXAMPLE
              latchkey passcode reset

            --json writes \(DeviceText.jsonForm): how the keychain is afterwards.
            """)

    @Flag(help: "Destroy those items without asking.")
    var yes = false

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        guard reach.state.hasRecoveryCode else { throw Self.noCode }
        try Confirmation(console: console, isGiven: yes).require(keptWithThePasscode, word: "reset")
        var input = arguments.input(console)
        let code = SharedSecret(try input.existing("Recovery code: "))
        let new = SharedSecret(try input.new())
        try reach.ask { door throws(KeychainError) in try door.resetPasscode(with: code, to: new) }
        try arguments.report(
            "The passcode is reset, and the keychain is unlocked. The recovery code stays.", of: reach, on: console)
        return .done
    }

    private static let noCode = CommandFailure(
        .locked, "there is no recovery code, so nothing opens the keychain but its passcode",
        "Without it there is only `latchkey erase`, which destroys every item and begins anew.")
}

struct PasscodeRemoveCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove the passcode: the keychain opens by itself again.",
        discussion: """
            Destroys every item that is kept only as long as the passcode is set \
            (kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly), and the recovery code; everything else is open to \
            whoever has a copy of the folder. It asks on a terminal, and needs --yes elsewhere.

            EXAMPLES
              latchkey passcode remove
              latchkey passcode remove --recovery

            --json writes \(DeviceText.jsonForm): how the keychain is afterwards.
            """)

    @Flag(help: "Take the recovery code instead of the passcode.")
    var recovery = false

    @Flag(help: "Destroy those items without asking.")
    var yes = false

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        try Confirmation(console: console, isGiven: yes).require(
            "\(keptWithThePasscode), and opens all others to whoever has a copy of the folder", word: "remove")
        var input = arguments.input(console)
        let credential = try input.credential(recovery: recovery)
        try reach.ask { door throws(KeychainError) in try door.removePasscode(with: credential) }
        try arguments.report(
            "The passcode is removed. The keychain opens by itself, and so does a copy of it.", of: reach, on: console)
        return .done
    }
}

struct PasscodeGuardCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "guard", abstract: "Have a TPM look at the passcode, so that a short one will do.",
        discussion: """
            WHO is "tpm" or "none". A copy of the folder is guessed at without limit; with this machine's TPM each \
            guess costs one of its commands, on this machine, and after some wrong ones the TPM takes none for a \
            while: a PIN of six digits is enough then. How many and how long is the machine's own setting, which \
            nothing here changes; wrong passwords of other programs count as well. While it lasts the right passcode is \
            refused too. A slot of the login password (`latchkey slot`) is guessed at without the TPM. The recovery code opens the keychain all the same, and is what is left where the TPM is \
            cleared or breaks: make one first (`latchkey recovery make`).

            "tpm" puts new keys in the place of those that the passcode alone opened; items are moved to them in the \
            background. Copies and backups from before still open with the passcode alone. It takes the passcode, and \
            the recovery code where there is one. `latchkey passcode change` keeps the guard, `reset` does not.

            EXAMPLES
              latchkey passcode guard tpm
              latchkey passcode guard none

            --json writes \(DeviceText.jsonForm): how the keychain is afterwards.
            """)

    @Argument(help: ArgumentHelp("tpm or none.", valueName: "WHO"))
    var guardian: Guardian

    @OptionGroup var tpm: TPMOption

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    enum Guardian: String, ExpressibleByArgument, Sendable {
        case tpm
        case none
    }

    func validate() throws { try tpm.belongs(guardian == .tpm) }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        let door = try reach.remoteDoor()
        var input = arguments.input(console)
        let passcode = SharedSecret(try input.existing())
        let isGuarded = guardian == .tpm
        let needsCode = isGuarded && reach.state.hasRecoveryCode
        let code = try needsCode ? SharedSecret(input.existing("Recovery code: ")) : nil
        let address = isGuarded ? tpm.address : nil
        try PersonReach.asking { () throws(KeychainError) in
            try door.guardPasscode(by: address, passcode: passcode, code: code)
        }
        if isGuarded { try tellOfLogin(door, console) }
        try arguments.report(
            isGuarded
                ? "The TPM looks at the passcode from now on." + (needsCode ? "" : noCodeYet)
                : "The passcode alone opens the keychain from now on.",
            of: reach, on: console)
        return .done
    }

    /// The strength of the whole is that of its weakest slot.
    private func tellOfLogin(_ door: RemotePersonDoor, _ console: any Console) throws(CommandFailure) {
        let slots = try PersonReach.asking { () throws(KeychainError) in try door.slots() }
        guard slots.contains(where: { $0.kind == "login" }) else { return }
        console.note(
            "The login password opens the keychain too, and no TPM looks at that: a copy is guessed at through it. "
                + "`latchkey slot remove login` takes it away.")
    }

    private var noCodeYet: String {
        " Without a recovery code nothing opens the keychain where the TPM is cleared or breaks: `latchkey recovery "
            + "make`."
    }
}
