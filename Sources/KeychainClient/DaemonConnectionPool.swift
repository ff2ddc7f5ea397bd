package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
internal import Synchronization

/// A keychain behind a daemon: connections are made when needed, kept, and lent
/// to one thread at a time.
package final class DaemonConnectionPool: KeychainTransport {
    private struct State {
        var idle: [DaemonConnection] = []
        var process = ProcessEnvironment.processID
    }

    /// Kept open at the most; more threads than that make their own each time.
    private static let mostIdle = 8

    private let finder: DaemonFinder
    private let state = Mutex(State())

    package init(_ configuration: ClientConfiguration) { finder = DaemonFinder(configuration) }

    package func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        let first = try takeIdleOrConnect()
        switch attempt(request, on: first) {
        case .success(let result): return try result.get()
        case .failure(let interruption):
            // A read can be asked again, a write only while it had not left.
            guard interruption.isWorthRetrying, !request.isWrite || !interruption.requestWasSent else {
                throw interruption.error
            }
        }
        switch attempt(request, on: try finder.connect()) {
        case .success(let result): return try result.get()
        case .failure(let interruption): throw interruption.error
        }
    }

    private func attempt(
        _ request: KeychainRequest, on connection: DaemonConnection
    ) -> Result<Result<KeychainAnswer, KeychainError>, DaemonConnection.Interruption> {
        do throws(DaemonConnection.Interruption) {
            let result = try connection.perform(request)
            giveBack(connection)
            return .success(result)
        } catch {
            return .failure(error)
        }
    }

    /// Waits on a connection of its own. Where the daemon ends meanwhile another is
    /// started and asked from the same position; where that does not succeed it is
    /// tried again, for about a minute in all.
    package func changes(
        after position: ChangePosition, in scope: ChangeScope, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch? {
        let request = KeychainRequest(.changes(after: position, in: scope))
        var outage = Outage(finder)
        var isFirst = true
        while true {
            outage.begin()
            switch wait(for: request, reusing: isFirst, orUntil: cancelled) {
            case .success(let result): return try result.get()?.changes
            case .failure(let interruption):
                guard try outage.isToGoOn(after: interruption, orUntil: cancelled) else { return nil }
            }
            isFirst = false
        }
    }

    private func wait(
        for request: KeychainRequest, reusing: Bool, orUntil cancelled: EventSignal
    ) -> Result<Result<KeychainAnswer?, KeychainError>, DaemonConnection.Interruption> {
        let connection: DaemonConnection
        do throws(KeychainError) { connection = reusing ? try takeIdleOrConnect() : try finder.connect() } catch {
            return .failure(DaemonConnection.Interruption(error: error, requestWasSent: false))
        }
        do throws(DaemonConnection.Interruption) {
            let result = try connection.wait(for: request, orUntil: cancelled)
            if case .success(nil) = result { return .success(result) }
            giveBack(connection)
            // Of a daemon that is busy now another answer may come later.
            if case .failure(let error) = result, error.reason.mayPass {
                return .failure(DaemonConnection.Interruption(error: error, requestWasSent: false))
            }
            return .success(result)
        } catch {
            return .failure(error)
        }
    }

    package func deviceStates() -> any DeviceStates { DaemonDeviceStates(finder) }

    package func authenticationSession() -> any AuthenticationSession { DaemonSession(finder) }

    package func session() throws(KeychainError) -> SessionInformation {
        let connection = try takeIdleOrConnect()
        defer { giveBack(connection) }
        return connection.session
    }

    private func takeIdleOrConnect() throws(KeychainError) -> DaemonConnection {
        if let idle = takeIdle() { return idle }
        return try finder.connect()
    }

    private func takeIdle() -> DaemonConnection? {
        state.withLock { state in
            // A forked child must not speak on its parent's connections.
            if state.process != ProcessEnvironment.processID {
                state.idle = []
                state.process = ProcessEnvironment.processID
            }
            // One whose daemon has gone fails to send, and the call is made anew.
            return state.idle.popLast()
        }
    }

    private func giveBack(_ connection: DaemonConnection) {
        state.withLock { state in
            if state.idle.count < Self.mostIdle { state.idle.append(connection) }
        }
    }
}
