import Dispatch
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Synchronization

/// A person and a keychain as a test writes them down: what each session answers,
/// and what was asked of it.
final class ScriptedSession: AuthenticationSession {
    struct Script {
        var means = AuthenticationMeans(hasPasscode: true)
        /// What ends every evaluation; nil: the person agrees.
        var refusal: KeychainError?
        /// What ends every use of any kind.
        var failure: KeychainError?
        /// An evaluation waits for the end of the session, as before a person who
        /// does nothing.
        var isPersonSlow = false
    }

    private struct State {
        var demands: [AuthenticationDemand] = []
        var requests: [KeychainRequest] = []
        var passwords: [[UInt8]?] = []
        var ends = 0
    }

    let script: Script
    private let state = Mutex(State())
    private let asked = DispatchSemaphore(value: 0)

    init(_ script: Script) { self.script = script }

    var demands: [AuthenticationDemand] { state.withLock { $0.demands } }
    var requests: [KeychainRequest] { state.withLock { $0.requests } }
    var passwords: [[UInt8]?] { state.withLock { $0.passwords } }
    var ends: Int { state.withLock { $0.ends } }

    func means() throws(KeychainError) -> AuthenticationMeans {
        try check()
        return script.means
    }

    func evaluate(_ demand: AuthenticationDemand) throws(KeychainError) {
        state.withLock { $0.demands.append(demand) }
        try check()
        if script.isPersonSlow {
            asked.signal()
            ended.wait()
            throw KeychainError(.authFailed, reason: .contextInvalid)
        }
        if let refusal = script.refusal { throw refusal }
    }

    func setApplicationPassword(_ password: SharedSecret?) throws(KeychainError) {
        try check()
        state.withLock { $0.passwords.append(password.map { $0.bytes.insecureArray() }) }
    }

    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        state.withLock { $0.requests.append(request) }
        try check()
        return KeychainAnswer()
    }

    func end() {
        state.withLock { $0.ends += 1 }
        ended.signal()
    }

    /// Returns when somebody is being asked.
    func waitUntilAsked() { asked.wait() }

    private let ended = DispatchSemaphore(value: 0)

    private func check() throws(KeychainError) {
        if let failure = script.failure { throw failure }
        if ends > 0 { throw KeychainError(.authFailed, reason: .contextInvalid) }
    }
}

/// Counts what calls arrive by which way.
final class ScriptedKeychain: KeychainTransport {
    private struct State {
        var scripts: [ScriptedSession.Script]
        var sessions: [ScriptedSession] = []
        var plain: [KeychainRequest] = []
    }

    private let state: Mutex<State>

    /// - Parameter scripts: one for each session that is opened; the last for all
    ///   that follow; none: no session can be opened.
    init(_ scripts: ScriptedSession.Script...) { state = Mutex(State(scripts: scripts)) }

    var sessions: [ScriptedSession] { state.withLock { $0.sessions } }
    /// Requests that came by no session.
    var plain: [KeychainRequest] { state.withLock { $0.plain } }

    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        state.withLock { $0.plain.append(request) }
        return KeychainAnswer()
    }

    func changes(
        after position: ChangePosition, in scope: ChangeScope, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch? { nil }

    func session() throws(KeychainError) -> SessionInformation {
        throw KeychainError(.notAvailable, reason: .daemonUnreachable)
    }

    func authenticationSession() throws(KeychainError) -> any AuthenticationSession {
        let session = state.withLock { state -> ScriptedSession? in
            guard let script = state.scripts.first else { return nil }
            if state.scripts.count > 1 { state.scripts.removeFirst() }
            let session = ScriptedSession(script)
            state.sessions.append(session)
            return session
        }
        guard let session else { throw KeychainError(.notAvailable, reason: .daemonUnreachable) }
        return session
    }

    func deviceStates() throws(KeychainError) -> any DeviceStates {
        throw KeychainError(.notAvailable, reason: .daemonUnreachable)
    }
}
