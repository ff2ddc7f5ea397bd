package import KeychainMessages

/// When the enclave locks a keychain that has a passcode, without anybody asking for it.
///
/// It is kept in the keybag, which is authenticated under the root key, and changing it
/// takes the passcode, so that no program does.
package struct LockPolicy: Hashable, Sendable {
    /// After so long without a use; nil: however long nobody uses it.
    ///
    /// A use opens or makes the key of an item in a class that a lock closes, or unlocks.
    /// What stays open from the first unlock on is none: a service in the background does
    /// not keep it open. Measured since boot, with the time that the machine sleeps.
    package private(set) var idleSeconds: UInt32?

    /// Before the machine sleeps, where logind tells of it.
    package var locksOnSleep = false
    /// With the screen of a session of the user, where logind tells of it.
    package var locksOnScreenLock = false

    /// Whether logind has to be listened to.
    package var followsLogins: Bool { locksOnSleep || locksOnScreenLock }

    /// What ``idleSeconds`` may be: no question that waits for a person takes longer than
    /// the least.
    package static let idleRange: ClosedRange<UInt32> = 60...30 * 86_400

    /// Nothing but a person, or the end of the enclave, locks it.
    package static let never = LockPolicy()

    private init() {}

    /// nil for a time out of range.
    package init?(idleSeconds: UInt32?) {
        if let idleSeconds, !Self.idleRange.contains(idleSeconds) { return nil }
        self.idleSeconds = idleSeconds
    }

    /// nil for what this program would not write.
    package init?(_ message: Latchkey_LockPolicy) {
        self.init(idleSeconds: message.idleSeconds == 0 ? nil : message.idleSeconds)
        locksOnSleep = message.onSleep
        locksOnScreenLock = message.onScreenLock
    }

    package var message: Latchkey_LockPolicy {
        var message = Latchkey_LockPolicy()
        message.idleSeconds = idleSeconds ?? 0
        message.onSleep = locksOnSleep
        message.onScreenLock = locksOnScreenLock
        return message
    }
}
