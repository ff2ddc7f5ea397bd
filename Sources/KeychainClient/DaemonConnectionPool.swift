package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
internal import Synchronization

/// A keychain behind a daemon: connections are made when needed, kept, and lent
/// to one thread at a time. Threads beyond ``mostLent`` wait for their turn, so that
/// a program with hundreds of them does not run into the daemon's limit of
/// connections.
package final class DaemonConnectionPool: KeychainTransport {
    private let finder: DaemonFinder
    private let lending: ConnectionLending
    private let contexts = ContextShare()

    package init(_ configuration: ClientConfiguration) {
        finder = DaemonFinder(configuration)
        lending = ConnectionLending(mostLent: Self.mostLent, mostIdle: Self.mostIdle, clock: configuration.clock)
    }

    /// Calls of one program that are made at the same time: half of the connections that
    /// the daemon gives a process, the rest of which are for its observers and contexts.
    private static let mostLent = 32
    /// Kept open at the most while nobody calls.
    private static let mostIdle = 8

    package func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        var kept: DaemonConnection?
        var turn = try lending.takeTurn()
        defer { lending.end(turn, keeping: kept) }
        let first = try connection(of: &turn)
        switch attempt(request, on: first) {
        case .success(let result):
            kept = first
            return try result.get()
        case .failure(let interruption):
            guard interruption.isWorthRetrying(isWrite: request.isWrite) else { throw interruption.error }
        }
        let second = try finder.connect()
        guard second.session.identity == first.session.identity else { throw DaemonConnection.becameAnother }
        switch attempt(request, on: second) {
        case .success(let result):
            kept = second
            return try result.get()
        case .failure(let interruption): throw interruption.error
        }
    }

    private func attempt(
        _ request: KeychainRequest, on connection: DaemonConnection
    ) -> Result<Result<KeychainAnswer, KeychainError>, DaemonConnection.Interruption> {
        do throws(DaemonConnection.Interruption) { return .success(try connection.perform(request)) } catch {
            return .failure(error)
        }
    }

    /// The idle one that the turn brought, or a new one. Where the daemon has none left for
    /// this program (its contexts and observers have them), that of another call is waited
    /// for: nothing was asked yet.
    private func connection(of turn: inout ConnectionLending.Turn) throws(KeychainError) -> DaemonConnection {
        if let idle = turn.connection { return idle }
        do throws(KeychainError) { return try finder.connect() } catch {
            guard error.reason == .busy, try lending.waitForConnection(&turn) else { throw error }
        }
        // Once: where the other call's is not to be had either, the daemon says why.
        if let idle = turn.connection { return idle }
        return try finder.connect()
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
        do throws(KeychainError) {
            if reusing, let idle = lending.takeIdle() { connection = idle } else { connection = try finder.connect() }
        } catch {
            return .failure(DaemonConnection.Interruption(error: error, requestWasSent: false))
        }
        do throws(DaemonConnection.Interruption) {
            let result = try connection.wait(for: request, orUntil: cancelled)
            if case .success(nil) = result { return .success(result) }
            lending.keep(connection)
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

    package func authenticationSession() -> any AuthenticationSession { DaemonSession(finder, contexts) }

    package func session() throws(KeychainError) -> SessionInformation {
        var turn = try lending.takeTurn()
        var kept: DaemonConnection?
        defer { lending.end(turn, keeping: kept) }
        let connection = try connection(of: &turn)
        kept = connection
        return connection.session
    }
}
