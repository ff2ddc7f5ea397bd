internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The one keybag of an enclave process: opened when the first daemon asks for
/// it, then kept for all connections. Used by the server's one thread.
final class EnclaveKeeper {
    private enum State: ~Copyable {
        case closed
        case open(EnclaveCore)
    }

    private let directory: EnclaveDirectory
    private let clock: any KeychainClock
    private let cost: PasscodeCost
    private let hardware: any HardwareDoor
    /// The fingerprint reader.
    let reader: ReaderView
    private var state: State = .closed
    /// Why nobody tells of sleep and locked screens; nil: somebody does, or nobody has to.
    var loginsFault: String?
    /// What keeps the process from other things; nil where it is not ours alone.
    var confined: Confined?

    init(
        _ directory: EnclaveDirectory, clock: any KeychainClock, cost: PasscodeCost = .calibrated,
        hardware: any HardwareDoor = NoHardware(), reader: ReaderView = ReaderView(isThere: false)
    ) {
        self.reader = reader
        self.directory = directory
        self.clock = clock
        self.cost = cost
        self.hardware = PatientHardware(hardware, clock: clock)
    }

    /// Now, by the time that counts for attempts and for what a person agreed to: it
    /// goes on while the machine sleeps, and nobody can set it.
    var moment: Duration { clock.sinceBoot }

    /// What the calendar says, which anybody may set: dates what is recorded.
    var wallClock: Double { clock.wallClock }

    /// Whether the reader has to be looked at before anything is said of it.
    var isReaderStale: Bool { reader.isStale(at: clock.monotonic) }

    /// Opens the keybag where it is not open yet, and checks the store.
    ///
    /// - Throws: `errSecNotAvailable`; the keybag stays closed then, and the next
    ///   attempt reads the files again.
    func open(for opener: KeybagOpener) throws(KeychainError) {
        do throws(KeybagError) {
            if let store {
                guard opener.accepts(store) else { throw .mismatch }
            } else {
                state = .open(
                    try directory.open(
                        for: opener, at: moment, cost: cost, hardware: hardware, biometry: reader))
            }
        } catch { throw opener.refusal(by: error) }
    }

    /// Whether nothing is open, and the folder it would be opened in is not where it was:
    /// whoever brings that back is not kept from it.
    var isOfNoUse: Bool { stateNumber == nil && !directory.isInPlace }

    /// Says in the lock file where this enclave listens.
    func announce(inRun path: String) throws(KeybagError) {
        try directory.announce(EnclaveRendezvous(processID: ProcessEnvironment.processID, runDirectory: path))
    }

    private var store: StoreID? {
        switch state {
        case .closed: nil
        case .open(let core): core.store
        }
    }

    /// Lends the engine.
    ///
    /// - Throws: ``SessionError/outOfTurn`` while the keybag is closed.
    func withCore<R: ~Copyable>(
        _ body: (inout EnclaveCore) throws(SessionError) -> R
    ) throws(SessionError) -> R {
        var taken = State.closed
        swap(&taken, &state)
        switch consume taken {
        case .closed: throw .outOfTurn
        case .open(var core):
            let result: Result<R, SessionError>
            do throws(SessionError) { result = .success(try body(&core)) } catch { result = .failure(error) }
            state = .open(core)
            return try result.get()
        }
    }

    /// When the keychain locks for want of use, by ``moment``; nil: it does not.
    var idleLockDue: Duration? {
        switch state {
        case .closed: nil
        case .open(let core): core.idleLockDue
        }
    }

    /// When what is kept for a finger goes, by ``moment``; nil: nothing is.
    var keptUntil: Duration? {
        switch state {
        case .closed: nil
        case .open(let core): core.keptUntil
        }
    }

    /// Whether the person chose that something which logind tells locks the keychain.
    var wantsLogins: Bool {
        switch state {
        case .closed: false
        case .open(let core): core.keybag.body.hasPasscode && core.keybag.body.lockPolicy.followsLogins
        }
    }

    /// The number of what is told of the device (``DeviceState/number``), which is looked at
    /// with each message; nil while the keybag is closed.
    var stateNumber: UInt64? {
        switch state {
        case .closed: nil
        case .open(let core): core.stateNumber
        }
    }

    /// What is told of the device; nil while the keybag is closed.
    var device: DeviceState? {
        switch state {
        case .closed: nil
        case .open(let core): core.state(at: moment)
        }
    }
}
