internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct LockCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Lock the keychain until the passcode is given.",
        discussion: """
            Its keys are wiped from memory. Items that programs may use in the background after the first unlock \
            (kSecAttrAccessibleAfterFirstUnlock) stay open, as with Apple; what `latchkey set` stores closes. \
            Takes no passcode; without one set there is nothing to lock, and the status is 3.

            EXAMPLE
              latchkey lock

            --json writes {"passcode", "lock", "recoveryCode", "failedAttempts", "secondsToNextAttempt", \
            "openClasses"}: how the keychain is afterwards.
            """)

    @Flag(help: "Write how the keychain is afterwards as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        try reach.ask { door throws(KeychainError) in try door.lock() }
        var arguments = PersonArguments()
        arguments.json = json
        try arguments.report("Locked.", of: reach, on: surroundings.console)
        return .done
    }
}

struct UnlockCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Open the keychain with the passcode.",
        discussion: """
            It stays open until `latchkey lock`, or until its programs end, as when the machine is shut down. \
            After failed attempts the next has to wait, longer each time; an attempt that comes too early is not \
            looked at. On a terminal it asks three times. The status is 3 where the keychain stays locked.

            The passcode is typed at a prompt that does not show it or, where standard input is not a terminal, \
            its first line; --passcode-fd reads it from a descriptor. It is never an argument.

            EXAMPLES
              latchkey unlock
              ssh -t server latchkey unlock
              systemd-ask-password -n | latchkey unlock

            --json writes {"passcode", "lock", "recoveryCode", "failedAttempts", "secondsToNextAttempt", \
            "openClasses"}: how the keychain is afterwards.
            """)

    @Flag(help: "Take the recovery code instead of the passcode.")
    var recovery = false

    @OptionGroup var arguments: PersonArguments
    @OptionGroup var store: StoreOptions

    /// How often a person may type.
    private static let tries = 3

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let console = surroundings.console
        let reach = try PersonReach(store, in: surroundings)
        try reach.requirePasscode()
        if recovery, !reach.state.hasRecoveryCode {
            throw CommandFailure(.locked, "there is no recovery code", "Leave out --recovery and give the passcode.")
        }
        var input = arguments.input(console)
        for _ in 1..<(input.canAskAgain ? Self.tries : 1) {
            if try opens(reach, with: input.credential(recovery: recovery)) { return try report(reach, console) }
            console.note("That is not right. Try again.")
        }
        let last = try input.credential(recovery: recovery)
        try reach.ask { door throws(KeychainError) in try door.unlock(with: last) }
        return try report(reach, console)
    }

    /// False where it is not right; all else is a failure.
    private func opens(_ reach: PersonReach, with credential: PersonCredential) throws(CommandFailure) -> Bool {
        try reach.ask { door throws(KeychainError) -> Bool in
            do throws(KeychainError) { try door.unlock(with: credential) } catch {
                guard error.reason == .authenticationFailed else { throw error }
                return false
            }
            return true
        }
    }

    private func report(_ reach: PersonReach, _ console: any Console) throws(CommandFailure) -> ExitStatus {
        try arguments.report("Unlocked.", of: reach, on: console)
        return .done
    }
}
