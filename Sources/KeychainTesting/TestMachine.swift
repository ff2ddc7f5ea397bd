internal import Enclave
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import Synchronization

/// What every scope of one test keychain shares: the engine over a folder of its
/// own. The keys are in memory only and outlive a restart of the engine.
final class TestMachine: Sendable {
    private let clock: TestClock
    private let enclave: InProcessEnclave
    private let folder: TestFolder
    let log = CallLog()
    /// On the machine's own clock, since the test's stands; with more patience than a
    /// person's, so that a test on a busy machine sees each lock coming.
    let board = DeviceBoard(clock: SystemClock(), patience: .seconds(10))
    /// The finger of this test's person, and the reader.
    let finger = TestFinger()
    /// What the person does when asked.
    let behaviour = TestBehaviour()
    /// What the person of this test remembers.
    private let passcode = Mutex<SharedSecret?>(nil)
    /// The engine, or why there is none.
    private let running: Mutex<Result<KeychainEngine, KeychainError>>
    private let isClosed = Atomic(false)

    var path: String { folder.path }

    init(clock: TestClock) throws(KeychainError) {
        self.clock = clock
        enclave = try InProcessEnclave.ephemeral(
            clock: clock, passcodeCost: Self.cheapPasscodes, biometry: finger)
        folder = try TestFolder()
        running = Mutex(.success(try Self.start(folder, enclave, clock)))
        board.tell(enclave.state())
    }

    private static func start(
        _ folder: TestFolder, _ enclave: InProcessEnclave, _ clock: TestClock
    ) throws(KeychainError) -> KeychainEngine {
        try KeychainEngine.open(
            dataDirectory: folder.path, clock: clock, keys: .elsewhere, applicationPasswordKibibytes: 8
        ) { _ in enclave }
    }

    deinit { close() }

    /// Tests set passcodes by the hundred, and nobody guesses theirs.
    private static let cheapPasscodes = PasscodeCost.fixed(passes: 1, kibibytes: 8) ?? .calibrated

    // MARK: The device

    var device: DeviceState { enclave.state() }

    /// Does something to the device; the engine has heard of it when this returns.
    private func changeDevice(
        _ change: (any PersonDoor, SharedSecret?) throws(KeychainError) -> SharedSecret?
    ) throws(KeychainError) {
        let before = passcode.withLock { $0 }
        let after = try change(enclave, before)
        passcode.withLock { $0 = after }
        try deviceChanged()
    }

    private func deviceChanged() throws(KeychainError) {
        let engine = try engine()
        try engine.deviceChanged()
        try engine.renewRows()
        board.tell(device)
    }

    func setPasscode(_ new: SharedSecret) throws(KeychainError) {
        try changeDevice { door, before throws(KeychainError) in
            if let before { try door.changePasscode(from: before, to: new) } else { try door.setPasscode(new) }
            return new
        }
    }

    func removePasscode() throws(KeychainError) {
        try changeDevice { door, before throws(KeychainError) in
            guard let before else { throw Self.noPasscode }
            try door.removePasscode(with: .passcode(before))
            return nil
        }
    }

    func lock() throws(KeychainError) {
        var present = device
        if present.hasPasscode, present.lock == .unlocked {
            present.isClosing = true
            board.tell(present)
        }
        try changeDevice { door, before throws(KeychainError) in
            try door.lock()
            return before
        }
    }

    func unlock() throws(KeychainError) {
        try changeDevice { door, before throws(KeychainError) in
            guard let before else { throw Self.noPasscode }
            try door.unlock(with: .passcode(before))
            return before
        }
    }

    /// As after a new start of the computer.
    func restartDevice() throws(KeychainError) {
        enclave.restart()
        try deviceChanged()
    }

    /// The person of this test.
    var person: TestPerson { TestPerson(enclave, finger, behaviour, passcode.withLock { $0 }) }

    private static let noPasscode = KeychainError(.authFailed, reason: .passcodeNotSet)

    /// - Throws: `errSecNotAvailable` once the keychain is closed.
    func engine() throws(KeychainError) -> KeychainEngine { try running.withLock { $0 }.get() }

    /// Stops the engine for good, and says so to whoever follows the lock.
    func close() {
        isClosed.store(true, ordering: .releasing)
        stop()
        board.ring()
    }

    /// Stops the engine; what it stored is still there for ``restart()``.
    private func stop() {
        let before = running.withLock { running in
            defer { running = .failure(Self.closed) }
            return running
        }
        guard case .success(let engine) = before else { return }
        // A database that cannot be closed is left behind with its folder.
        do throws(KeychainError) { try engine.close() } catch {
            StandardError.write("latchkey: a test keychain was not closed: \(error)\n")
        }
    }

    private static let closed = KeychainError(
        .notAvailable, reason: .daemonUnreachable, underlying: "this TestKeychain is closed")

    private func refuseOnceClosed() throws(KeychainError) {
        if isClosed.load(ordering: .acquiring) { throw Self.closed }
    }

    /// Where the engine does not start, every later call answers why.
    ///
    /// - Throws: also `errSecNotAvailable` once the keychain is closed.
    func restart() throws(KeychainError) {
        try refuseOnceClosed()
        stop()
        do throws(KeychainError) {
            let fresh = try Self.start(folder, enclave, clock)
            running.withLock { $0 = .success(fresh) }
        } catch {
            running.withLock { $0 = .failure(error) }
            throw error
        }
    }

    func insecureCorruptDatabase() throws(KeychainError) {
        try refuseOnceClosed()
        try StoreSabotage.insecureCorruptDatabase(inDataDirectory: folder.path)
    }
}
