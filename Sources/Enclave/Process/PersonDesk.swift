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
    }

    struct Done: Sendable {
        let work: Work
        let derived: Result<DerivedSecrets, KeychainError>
    }

    private struct State {
        var isBusy = false
        var done: Done?
    }

    /// Readable once something is done.
    let signal: EventSignal
    private let state = Mutex(State())

    init() throws(SystemCallError) { signal = try EventSignal() }

    var isBusy: Bool { state.withLock { $0.isBusy } }

    /// - Precondition: nothing is under way.
    /// - Throws: where there is no thread for it.
    func begin(_ work: Work, _ derivation: PersonDerivation) throws(SystemCallError) {
        state.withLock { $0.isBusy = true }
        do throws(SystemCallError) { try start(work, derivation) } catch {
            state.withLock { $0.isBusy = false }
            throw error
        }
    }

    private func start(_ work: Work, _ derivation: PersonDerivation) throws(SystemCallError) {
        try BackgroundThread.start { [self] in
            let derived: Result<DerivedSecrets, KeychainError>
            do throws(KeychainError) { derived = .success(try derivation.derive()) } catch { derived = .failure(error) }
            state.withLock { $0.done = Done(work: work, derived: derived) }
            signal.signal()
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
