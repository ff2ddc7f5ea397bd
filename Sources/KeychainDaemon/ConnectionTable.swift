internal import KeychainPlatform
internal import PeerIdentity
internal import Synchronization

/// The open connections, by number, within their limits.
final class ConnectionTable: Sendable {
    private struct State {
        var open: [UInt64: ClientConnection] = [:]
        /// Greetings that are not over, for their deadlines.
        var greeting: Set<UInt64> = []
        var byProcess: [Int32: Int] = [:]
        var next: UInt64 = 16
    }

    private let limits: DaemonLimits
    private let state = Mutex(State())

    init(_ limits: DaemonLimits) { self.limits = limits }

    var count: Int { state.withLock { $0.open.count } }

    /// A number for a new connection, or nil where the process or the user has
    /// too many.
    func reserve(for process: Int32) -> UInt64? {
        state.withLock { state in
            let own = state.byProcess[process, default: 0]
            guard own < limits.connectionsOfOneProcess, state.open.count < limits.connections else { return nil }
            state.byProcess[process] = own + 1
            state.next += 1
            return state.next
        }
    }

    /// Gives a reserved number back that no connection came to use.
    func release(_ process: Int32) { state.withLock { Self.forget(process, &$0) } }

    /// True where no other greeting was waiting: its deadline is the next.
    func insert(_ connection: ClientConnection) -> Bool {
        state.withLock { state in
            state.open[connection.number] = connection
            state.greeting.insert(connection.number)
            return state.greeting.count == 1
        }
    }

    subscript(number: UInt64) -> ClientConnection? { state.withLock { $0.open[number] } }

    var all: [ClientConnection] { state.withLock { Array($0.open.values) } }

    /// The connections that have been greeted.
    var greeted: [ClientConnection] {
        state.withLock { state in state.open.values.filter { !state.greeting.contains($0.number) } }
    }

    func finishGreeting(_ number: UInt64) { state.withLock { _ = $0.greeting.remove(number) } }

    /// Takes a connection out; its descriptor closes with its last owner.
    @discardableResult
    func remove(_ number: UInt64) -> ClientConnection? {
        state.withLock { state in
            guard let connection = state.open.removeValue(forKey: number) else { return nil }
            state.greeting.remove(number)
            Self.forget(connection.peer.processID, &state)
            return connection
        }
    }

    private static func forget(_ process: Int32, _ state: inout State) {
        let left = state.byProcess[process, default: 1] - 1
        state.byProcess[process] = left > 0 ? left : nil
    }

    /// Greetings whose deadline has passed, and the next deadline to come.
    ///
    /// - Parameter now: one reading for both: what is due between two is in neither.
    func overdue(at now: Duration) -> (numbers: [UInt64], next: Deadline?) {
        state.withLock { state in
            let waiting = state.greeting.compactMap { state.open[$0] }
            let late = waiting.filter { $0.greetingDeadline.moment <= now }
            let next = waiting.filter { $0.greetingDeadline.moment > now }
                .min { $0.greetingDeadline.moment < $1.greetingDeadline.moment }
            return (late.map(\.number), next?.greetingDeadline)
        }
    }
}
