internal import KeychainClient
internal import KeychainPlatform
internal import KeychainProtocol

/// The state of the lock, and each that it changes to (``DeviceLock/changes()``).
///
/// The first element is the present state. Each differs from the one before. They are
/// states, not events: of several that follow each other while the loop's body is busy,
/// only the last is told.
///
/// ``DeviceLock/locking`` comes before anything is closed, and asking for the next
/// element says that it was heard: the lock waits for the loop's body, but not longer
/// than two seconds, for all programs together (ten for a TestKeychain). A loop that ended does not keep it. Where
/// the keychain ends in another way (its enclave was killed), the lock is told when it
/// has happened.
///
/// Each iteration keeps one connection to the daemon, of the 64 that a process may have.
/// It goes on with the next daemon where one ends, and throws where none can be reached,
/// or none knows the state, for about a minute. It ends with the task that iterates
/// (within seconds, where a daemon is just being started).
public struct DeviceLockChanges: AsyncSequence, Sendable {
    /// A state that differs from the one before.
    public typealias Element = DeviceLock
    /// Why the keychain could not be asked.
    public typealias Failure = KeychainError

    private let transport: any KeychainTransport

    init(_ transport: any KeychainTransport) { self.transport = transport }

    /// Begins with the present state, however often it is called.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(transport) }

    /// One observer.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let transport: any KeychainTransport
        private var states: (any DeviceStates)?
        private var last: DeviceLock?

        init(_ transport: any KeychainTransport) { self.transport = transport }

        /// The next state, as soon as there is one; nil once the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(KeychainError) -> DeviceLock? {
            let states = if let states { states } else { try transport.deviceStates() }
            self.states = states
            while !Task.isCancelled {
                let state = try await BackgroundWait.result { cancelled throws(KeychainError) in
                    try states.next(orUntil: cancelled)
                }
                guard let state else { break }
                let lock = DeviceLock(state)
                if lock != last {
                    last = lock
                    return lock
                }
            }
            // Nobody hears through this one any more.
            self.states = nil
            return nil
        }

        /// The same, outside of any actor.
        public mutating func next() async throws(KeychainError) -> DeviceLock? {
            try await next(isolation: nil)
        }
    }
}

@available(*, unavailable)
extension DeviceLockChanges.AsyncIterator: Sendable {}
