internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The enclave of a keychain, as the person at the command line reaches it: what is
/// typed goes over a socket of the enclave's own, past the daemon.
struct PersonReach {
    /// As it was before anything was asked.
    let state: DeviceState
    /// Held: a daemon with nobody connected may leave while a person types.
    private let keychain: CommandKeychain
    private let dataDirectory: String
    private let surroundings: Surroundings

    /// Starts daemon and enclave where they do not run.
    init(_ store: StoreOptions, in surroundings: Surroundings) throws(CommandFailure) {
        let keychain = try CommandKeychain.open(store, in: surroundings)
        state = try keychain.deviceState()
        dataDirectory = try Self.dataDirectory(of: keychain, store, surroundings)
        self.keychain = keychain
        self.surroundings = surroundings
    }

    /// The folder of a keychain of one's own; nil for any other.
    static func ownDirectory(_ store: StoreOptions, _ surroundings: Surroundings) -> String? {
        let configuration = surroundings.configuration.looking(in: store.dataDirectory.map(surroundings.absolute))
        if case .store(let locations, _) = configuration.target { return locations.dataDirectory }
        return nil
    }

    /// Looks at the files alone, so that who has no such slot has nothing started.
    static func requireLoginSlot(_ store: StoreOptions, _ surroundings: Surroundings) throws(CommandFailure) {
        guard let path = ownDirectory(store, surroundings), !KeybagOutline.names(slot: "login", inData: path) else {
            return
        }
        throw CommandFailure(
            .noMatch, "no login password opens this keychain", "`latchkey slot add login` has it do so.")
    }

    /// Where we know it ourselves nobody is asked.
    private static func dataDirectory(
        of keychain: CommandKeychain, _ store: StoreOptions, _ surroundings: Surroundings
    ) throws(CommandFailure) -> String {
        if let path = ownDirectory(store, surroundings) { return path }
        return try keychain.status().dataDirectory
    }

    /// What a recovery code is good for: a passcode that is forgotten, or hardware that is
    /// gone.
    func requireSomethingToRecover() throws(CommandFailure) {
        if state.hasPasscode { return }
        let recoverable: Set = ["tpm2", "fido2", "recovery-code"]
        if try recoverable.isDisjoint(with: keychain.status().protectors) { try requirePasscode() }
    }

    /// Whether a recovery code opens what the keychain is bound to, passcode or not.
    func codeIsProtector() throws(CommandFailure) -> Bool { try keychain.status().protectors.contains("recovery-code") }

    /// Where there is no passcode there is nothing to open, lock or change.
    func requirePasscode() throws(CommandFailure) {
        guard state.hasPasscode else {
            // Not 3, which says "locked": it is open.
            throw CommandFailure(
                .usage, "there is no passcode, and the keychain is always open", "`latchkey passcode set` sets one.")
        }
    }

    /// A new connection.
    func door() throws(CommandFailure) -> any PersonDoor {
        try Self.asking { () throws(KeychainError) in try surroundings.personDoor(dataDirectory).get() }
    }

    /// As ``door()``, where nothing but the enclave itself will do.
    func remoteDoor() throws(CommandFailure) -> RemotePersonDoor {
        try Self.asking { () throws(KeychainError) in
            try RemotePersonDoor.present(inData: dataDirectory, clock: clock)
        }
    }

    var clock: any KeychainClock { surroundings.configuration.clock }

    /// The state as whoever serves the keychain now tells it.
    func presentState() throws(CommandFailure) -> DeviceState { try keychain.deviceState() }

    /// Does one thing; what a person brought and the enclave does not take is said.
    func ask<R>(_ body: (any PersonDoor) throws(KeychainError) -> R) throws(CommandFailure) -> R {
        try Self.asking(try door(), body)
    }

    static func asking<R>(
        _ door: any PersonDoor, _ body: (any PersonDoor) throws(KeychainError) -> R
    ) throws(CommandFailure) -> R {
        try asking { () throws(KeychainError) in try body(door) }
    }

    static func asking<R>(_ body: () throws(KeychainError) -> R) throws(CommandFailure) -> R {
        do throws(KeychainError) { return try body() } catch {
            if case .malformed = error.reason { throw notACode }
            throw CommandFailure(error)
        }
    }

    private static let notACode = CommandFailure(
        .usage, "that is no recovery code: it has 28 letters and digits, and the last ones tell a slip of the pen",
        "Look at it again; case, spaces and hyphens do not matter.")
}

extension CommandKeychain {
    func deviceState() throws(CommandFailure) -> DeviceState {
        let answer = try asking { () throws(KeychainError) in try transport.perform(KeychainRequest(.device)) }
        guard let state = answer.device else {
            throw CommandFailure(KeychainError(.internalComponent, reason: .internalFault(what: "no state came")))
        }
        return state
    }
}
