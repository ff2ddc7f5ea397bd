internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// A context of a program that `latchkey explain` started: its calls are told of
/// as the program's others are. What a person is asked is not.
final class ExplainedSession: AuthenticationSession {
    private let session: any AuthenticationSession
    private let keychain: ExplainedKeychain

    init(_ session: any AuthenticationSession, of keychain: ExplainedKeychain) {
        self.session = session
        self.keychain = keychain
    }

    func means() throws(KeychainError) -> AuthenticationMeans { try session.means() }

    func evaluate(_ demand: AuthenticationDemand) throws(KeychainError) { try session.evaluate(demand) }

    func setApplicationPassword(_ password: SharedSecret?) throws(KeychainError) {
        try session.setApplicationPassword(password)
    }

    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        try keychain.explained(request) { () throws(KeychainError) in try session.perform(request) }
    }

    func end() { session.end() }
}
