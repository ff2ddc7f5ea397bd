internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// The keychain with each call told to be for the program that is served now, so that the
/// audit record says which it was, and not our own name alone.
final class ServedKeychain: KeychainTransport {
    private let keychain: any KeychainTransport
    private let served = Mutex<ServedProgram?>(nil)

    init(_ keychain: any KeychainTransport) { self.keychain = keychain }

    /// For whom calls are made from now on; nil: for nobody but ourselves.
    func serve(_ program: ServedProgram?) { served.withLock { $0 = program } }

    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        var request = request
        request.served = served.withLock { $0 }
        return try keychain.perform(request)
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
