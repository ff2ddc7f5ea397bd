internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// Makes what is slow about a person's request on a thread of its own, one after
/// the other, so that the loop goes on opening keys.
final class PersonDesk: Sendable {
    /// One request that is being worked on.
    struct Work: Sendable {
        let connection: UInt64
        let number: UInt64
        let request: Request

        enum Request: Sendable {
            case change(PersonRequest)
            /// To agree to the question of that name.
            case agree([UInt8], PersonCredential)
        }

        /// Whether it depends on what the fingerprint reader is.
        var needsReader: Bool {
            if case .change(.slot(.add(.fingerprint, _))) = request { true } else { false }
        }
    }

    struct Done: Sendable {
        let work: Work
        var derived: Result<DerivedSecrets, KeychainError>
        /// What is still to be done by devices.
        let devices: DeviceWork?
        /// Whether they were asked, for somebody whose credential was right.
        var areDevicesAsked = false
        /// What was destroyed after the rest was done, and what is to be told of that.
        var sweep: Sweep?
    }

    /// What a request that is done left to be destroyed in TPMs.
    struct Sweep: Sendable {
        let outcome: Result<PersonOutcome, KeychainError>
        let hasChanged: Bool
        var undefined: [TPMIndex] = []
        /// nil: nothing was to be counted.
        var counted: CounterWork.Outcome?
    }

    private struct State {
        var isBusy = false
        var done: Done?
    }

    /// Readable once something is done.
    let signal: EventSignal
    private let state = Mutex(State())

    /// Starts a thread, or throws.
    typealias Start = @Sendable (@escaping @Sendable () -> Void) throws(SystemCallError) -> Void
    private let startThread: Start

    init(startThread: @escaping Start) throws(SystemCallError) {
        self.startThread = startThread
        signal = try EventSignal()
    }

    var isBusy: Bool { state.withLock { $0.isBusy } }

    /// - Precondition: nothing is under way.
    /// - Throws: where there is no thread for it.
    func begin(_ work: Work, _ derivation: PersonDerivation) throws(SystemCallError) {
        try start { () throws(KeychainError) in
            Done(work: work, derived: .success(try derivation.derive()), devices: derivation.work)
        } orElse: {
            Done(work: work, derived: .failure($0), devices: nil)
        }
    }

    /// As ``begin(_:_:)``, with what devices do.
    func begin(_ work: Work, _ devices: DeviceWork, after derived: DerivedSecrets) throws(SystemCallError) {
        try start {
            Done(work: work, derived: .success(devices.done(for: derived)), devices: nil, areDevicesAsked: true)
        } orElse: {
            Done(work: work, derived: .failure($0), devices: nil)
        }
    }

    /// What was done again, with what a TPM says of the count of an attempt that is to be tried.
    func begin(counting: DeviceWork, of done: Done, _ derived: DerivedSecrets) throws(SystemCallError) {
        try start {
            var done = done
            var derived = derived
            derived.counted = counting.done().counter
            done.derived = .success(derived)
            return done
        } orElse: {
            Done(work: done.work, derived: .failure($0), devices: nil)
        }
    }

    /// As ``begin(_:_:)``, with what is to be destroyed, and counted, before the person hears of
    /// it.
    func begin(_ work: Work, destroying left: DeviceWork, then sweep: Sweep) throws(SystemCallError) {
        try start {
            var sweep = sweep
            let outcome = left.done()
            sweep.undefined = outcome.effacement.undefined
            sweep.counted = outcome.counter
            return Done(work: work, derived: .success(DerivedSecrets()), devices: nil, sweep: sweep)
        } orElse: {
            Done(work: work, derived: .failure($0), devices: nil, sweep: sweep)
        }
    }

    private func start(
        _ slow: @escaping @Sendable () throws(KeychainError) -> Done,
        orElse failed: @escaping @Sendable (KeychainError) -> Done
    ) throws(SystemCallError) {
        state.withLock { $0.isBusy = true }
        do throws(SystemCallError) {
            try startThread { [self] in
                let done: Done
                do throws(KeychainError) { done = try slow() } catch { done = failed(error) }
                state.withLock { $0.done = done }
                signal.signal()
            }
        } catch {
            state.withLock { $0.isBusy = false }
            throw error
        }
    }

    /// What was done, once; from then on the next may begin.
    func take() -> Done? {
        signal.drain()
        return state.withLock { state in
            guard let done = state.done else { return nil }
            state = State()
            return done
        }
    }
}
