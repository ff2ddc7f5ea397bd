internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct RecoveryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery", abstract: "Make or remove the code that opens the keychain without the passcode.",
        subcommands: [RecoveryMakeCommand.self, RecoveryRemoveCommand.self])
}

struct RecoveryMakeCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "make", abstract: "Make a recovery code, shown once on the terminal.",
        discussion: """
            The code, of 28 letters and digits, opens the keychain as the passcode does (`latchkey unlock \
            --recovery`), replaces a forgotten one (`latchkey passcode reset`), and opens a keychain whose TPM is gone. Write it down and keep it \
            away from the machine: nothing shows it again, and no file holds it. It is shown on a terminal alone, \
            never to a pipe, and has to be typed back before it opens anything; then it is taken off the screen, and \
            a code from before does not open any more.

            EXAMPLE
              latchkey recovery make

            --json writes \(DeviceText.jsonForm): how the keychain is afterwards.
            """)

    @Flag(help: "Write how the keychain is afterwards as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    /// How often the code may be typed back.
    private static let tries = 3

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        guard console.inputIsTerminal, console.outputIsTerminal else {
            throw CommandFailure(
                .locked, "a recovery code is shown on a terminal alone, to somebody who types it back",
                "Run it on a terminal, with neither input nor output redirected.")
        }
        let reach = try PersonReach(store, in: surroundings)
        try reach.requireSomethingToRecover()
        var input = PasscodeInput(console: console)
        let passcode = try reach.state.hasPasscode ? SharedSecret(input.existing()) : nil
        let door = try reach.door()
        let code = try PersonReach.asking(door) { door throws(KeychainError) in
            try door.makeRecoveryCode(passcode: passcode)
        }
        try show(code, on: console)
        let attempts = try confirm(at: door, &input, console)
        try hide(code.bytes.count, after: attempts, on: console)
        if reach.state.counter.tpm != nil {
            console.note(
                "A TPM counts for this keychain: backups from before open with the code from before alone. Make a new one "
                    + "now (`latchkey backup`), or keep both codes.")
        }
        var arguments = PersonArguments()
        arguments.json = json
        try arguments.report(
            "The recovery code opens the keychain from now on.", of: reach, on: console)
        return .done
    }

    private func show(_ code: SharedSecret, on console: any Console) throws(CommandFailure) {
        console.note("Write this code down and keep it away from this machine. It is shown once:")
        try printing { () throws(SystemCallError) in
            try console.write("\n" + Self.margin)
            try console.write(code.bytes)
            try console.write("\n\n")
        }
    }

    /// Takes the code off the screen, and so out of the scroll-back, if it has not
    /// scrolled out of sight. Only where every line between went to the screen, and by a
    /// terminal that has commands.
    ///
    /// - Parameter length: the code's, in characters.
    private func hide(_ length: Int, after attempts: Int, on console: any Console) throws(CommandFailure) {
        guard console.errorIsTerminal else { return }
        guard let columns = console.screenColumns else {
            return console.note("This terminal cannot take the code off its screen: clear it.")
        }
        let rows = { (width: Int) in max(1, (width + columns - 1) / columns) }
        // The code and the empty line; the prompts; what was said between them.
        let lines =
            rows(Self.margin.count + length) + 1 + attempts * rows(Self.prompt.count)
            + (attempts - 1) * rows(Self.again.count)
        // ECMA-48: cursor up, then erase to the end of the screen.
        try printing { () throws(SystemCallError) in try console.write("\u{1b}[\(lines)A\u{1b}[J") }
    }

    private static let margin = "    "
    private static let prompt = "Type it back: "
    private static let again = "That is another one. Try again."

    /// Only what was read back from the paper proves that it is there.
    ///
    /// - Returns: how many attempts that took.
    private func confirm(
        at door: any PersonDoor, _ input: inout PasscodeInput, _ console: any Console
    ) throws(CommandFailure) -> Int {
        for attempt in 1...Self.tries {
            let typed = SharedSecret(try input.existing(Self.prompt))
            do throws(KeychainError) {
                try door.confirmRecoveryCode(typed)
                return attempt
            } catch {
                guard error.reason == .authenticationFailed else { throw CommandFailure(error) }
                if attempt < Self.tries { console.note(Self.again) }
            }
        }
        throw CommandFailure(
            .usage, "the code was not typed back: it opens nothing",
            "Run `latchkey recovery make` again; it makes another code.")
    }
}

struct RecoveryRemoveCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Have the recovery code open nothing any more.",
        discussion: """
            Takes the passcode, as `latchkey unlock` does. Copies and backups from before still open with the code.

            EXAMPLE
              latchkey recovery remove

            --json writes \(DeviceText.jsonForm): how the keychain is afterwards.
            """)

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let reach = try PersonReach(store, in: surroundings)
        try reach.requireSomethingToRecover()
        var hasCode = reach.state.hasRecoveryCode
        if !reach.state.hasPasscode { hasCode = try reach.codeIsProtector() }
        guard hasCode else {
            throw CommandFailure(.noMatch, "there is no recovery code", "`latchkey recovery make` makes one.")
        }
        var input = arguments.input(surroundings.console)
        let passcode = try reach.state.hasPasscode ? SharedSecret(input.existing()) : nil
        try reach.ask { door throws(KeychainError) in try door.removeRecoveryCode(passcode: passcode) }
        try arguments.report("The recovery code is removed.", of: reach, on: surroundings.console)
        return .done
    }
}
