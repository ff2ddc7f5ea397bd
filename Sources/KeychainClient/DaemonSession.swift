internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// One LAContext at the daemon: a connection of its own, with which everything ends
/// that a person agreed to. Where the daemon ended, a call is made at the next one, where
/// a person is asked anew; without the application password that the first had, which has to be
/// set again before anything else is done.
final class DaemonSession: AuthenticationSession {
    private enum State: Sendable {
        case unused(Password)
        case open(DaemonConnection, Password)
        case ended
    }

    private enum Password: Sendable {
        case none
        case held
        /// It went with a daemon.
        case lost
    }

    /// Why a call has no answer.
    private struct Failure: Error {
        let error: KeychainError
        /// Nothing was done, and the next daemon is asked as this one was.
        let isWorthRetrying: Bool
    }

    private let finder: DaemonFinder
    private let share: ContextShare
    /// A forked child has nothing of what its parent was agreed to, and must not end it.
    private let process = ProcessEnvironment.processID
    private let state = Mutex(State.unused(.none))
    /// As whom the daemon of the first call knew this program: the context is that one's alone.
    private let identity = Mutex<String?>(nil)
    /// One call at a time.
    private let turn = Mutex(())

    init(_ finder: DaemonFinder, _ share: ContextShare) { (self.finder, self.share) = (finder, share) }

    deinit { end() }

    /// Nothing of the context is in it: while a prompt is open in one, whoever asks whether a
    /// person could be asked is answered beside it.
    func means() throws(KeychainError) -> AuthenticationMeans {
        let request = KeychainRequest(.means)
        guard isOurs else { throw Self.invalid }
        let answer = turn.withLockIfAvailable { _ in result(of: request) } ?? resultBeside(request)
        guard let means = try answer.get().means else {
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
        guard isOurs else { return }
        let connection = state.withLock { state -> DaemonConnection? in
            defer { state = .ended }
            if case .open(let connection, _) = state { return connection }
            return nil
        }
        guard let connection else { return }
        share.giveBack()
        connection.shutDown()
    }

    private var isOurs: Bool { process == ProcessEnvironment.processID }

    private func ask(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        guard isOurs else { throw Self.invalid }
        return try turn.withLock { _ in result(of: request) }.get()
    }

    /// Whose turn it is.
    private func result(of request: KeychainRequest) -> Result<KeychainAnswer, KeychainError> {
        var request = request
        request.isInContext = true
        do throws(Failure) { return .success(try answer(to: request)) } catch {
            guard error.isWorthRetrying else { return .failure(error.error) }
        }
        do throws(Failure) { return .success(try answer(to: request)) } catch { return .failure(error.error) }
    }

    private func answer(to request: KeychainRequest) throws(Failure) -> KeychainAnswer {
        let connection: DaemonConnection
        do throws(KeychainError) { connection = try self.connection(for: request) } catch {
            throw Failure(error: error, isWorthRetrying: false)
        }
        let result: Result<KeychainAnswer, KeychainError>
        do throws(DaemonConnection.Interruption) { result = try connection.perform(request) } catch {
            throw lose(over: error, request)
        }
        do throws(KeychainError) {
            let answer = try result.get()
            if case .setApplicationPassword = request.operation { note(request.value != nil, on: connection) }
            return answer
        } catch { throw Failure(error: error, isWorthRetrying: false) }
    }

    private func note(_ holdsPassword: Bool, on connection: DaemonConnection) {
        state.withLock { state in
            if case .open = state { state = .open(connection, holdsPassword ? .held : .none) }
        }
    }

    /// Whatever was agreed to went with the connection.
    private func lose(over interruption: DaemonConnection.Interruption, _ request: KeychainRequest) -> Failure {
        state.withLock { state in
            guard case .open(_, let password) = state else {
                return Failure(error: Self.invalid, isWorthRetrying: false)
            }
            state = .unused(password == .none ? .none : .lost)
            share.giveBack()
            return Failure(
                error: interruption.error,
                isWorthRetrying: interruption.isWorthRetrying(isWrite: request.isWrite))
        }
    }

    /// Whether it is the same without the application password.
    private static func needsNoPassword(_ request: KeychainRequest) -> Bool {
        switch request.operation {
        case .means, .setApplicationPassword: true
        default: false
        }
    }

    private static let lost = KeychainError(
        .notAvailable, reason: .daemonUnreachable,
        underlying: "the daemon ended, and the context's application password with it: set it again")

    /// On a connection for this request alone.
    private func resultBeside(_ request: KeychainRequest) -> Result<KeychainAnswer, KeychainError> {
        if case .ended = state.withLock({ $0 }) { return .failure(Self.invalid) }
        do throws(KeychainError) {
            let connection = try finder.connect()
            defer { connection.shutDown() }
            do throws(DaemonConnection.Interruption) { return try connection.perform(request) } catch {
                return .failure(error.error)
            }
        } catch { return .failure(error) }
    }

    private func connection(for request: KeychainRequest) throws(KeychainError) -> DaemonConnection {
        let password: Password
        switch state.withLock({ $0 }) {
        case .open(let connection, let password):
            guard password != .lost || Self.needsNoPassword(request) else { throw Self.lost }
            return connection
        case .ended: throw Self.invalid
        case .unused(let known): password = known
        }
        guard password != .lost || Self.needsNoPassword(request) else { throw Self.lost }
        let fresh = try share.connect(finder)
        let isEnded = state.withLock { state -> Bool in
            if case .ended = state { return true }
            state = .open(fresh, password)
            return false
        }
        guard !isEnded else {
            share.giveBack()
            throw Self.invalid
        }
        let owner = identity.withLock { identity -> String in
            if let identity { return identity }
            identity = fresh.session.identity
            return fresh.session.identity
        }
        guard owner == fresh.session.identity else {
            forget(fresh, password)
            throw DaemonConnection.becameAnother
        }
        return fresh
    }

    private func forget(_ connection: DaemonConnection, _ password: Password) {
        let isOpen = state.withLock { state -> Bool in
            guard case .open = state else { return false }
            state = .unused(password)
            return true
        }
        guard isOpen else { return }
        share.giveBack()
        connection.shutDown()
    }

    private static let invalid = KeychainError(.authFailed, reason: .contextInvalid)
}

/// How many of a program's connections to one daemon its contexts have: the daemon gives it
/// 64, and without one no call is made at all.
final class ContextShare: Sendable {
    /// Leaves some for calls and for whoever watches.
    static let most = 56

    private struct State {
        var taken = 0
        /// A forked child has none of its parent's.
        var process = ProcessEnvironment.processID
    }

    private let state = Mutex(State())

    /// - Throws: `errSecNotAvailable`, reason `busy`, where the contexts have as many as they may.
    func connect(_ finder: DaemonFinder) throws(KeychainError) -> DaemonConnection {
        let isFull = state.withLock { state in
            if state.process != ProcessEnvironment.processID { state = State() }
            guard state.taken < Self.most else { return true }
            state.taken += 1
            return false
        }
        guard !isFull else {
            throw KeychainError(
                .notAvailable, reason: .busy, underlying: "\(Self.most) contexts of this program are in use")
        }
        do throws(KeychainError) { return try finder.connect() } catch {
            giveBack()
            throw error
        }
    }

    func giveBack() {
        state.withLock { if $0.process == ProcessEnvironment.processID { $0.taken -= 1 } }
    }
}
