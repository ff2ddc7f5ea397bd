internal import KeychainModel
internal import KeychainPlatform
internal import Synchronization

/// Who has a connection to the daemon, who waits for one, and which are idle.
final class ConnectionLending: Sendable {
    /// Leave to make one call.
    struct Turn {
        /// An idle connection that came with it; nil: one is to be made.
        fileprivate(set) var connection: DaemonConnection?
        /// In which process it was given: a forked child counts anew.
        fileprivate let process: Int32
    }

    private final class Waiting: Sendable {
        let signal: EventSignal
        /// What it was given, before it is signalled.
        let given = Mutex<DaemonConnection?>(nil)

        init() throws(SystemCallError) { signal = try EventSignal() }
    }

    private struct State {
        var idle: [DaemonConnection] = []
        var lent = 0
        /// In their order.
        var waiting: [Waiting] = []
        var process = ProcessEnvironment.processID
    }

    private enum Taken {
        case turn(Turn)
        case mustWait
    }

    private let mostLent: Int
    private let mostIdle: Int
    private let clock: any KeychainClock
    private let state = Mutex(State())

    /// How long a turn is waited for: calls that each last as long as a call may (five
    /// seconds) let those behind them go on.
    private static let patience: Duration = .seconds(60)

    init(mostLent: Int, mostIdle: Int, clock: any KeychainClock) {
        (self.mostLent, self.mostIdle, self.clock) = (mostLent, mostIdle, clock)
    }

    /// Waits for its turn where as many calls are made as may be.
    ///
    /// - Throws: `errSecNotAvailable`, reason `busy`, where none came within a minute, or
    ///   there is no descriptor to wait with.
    func takeTurn() throws(KeychainError) -> Turn {
        let taken = withState { state -> Taken in
            guard state.lent < mostLent else { return .mustWait }
            state.lent += 1
            return .turn(Turn(connection: state.idle.popLast(), process: state.process))
        }
        switch taken {
        case .turn(let turn): return turn
        case .mustWait: return Turn(connection: try wait(), process: ProcessEnvironment.processID)
        }
    }

    /// For a turn that got no connection, because the daemon gives this program no more: the
    /// next that another call gives back; false where there is no other.
    func waitForConnection(_ turn: inout Turn) throws(KeychainError) -> Bool {
        if let idle = withState({ $0.idle.popLast() }) {
            turn.connection = idle
            return true
        }
        let isAlone = withState { state in
            if state.lent > 1 {
                state.lent -= 1
                return false
            }
            return true
        }
        guard !isAlone else { return false }
        do throws(KeychainError) { turn.connection = try wait() } catch {
            // It is ended by its owner as every turn is.
            withState { $0.lent += 1 }
            throw error
        }
        return true
    }

    /// A turn that somebody else's end gave: it counts as lent already.
    private func wait() throws(KeychainError) -> DaemonConnection? {
        let waiting: Waiting
        do throws(SystemCallError) { waiting = try Waiting() } catch { throw Self.busy(error) }
        let isFree = withState { state -> Bool in
            // Somebody may have ended meanwhile.
            guard state.lent >= mostLent || !state.waiting.isEmpty || state.idle.isEmpty && state.lent > 0 else {
                state.lent += 1
                waiting.given.withLock { $0 = state.idle.popLast() }
                return true
            }
            state.waiting.append(waiting)
            return false
        }
        guard !isFree else { return waiting.given.withLock { $0.take() } }
        let deadline = Deadline(after: Self.patience, on: clock)
        // Whoever wakes looks whether it was given a turn: a program that closes what it did
        // not open wakes everybody.
        do throws(SystemCallError) {
            _ = try waitForAny(of: [waiting.signal.descriptor], until: deadline)
        } catch { try leave(waiting, Self.busy(error)) }
        try leave(waiting, Self.busy(nil))
        return waiting.given.withLock { $0.take() }
    }

    /// - Throws: `failure`, unless the turn came at the last moment.
    private func leave(_ waiting: Waiting, _ failure: KeychainError) throws(KeychainError) {
        let wasWaiting = withState { state -> Bool in
            guard let index = state.waiting.firstIndex(where: { $0 === waiting }) else { return false }
            state.waiting.remove(at: index)
            return true
        }
        if wasWaiting { throw failure }
    }

    private static func busy(_ error: SystemCallError?) -> KeychainError {
        KeychainError(
            .notAvailable, reason: .busy,
            underlying: error.map { "\($0)" } ?? "as many calls of this program as may be are made already")
    }

    /// - Parameter connection: nil: there is none that is worth keeping.
    func end(_ turn: Turn, keeping connection: DaemonConnection?) {
        let next = withState { state -> Waiting? in
            // A parent's turn, which ended in the child.
            guard turn.process == state.process else { return nil }
            guard let next = state.waiting.first else {
                state.lent -= 1
                Self.keep(connection, &state, mostIdle)
                return nil
            }
            state.waiting.removeFirst()
            let given = connection ?? state.idle.popLast()
            next.given.withLock { $0 = given }
            return next
        }
        next?.signal.signal()
    }

    /// One that was not lent, for the next who asks.
    func keep(_ connection: DaemonConnection) { withState { Self.keep(connection, &$0, mostIdle) } }

    /// For whoever does not count among those that call.
    func takeIdle() -> DaemonConnection? { withState { $0.idle.popLast() } }

    private static func keep(_ connection: DaemonConnection?, _ state: inout State, _ most: Int) {
        if let connection, state.idle.count < most { state.idle.append(connection) }
    }

    /// A forked child must not speak on its parent's connections, and none of its parent's
    /// threads is there to give anything back.
    private func withState<R>(_ body: (inout State) -> sending R) -> sending R {
        state.withLock { state in
            if state.process != ProcessEnvironment.processID { state = State() }
            return body(&state)
        }
    }
}
