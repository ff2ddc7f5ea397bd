package import KeychainModel
package import KeychainPlatform

/// Whether the keychain is open, one state after the other, as one observer hears it.
package protocol DeviceStates: AnyObject, Sendable {
    /// The next state, the present one first; nil where `cancelled` was signalled
    /// first. Waits for as long as that takes, also across a daemon that ends.
    ///
    /// Asking again says that the state before was heard, and so does the end of this
    /// object: a lock that was announced (``DeviceState/isClosing``) waits for it, two
    /// seconds at the most. Where several states follow each other in that time, only
    /// the last is told.
    func next(orUntil cancelled: EventSignal) throws(KeychainError) -> DeviceState?
}
