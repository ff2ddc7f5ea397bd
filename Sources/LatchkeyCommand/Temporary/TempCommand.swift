internal import ArgumentParser
internal import KeychainPlatform

struct TempCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "temp",
        abstract: "Run a command with a private keychain that is destroyed afterwards.",
        usage: "latchkey temp [--entitlements <file>] [--passcode] -- <command> [<argument> ...]",
        discussion: """
            Starts a keychain of its own in a new folder and runs the command with LATCHKEY_TEMP set \
            to its socket: every keychain call of the command and of what it starts goes there, this \
            program's included. Signals sent to `latchkey temp` are handed to the command. When it \
            ends, the keychain is destroyed, also where `latchkey temp` itself was killed.

            Without --entitlements every client has the access group "latchkey", so that programs and \
            the command line see the same items. With it, every client has what the file grants: an \
            XML property list with Apple's keys (keychain-access-groups, application-identifier, \
            com.apple.security.application-groups and others). Where that does not name "latchkey" \
            the command line uses the first group.

            With --passcode it has a passcode from the start and is unlocked, so that items of \
            kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly can be stored, `latchkey lock` and `latchkey unlock` \
            of the command close and open it, and a prompt asks for it. It is typed twice before anything \
            starts; --passcode-fd reads it from a descriptor to its end. The command does not get that \
            descriptor: of 0 it has nothing left to read. It is never an argument and never in the environment.

            The status is the command's own, 128 + N where signal N ended it, 127 where it was not \
            found and 126 where it could not be started.

            EXAMPLES
              latchkey temp -- sh -c 'echo pw | latchkey set a; latchkey get a'
              latchkey temp --entitlements App.entitlements -- swift test
              latchkey temp --passcode -- sh
              printf '0000\\n' | latchkey temp --passcode-fd 0 -- ./test-locking
            """)

    @Option(help: ArgumentHelp("Give every client the entitlements of this property list.", valueName: "file"))
    var entitlements: String?

    @Flag(help: "Give the keychain a passcode, typed on the terminal.")
    var passcode = false

    @Option(
        name: .customLong("passcode-fd"),
        help: ArgumentHelp("Give the keychain the passcode that this descriptor's first line is.", valueName: "n"))
    var descriptor: Int32?

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    /// Taken only to be refused in plain words.
    @OptionGroup(visibility: .hidden) var store: StoreOptions

    mutating func validate() throws {
        if command.isEmpty { throw ValidationError("Give the command after --: latchkey temp -- COMMAND") }
        if store.dataDirectory != nil {
            throw ValidationError("temp makes a data directory of its own; leave out --data-dir.")
        }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let rights = entitlements.map(surroundings.absolute)
        if let rights { try Self.check(rights) }
        var passcode = try chosenPasscode(surroundings.console)
        let keychain = try TemporaryKeychain.start(entitlements: rights, surroundings.configuration)
        if let passcode {
            do throws(CommandFailure) { try keychain.set(passcode, by: surroundings.personDoor) } catch {
                try keychain.end()
                throw error
            }
        }
        // Wiped before the command runs, however long that takes.
        passcode = nil
        let outcome = CommandRun.run(command, setting: TemporaryKeychain.variable, to: keychain.socket)
        try keychain.end()
        return try outcome.get()
    }

    /// Standard input is the command's, unless it was named.
    private func chosenPasscode(_ console: any Console) throws(CommandFailure) -> SharedSecret? {
        guard passcode || descriptor != nil else { return nil }
        var input = PasscodeInput(console: console, from: descriptor.map(PasscodeInput.Source.descriptor) ?? .console)
        guard descriptor != nil || input.canAskAgain else {
            throw CommandFailure(
                .locked, "a passcode is needed and nobody can be asked",
                "Run it on a terminal, or open a descriptor for it: latchkey temp --passcode-fd 3 -- COMMAND 3< FILE")
        }
        let typed = SharedSecret(try input.new("Passcode of the temporary keychain: "))
        if let descriptor { try Self.forget(descriptor) }
        return typed
    }

    /// A file could be read again by the command.
    private static func forget(_ descriptor: Int32) throws(CommandFailure) {
        guard descriptor <= 2 else { return _ = Descriptor(owning: descriptor) }
        do throws(SystemCallError) { try ProcessEnvironment.empty(descriptor) } catch {
            throw CommandFailure(
                .unavailable, "the descriptor of the passcode stays open (\(error))", "Name another one.")
        }
    }

    /// The daemon reads the file; that it can be read at all is said here.
    private static func check(_ path: String) throws(CommandFailure) {
        do throws(SystemCallError) { _ = try PrivateFile.readAll(path, atMost: 1 << 20) } catch {
            throw CommandFailure(
                .usage, "the entitlements file cannot be read (\(SystemCallError("read", errno: error.errno)))",
                "Name a property list of at most 1 MiB that you may read.")
        }
    }
}
