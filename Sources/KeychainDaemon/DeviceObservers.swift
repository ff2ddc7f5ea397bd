internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import Synchronization

/// A connection that asked for another state of the keychain than it knows.
struct DeviceObserver: Sendable {
    let connection: ClientConnection
    let request: UInt64
    /// The number of the state that it has heard of.
    let known: UInt64
}

/// The connections that wait for another state of the keychain. Neither a worker nor
/// a thread waits with them: whoever writes on the board answers them.
final class DeviceObservers: Sendable {
    private struct Entry {
        let listener: UInt64
        /// nil while it has its answer and has not asked again.
        var waiting: DeviceObserver?
    }

    private let board: DeviceBoard
    private let server: RequestServer
    private let entries = Mutex<[UInt64: Entry]>([:])

    init(_ board: DeviceBoard, _ server: RequestServer) {
        self.board = board
        self.server = server
    }

    var count: Int { entries.withLock { $0.count } }

    /// From here on the connection is ours until it is answered or ``forget(_:)``.
    ///
    /// - Parameter next: what follows an answer: the connection goes back to the
    ///   workers, or ends. The same for all.
    func add(_ observer: DeviceObserver, then next: @escaping @Sendable (ClientConnection, Ending?) -> Void) {
        let number = observer.connection.number
        entries.withLock { entries in
            let listener =
                entries[number]?.listener ?? board.join { [weak self] in self?.look(number, next) }
            entries[number] = Entry(listener: listener, waiting: observer)
        }
        look(number, next)
    }

    /// A connection that ended has heard of everything.
    func forget(_ connection: ClientConnection) {
        let entry = entries.withLock { $0.removeValue(forKey: connection.number) }
        if let entry { board.leave(entry.listener) }
    }

    /// When nobody will be told anything any more.
    func forgetAll() {
        let all = entries.withLock { entries in
            defer { entries = [:] }
            return Array(entries.values)
        }
        for entry in all { board.leave(entry.listener) }
    }

    private func look(_ number: UInt64, _ next: (ClientConnection, Ending?) -> Void) {
        guard let entry = entries.withLock({ $0[number] }), let asked = entry.waiting else { return }
        let outcome: Result<DeviceState, KeychainError>
        do throws(KeychainError) {
            guard let state = try board.state(after: asked.known, for: entry.listener) else { return }
            outcome = .success(state)
        } catch { outcome = .failure(error) }
        // Who takes it out answers it.
        let observer = entries.withLock { entries in
            let observer = entries[number]?.waiting
            guard observer?.request == asked.request else { return nil as DeviceObserver? }
            entries[number]?.waiting = nil
            return observer
        }
        guard let observer else { return }
        var ending: Ending?
        do throws(Ending) { try server.tell(observer, outcome) } catch { ending = error }
        next(observer.connection, ending)
    }
}
