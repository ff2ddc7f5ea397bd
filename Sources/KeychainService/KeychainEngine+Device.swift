internal import Enclave
package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
internal import KeychainStore

extension KeychainEngine {
    /// Whether the keychain is open.
    package func deviceState() throws(KeychainError) -> DeviceState {
        try enclave.use { enclave throws(KeychainError) in try enclave.describe() }.state
    }

    /// To be called after each change of what ``deviceState()`` tells: lets go of what
    /// has closed, and of what is gone for good. Nothing of it is left here when this
    /// returns.
    ///
    /// - Throws: -25291, reason `busy`, where calls that began before have not ended
    ///   within 5 s.
    package func deviceChanged() throws(KeychainError) {
        keys.forget()
        let isDrained = calls.waitForEarlier(until: Deadline(after: Self.draining, on: clock))
        let described = try enclave.use { enclave throws(KeychainError) in try enclave.describe() }
        try purgeEffaced(described)
        guard isDrained else {
            throw KeychainError(.notAvailable, reason: .busy, underlying: "calls that began before are still at work")
        }
    }

    /// Hears of every change of the enclave's state, the present one first, until
    /// `stop` is signalled. What `body` does has happened before the enclave tells a
    /// person that something is closed.
    ///
    /// - Throws: where the enclave cannot be reached, or went away.
    package func followDevice(until stop: EventSignal, _ body: (DeviceState) -> Void) throws(KeychainError) {
        let connection = try enclave.connectApart()
        defer { keys.assumeNothing() }
        var known: UInt64 = 0
        while let described = try connection.state(after: known, orUntil: stop) {
            body(described.state)
            // Nobody hears of an unlocking before the next state was asked for.
            keys.assume(described.state)
            known = described.state.number
        }
    }

    /// The documented time without progress after which a call has failed anyway.
    private static let draining: Duration = .seconds(5)
}
