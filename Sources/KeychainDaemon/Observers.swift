internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import KeychainStore
internal import Synchronization

/// A connection that asked for changes and waits until there are any. It keeps the
/// rights that it had when it asked, until its next question.
struct Observer: Sendable {
    let connection: ClientConnection
    let request: UInt64
    /// Moves on with what was looked at, so that nothing is looked at twice.
    var position: ChangePosition
    let scope: ChangeScope
    let authorization: Authorization
}

/// The connections that wait for changes. No worker waits with them: one thread,
/// begun with the first of them, is woken by commits and answers those that have
/// something to hear; everything else about them is in the store's log and in the
/// position that each client keeps.
final class Observers: Sendable {
    private struct State {
        var waiting: [UInt64: Observer] = [:]
        /// Those that nobody has looked at yet.
        var arrived: [UInt64] = []
        var thread: WorkerThread?
    }

    private let engine: KeychainEngine
    private let server: RequestServer
    private let stop: EventSignal
    private let state = Mutex(State())
    /// Commits.
    private let bell: EventSignal
    private let arrivals: EventSignal

    /// - Parameter stop: signalled when the daemon leaves; signalled by us where
    ///   nothing can be waited for any more.
    init(_ engine: KeychainEngine, _ server: RequestServer, until stop: EventSignal) throws(SystemCallError) {
        self.engine = engine
        self.server = server
        self.stop = stop
        arrivals = try EventSignal()
        bell = try engine.store.bell.listen()
    }

    var count: Int { state.withLock { $0.waiting.count } }

    /// From here on the connection is ours until it is answered or ``forget(_:)``.
    ///
    /// - Parameter next: what follows an answer: the connection goes back to the
    ///   workers, or ends. The same for all.
    func add(_ observer: Observer, then next: @escaping @Sendable (ClientConnection, Ending?) -> Void) {
        state.withLock { state in
            state.waiting[observer.connection.number] = observer
            state.arrived.append(observer.connection.number)
            guard state.thread == nil else { return }
            let thread = WorkerThread { [self] in work(next) }
            state.thread = thread
            thread.start()
        }
        arrivals.signal()
    }

    /// After the stop was signalled.
    func waitUntilDone() {
        engine.store.bell.leave(bell)
        state.withLock { $0.thread }?.waitUntilDone()
    }

    func forget(_ connection: ClientConnection) {
        state.withLock { _ = $0.waiting.removeValue(forKey: connection.number) }
    }

    private func work(_ next: @Sendable (ClientConnection, Ending?) -> Void) {
        do throws(SystemCallError) {
            while true {
                switch try waitForAny(of: [stop.descriptor, bell.descriptor, arrivals.descriptor]) {
                case 0: return
                case 1:
                    bell.drain()
                    for observer in everybody() { look(observer, next) }
                default:
                    arrivals.drain()
                    for observer in newcomers() { look(observer, next) }
                }
            }
        } catch {
            // Nobody would be told anything any more and none of them would know: the
            // next daemon is asked from the positions that they have.
            stop.signal()
        }
    }

    private func everybody() -> [Observer] {
        state.withLock { state in
            state.arrived = []
            return Array(state.waiting.values)
        }
    }

    private func newcomers() -> [Observer] {
        state.withLock { state in
            defer { state.arrived = [] }
            return state.arrived.compactMap { state.waiting[$0] }
        }
    }

    private func look(_ observer: Observer, _ next: (ClientConnection, Ending?) -> Void) {
        var ending: Ending?
        do throws(Ending) {
            // It has read everything, so that what it is told needs no wait.
            if let position = try server.tell(observer, within: .zero) {
                return state.withLock { $0.waiting[observer.connection.number]?.position = position }
            }
        } catch {
            ending = error
        }
        let wasOurs = state.withLock { $0.waiting.removeValue(forKey: observer.connection.number) != nil }
        if wasOurs { next(observer.connection, ending) }
    }
}
