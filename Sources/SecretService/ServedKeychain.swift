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

    var program: ServedProgram? { served.withLock { $0 } }

    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        var request = request
        request.served = served.withLock { $0 }
        return try unlessSilent { () throws(KeychainError) in try keychain.perform(request) }
    }

    /// The keychain for what has to be tried also where the daemon was silent a moment ago:
    /// to lock, and to tell a person's success from a refusal.
    var whateverSilence: any KeychainTransport { keychain }

    private func unlessSilent<R>(_ call: () throws(KeychainError) -> R) throws(KeychainError) -> R {
        let begun = clock.monotonic
        guard silence.withLock({ $0.admits(at: begun) }) else { throw DaemonSilence.failure }
        do throws(KeychainError) {
            let answer = try call()
            silence.withLock { $0.answered() }
            return answer
        } catch {
            silence.withLock { $0.failed(error, from: begun, to: clock.monotonic) }
            throw error
        }
    }

    func changes(
        after position: ChangePosition, in scope: ChangeScope, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch? {
        try keychain.changes(after: position, in: scope, orUntil: cancelled)
    }

    func session() throws(KeychainError) -> SessionInformation {
        try unlessSilent { () throws(KeychainError) in try keychain.session() }
    }

    func authenticationSession() throws(KeychainError) -> any AuthenticationSession {
        try keychain.authenticationSession()
    }

    func deviceStates() throws(KeychainError) -> any DeviceStates { try keychain.deviceStates() }
}
