internal import KeychainClient
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// The keychain's side of a context: opened where it is first needed, in the
/// keychain that is the current one there, and none any more once it was ended.
final class ContextSession: Sendable {
    private enum State {
        case unopened
        case open(any AuthenticationSession, hasCredential: Bool)
        case ended
    }

    private let state = Mutex(State.unopened)

    var isEnded: Bool {
        state.withLock { if case .ended = $0 { true } else { false } }
    }

    var hasCredential: Bool {
        state.withLock { if case .open(_, let hasCredential) = $0 { hasCredential } else { false } }
    }

    func use<Outcome>(
        _ body: (any AuthenticationSession) throws(KeychainError) -> Outcome
    ) throws(KeychainError) -> Outcome {
        let session = try opened()
        do throws(KeychainError) { return try body(session) } catch {
            if error.reason == .contextInvalid { forget(session) }
            throw error
        }
    }

    func setApplicationPassword(_ password: SharedSecret?) throws(KeychainError) {
        try use { session throws(KeychainError) in
            try session.setApplicationPassword(password)
            state.withLock { state in
                guard case .open(let current, _) = state, current === session else { return }
                state = .open(session, hasCredential: password != nil)
            }
        }
    }

    /// An evaluation or call that waits comes back; the next ones fail at once.
    func end() {
        let session: (any AuthenticationSession)? = state.withLock { state in
            defer { state = .ended }
            if case .open(let session, _) = state { return session }
            return nil
        }
        session?.end()
    }

    private func opened() throws(KeychainError) -> any AuthenticationSession {
        if let session = try known() { return session }
        return try adopt(CurrentKeychain.transport().authenticationSession())
    }

    private func known() throws(KeychainError) -> (any AuthenticationSession)? {
        switch state.withLock({ $0 }) {
        case .unopened: return nil
        case .open(let session, _): return session
        case .ended: throw Self.invalid
        }
    }

    /// Another thread may have been first, or has ended the context meanwhile.
    private func adopt(_ fresh: any AuthenticationSession) throws(KeychainError) -> any AuthenticationSession {
        let kept: (any AuthenticationSession)? = state.withLock { state in
            switch state {
            case .unopened:
                state = .open(fresh, hasCredential: false)
                return fresh
            case .open(let first, _): return first
            case .ended: return nil
            }
        }
        if kept !== fresh { fresh.end() }
        guard let kept else { throw Self.invalid }
        return kept
    }

    /// One whose connection has ended, with what was agreed to in it: the next use
    /// opens another, in which a person has to agree again.
    private func forget(_ session: any AuthenticationSession) {
        state.withLock { state in
            guard case .open(let current, _) = state, current === session else { return }
            state = .unopened
        }
    }

    private static var invalid: KeychainError { KeychainError(.authFailed, reason: .contextInvalid) }
}
