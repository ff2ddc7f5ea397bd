internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// The states of a keychain behind a daemon, on a connection of their own: that we ask
/// again on it, or end it, is how the daemon knows that we have heard.
final class DaemonDeviceStates: DeviceStates {
    private struct Reached {
        let connection: DaemonConnection
        /// The number that the daemon gave the last state; the next daemon counts anew.
        var number: UInt64 = 0
    }

    private let finder: DaemonFinder
    /// nil while somebody asks on it, and while there is none.
    private let idle = Mutex<Reached?>(nil)

    init(_ finder: DaemonFinder) { self.finder = finder }

    /// Where the daemon ends another is started and asked for the present state; where
    /// that does not succeed it is tried again, for about a minute in all.
    func next(orUntil cancelled: EventSignal) throws(KeychainError) -> DeviceState? {
        var outage = Outage(finder)
        while true {
            outage.begin()
            do throws(DaemonConnection.Interruption) { return try state(orUntil: cancelled) } catch {
                guard try outage.isToGoOn(after: error, orUntil: cancelled) else { return nil }
            }
        }
    }

    private func state(orUntil cancelled: EventSignal) throws(DaemonConnection.Interruption) -> DeviceState? {
        var reached = try reach()
        let result = try reached.connection.wait(
            for: KeychainRequest(.awaitDevice(after: reached.number)), orUntil: cancelled)
        do throws(KeychainError) {
            guard let answer = try result.get() else { return nil }
            guard let state = answer.device else {
                throw KeychainError(.notAvailable, reason: .daemonUnreachable, underlying: "malformed answer")
            }
            reached.number = state.number
            let next = reached
            idle.withLock { $0 = next }
            return state
        } catch { throw DaemonConnection.Interruption(error: error, requestWasSent: false) }
    }

    private func reach() throws(DaemonConnection.Interruption) -> Reached {
        let last = idle.withLock { idle in
            defer { idle = nil }
            return idle
        }
        if let last { return last }
        do throws(KeychainError) { return Reached(connection: try finder.connect()) } catch {
            throw DaemonConnection.Interruption(error: error, requestWasSent: false)
        }
    }
}
