internal import ArgumentParser
internal import KeychainPlatform
internal import KeychainProtocol

/// What every command takes that a person opens something with.
struct PersonArguments: ParsableArguments {
    @Option(
        name: .customLong("passcode-fd"),
        help: ArgumentHelp("Read what would be typed from this descriptor, a line each.", valueName: "n"))
    var descriptor: Int32?

    @Option(
        name: .customLong("passcode-credential"),
        help: ArgumentHelp("Read it from this credential of the systemd unit (LoadCredential=).", valueName: "name"))
    var credential: String?

    @Flag(help: "Write how the keychain is afterwards as JSON.")
    var json = false

    func validate() throws {
        if descriptor != nil, credential != nil {
            throw ValidationError("--passcode-fd and --passcode-credential name two places; give one")
        }
    }

    func input(_ console: any Console) -> PasscodeInput {
        if let credential { return PasscodeInput(console: console, from: .credential(credential)) }
        return PasscodeInput(console: console, from: descriptor.map(PasscodeInput.Source.descriptor) ?? .console)
    }

    /// Says what was done: to a person in words, to a program as the new state.
    func report(_ words: String..., of reach: PersonReach, on console: any Console) throws(CommandFailure) {
        if json {
            let line = DeviceText(try reach.presentState()).json.text
            try printing { () throws(SystemCallError) in try console.write("\(line)\n") }
        }
        guard console.errorIsTerminal else { return }
        for line in words { console.note(line) }
    }
}
