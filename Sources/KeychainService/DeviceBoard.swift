package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
internal import Synchronization

/// Where it is written whether the keychain is open, for all who want to hear of it.
/// A lock that is announced waits here until each of them has.
package final class DeviceBoard: Sendable {
    private struct Listener {
        /// The state that it said to have heard.
        var heard: UInt64 = 0
        /// Called when there is another state; must not wait.
        let ring: @Sendable () -> Void
    }

    private struct State {
        var present: DeviceState?
        /// Why nobody knows the present state.
        var failure: KeychainError?
        var number: UInt64 = 0
        var listeners: [UInt64: Listener] = [:]
        var nextListener: UInt64 = 1
        /// Signalled when somebody has heard, or left.
        var waiting: [EventSignal] = []
    }

    /// What a person who locks the keychain waits for the programs at the most.
    package static let patience: Duration = .seconds(2)

    private let patience: Duration
    private let clock: any KeychainClock
    private let state = Mutex(State())

    /// - Parameter patience: how long all together may take to hear of a lock, however
    ///   many there are.
    package init(clock: any KeychainClock, patience: Duration = DeviceBoard.patience) {
        self.clock = clock
        self.patience = patience
    }

    // MARK: Listening

    /// - Returns: the listener's number, until it leaves.
    package func join(_ ring: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            defer { state.nextListener += 1 }
            state.listeners[state.nextListener] = Listener(ring: ring)
            return state.nextListener
        }
    }

    package func leave(_ listener: UInt64) {
        hearing { $0.listeners[listener] = nil }
    }

    /// What follows the state of that number (0: the present one); nil as long as
    /// nothing does. Asking says that everything up to it was heard.
    ///
    /// - Throws: what ``lose(_:)`` was told, until there is a state again.
    package func state(after number: UInt64, for listener: UInt64) throws(KeychainError) -> DeviceState? {
        hearing { state in
            let heard = state.listeners[listener]?.heard ?? 0
            state.listeners[listener]?.heard = max(heard, min(number, state.number))
        }
        let (failure, next) = state.withLock { state in
            (state.failure, state.number == number ? nil : state.present)
        }
        if let failure { throw failure }
        return next
    }

    private func hearing(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            return state.waiting
        }
        for one in waiting { one.signal() }
    }

    /// Has every listener ask again.
    package func ring() {
        for ring in state.withLock({ $0.listeners.values.map(\.ring) }) { ring() }
    }

    // MARK: Telling

    /// Nobody knows the state any more: whoever asks is told why, and nothing else.
    package func lose(_ error: KeychainError) {
        state.withLock { state in
            state.failure = error
            state.present = nil
            state.number += 1
        }
        ring()
    }

    /// Tells everybody. One that is about to close is told when this returns: each
    /// has heard of it, has left, or the patience is over.
    package func tell(_ now: DeviceState) {
        let (number, listeners) = state.withLock { state in
            state.number += 1
            state.failure = nil
            state.present = now
            state.present?.number = state.number
            return (state.number, Array(state.listeners.keys))
        }
        ring()
        if now.isClosing { waitUntilHeard(number, by: listeners) }
    }

    private func waitUntilHeard(_ number: UInt64, by listeners: [UInt64]) {
        let deadline = Deadline(after: patience, on: clock)
        do throws(SystemCallError) {
            let signal = try EventSignal()
            state.withLock { $0.waiting.append(signal) }
            defer { state.withLock { state in state.waiting.removeAll { $0 === signal } } }
            while !areThere(number, listeners) {
                guard try waitForAny(of: [signal.descriptor], until: deadline) != nil else { return }
                signal.drain()
            }
        } catch {
            // Nothing can be waited for: the lock comes without it.
        }
    }

    /// Whether each has heard up to that number, or has left.
    private func areThere(_ number: UInt64, _ listeners: [UInt64]) -> Bool {
        state.withLock { state in
            listeners.allSatisfy { (state.listeners[$0]?.heard ?? .max) >= number }
        }
    }
}
