internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// The keychain with each call told to be for the program that is served now, so that the
/// audit record says which it was, and not our own name alone.
///
/// One thread waits for the daemon on behalf of all clients: where one of them has waited in
/// vain the others hear so at once (``DaemonSilence``).
final class ServedKeychain: KeychainTransport {
    private let keychain: any KeychainTransport
    private let clock: any KeychainClock
    private let served = Mutex<ServedProgram?>(nil)
    private let silence = Mutex(DaemonSilence())

    init(_ keychain: any KeychainTransport, clock: any KeychainClock) {
        (self.keychain, self.clock) = (keychain, clock)
    }

    /// For whom calls are made from now on; nil: for nobody but ourselves.
    func serve(_ program: ServedProgram?) { served.withLock { $0 = program } }

    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        var request = request
        request.served = served.withLock { $0 }
        let begun = clock.monotonic
        guard silence.withLock({ $0.admits(at: begun) }) else { throw DaemonSilence.failure }
        do throws(KeychainError) {
            let answer = try keychain.perform(request)
            silence.withLock { $0.answered() }
            return answer
        } catch {
            silence.withLock { $0.failed(error, from: begun, to: clock.monotonic) }
            throw error
        }
    }

    /// Several searches in as few requests as will do; the rows of each in their order.
    func copyEach(_ searches: [QueryDictionary]) throws(KeychainError) -> [[AnswerRow]] {
        var found: [[AnswerRow]] = []
        var rest = searches[...]
        while !rest.isEmpty {
            let together = Array(rest.prefix(KeychainRequest.mostSearches))
            rest = rest.dropFirst(together.count)
            var answers: [[AnswerRow]] = Array(repeating: [], count: together.count)
            for row in try perform(KeychainRequest(.copyEach(together))).rows {
                // Whatever answers more than it was asked is no keychain of ours.
                guard answers.indices.contains(row.search) else {
                    throw KeychainError(.internalComponent, reason: .internalFault(what: "an answer to another search"))
                }
                answers[row.search].append(row)
            }
            found += answers
        }
        return found
    }

    func changes(
        after position: ChangePosition, in scope: ChangeScope, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch? {
        try keychain.changes(after: position, in: scope, orUntil: cancelled)
    }

    func session() throws(KeychainError) -> SessionInformation { try keychain.session() }

    func authenticationSession() throws(KeychainError) -> any AuthenticationSession {
        try keychain.authenticationSession()
    }

    func deviceStates() throws(KeychainError) -> any DeviceStates { try keychain.deviceStates() }
}
