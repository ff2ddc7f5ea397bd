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
