internal import ArgumentParser
internal import KeychainPlatform
internal import KeychainProtocol

/// From where a command takes what a person opens something with, where it is not typed.
struct SecretSource: ParsableArguments {
    @Option(
        name: .customLong("passcode-fd"),
        help: ArgumentHelp("Read what would be typed from this descriptor, a line each.", valueName: "n"))
    var descriptor: Int32?

    @Option(
        name: .customLong("passcode-credential"),
        help: ArgumentHelp("Read it from this credential of the systemd unit (LoadCredential=).", valueName: "name"))
    var credential: String?

    var isGiven: Bool { descriptor != nil || credential != nil }

    func validate() throws {
        if descriptor != nil, credential != nil {
            throw ValidationError("--passcode-fd and --passcode-credential name two places; give one")
        }
    }

    func input(_ console: any Console) -> PasscodeInput {
        if let credential { return PasscodeInput(console: console, from: .credential(credential)) }
        return PasscodeInput(console: console, from: descriptor.map(PasscodeInput.Source.descriptor) ?? .console)
    }
}

/// Which TPM is meant.
struct TPMOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the TPM is: device:PATH or swtpm:PATH (default: device:/dev/tpmrm0).", valueName: "ADDRESS"))
    private var at: String?

    var address: TPMAddress { at.flatMap { TPMAddress($0) } ?? .machines }

    func validate() throws {
        if let at, TPMAddress(at) == nil { throw ValidationError(TPMAddress.isWanted) }
    }

    /// Refuses an address where no TPM is meant.
    func belongs(_ isMeant: Bool) throws {
        if !isMeant, at != nil { throw ValidationError("--at goes with tpm") }
    }
}

extension TPMAddress {
    /// What is said to an address of another form.
    static let isWanted =
        "--at is device:PATH or swtpm:PATH with an absolute path, as in device:/dev/tpmrm0"
}

/// What every command takes that a person opens something with.
struct PersonArguments: ParsableArguments {
    @OptionGroup private var source: SecretSource

    @Flag(help: "Write how the keychain is afterwards as JSON.")
    var json = false

    func input(_ console: any Console) -> PasscodeInput { source.input(console) }

    func expectNothingTyped() throws {
        guard !source.isGiven else {
            throw ValidationError("nothing is typed here: leave out --passcode-fd and --passcode-credential")
        }
    }

    private static func told(_ left: [TPMPlace]) -> String {
        "A secret that was to be destroyed may still be there: \(left.map(\.description).joined(separator: ", ")). That "
            + "TPM does not answer, or another one does in its place, or the keychain's files could not all be written; a "
            + "copy of the folder from before may open with it. It is tried again at each start, and after an unlock or a "
            + "change for which the passcode, the login password or the recovery code is typed; `latchkey doctor` says "
            + "whether it is gone."
    }

    /// Says what was done: to a person in words, to a program as the new state.
    func report(_ words: String..., of reach: PersonReach, on console: any Console) throws(CommandFailure) {
        if json {
            let line = DeviceText(try reach.presentState()).json.text
            try printing { () throws(SystemCallError) in try console.write("\(line)\n") }
        }
        let left = try reach.presentState().effacement.left
        if !left.isEmpty { console.note(Self.told(left)) }
        guard console.errorIsTerminal else { return }
        for line in words { console.note(line) }
    }
}
