internal import ArgumentParser
internal import KeychainPlatform

struct SecretServiceExecCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Run a command that finds org.freedesktop.secrets, where there is no bus.",
        usage: "latchkey secret-service exec -- <command> [<argument> ...]",
        discussion: """
            For a container, a server or a build, where nothing runs a session bus: the command gets a \
            DBUS_SESSION_BUS_ADDRESS of its own, at which org.freedesktop.secrets answers and nothing else. It and \
            what it starts store in your keychain (within `latchkey temp`, in the temporary one). It ends with the \
            command.

            Where the keychain is locked and the command has a terminal, a prompt there asks for the passcode; \
            else it is told so at once. A collection named session lasts as long as the command.

            The status is the command's own, 128 + N where signal N ended it, 127 where it was not \
            found and 126 where it could not be started.

            EXAMPLES
              latchkey secret-service exec -- secret-tool lookup service mail
              latchkey temp -- latchkey secret-service exec -- pytest
            """)

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    /// Taken only to be refused in plain words.
    @OptionGroup(visibility: .hidden) var store: StoreOptions

    mutating func validate() throws {
        if command.isEmpty {
            throw ValidationError("Give the command after --: latchkey secret-service exec -- COMMAND")
        }
        if store.dataDirectory != nil {
            throw ValidationError("exec serves the keychain that the command itself would use; leave out --data-dir.")
        }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        // What keeps it from serving is said here, where somebody reads it.
        _ = try CommandKeychain.open(store, in: surroundings).deviceState()
        let service = try PrivateSecretService.start(surroundings.configuration)
        let outcome = CommandRun.run(command, setting: PrivateSecretService.variable, to: service.address)
        // The command's status is what was asked for, whatever stays behind.
        do throws(CommandFailure) { try service.end() } catch { surroundings.console.note("\(error)") }
        return try outcome.get()
    }
}
