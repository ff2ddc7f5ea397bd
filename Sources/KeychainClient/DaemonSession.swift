internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// One LAContext at the daemon: a connection of its own, with which everything ends
/// that a person agreed to.
final class DaemonSession: AuthenticationSession {
    private enum State: Sendable {
        case unused
        case open(DaemonConnection)
        case ended
    }

    private let finder: DaemonFinder
    private let state = Mutex(State.unused)
    /// One call at a time.
    private let turn = Mutex(())

    init(_ finder: DaemonFinder) { self.finder = finder }

    deinit { end() }

    func means() throws(KeychainError) -> AuthenticationMeans {
        guard let means = try ask(KeychainRequest(.means)).means else {
            throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "malformed answer")
        }
        return means
    }

    func evaluate(_ demand: AuthenticationDemand) throws(KeychainError) { _ = try ask(KeychainRequest(.evaluate(demand))) }

    func setApplicationPassword(_ password: SharedSecret?) throws(KeychainError) {
        _ = try ask(KeychainRequest(.setApplicationPassword, value: password))
    }

    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer { try ask(request) }

    /// Ends the connection, and with it a prompt that is open.
    func end() {
        let connection = state.withLock { state -> DaemonConnection? in
            defer { state = .ended }
            if case .open(let connection) = state { return connection }
            return nil
        }
        connection?.shutDown()
    }

    private func ask(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        var request = request
        request.isInContext = true
        let asked = request
        let result = turn.withLock { _ -> Result<KeychainAnswer, KeychainError> in
            do throws(KeychainError) {
                let connection = try connection()
                do throws(DaemonConnection.Interruption) { return try connection.perform(asked) } catch {
                    // Whatever was agreed to went with it.
                    let wasEnded = state.withLock { state -> Bool in
                        if case .ended = state { return true }
                        state = .unused
                        return false
                    }
                    return .failure(wasEnded ? Self.invalid : error.error)
                }
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func connection() throws(KeychainError) -> DaemonConnection {
        switch state.withLock({ $0 }) {
        case .open(let connection): return connection
        case .ended: throw Self.invalid
        case .unused:
            let fresh = try finder.connect()
            let isEnded = state.withLock { state -> Bool in
                if case .ended = state { return true }
                state = .open(fresh)
                return false
            }
            guard !isEnded else { throw Self.invalid }
            return fresh
        }
    }

    private static let invalid = KeychainError(.authFailed, reason: .contextInvalid)
}
