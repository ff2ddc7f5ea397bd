public import Foundation
internal import KeychainClient
internal import KeychainProtocol

/// Whether the keychain is open: what Apple calls protected data.
///
/// ```swift
/// guard DeviceLock.isProtectedDataAvailable else { return retryAfterUnlock() }
///
/// for try await lock in try DeviceLock.changes() {
///     if lock == .locking { forgetWhatIsDecrypted() }
/// }
/// ```
///
/// While it is not available, items of the WhenUnlocked and WhenPasscodeSet classes
/// answer `errSecInteractionNotAllowed`; those of the AfterFirstUnlock classes do so
/// only in ``beforeFirstUnlock``. A keychain without a passcode is always unlocked.
///
/// Apple's counterparts are UIKit's `UIApplication.isProtectedDataAvailable` and its
/// two notifications, which ``ProtectedDataNotifier`` posts. What differs: it is the
/// keychain's lock (`latchkey lock`, `latchkey unlock`) and not a screen's, and no
/// files are protected by it.
public enum DeviceLock: Sendable, Hashable {
    /// Everything can be used.
    case unlocked
    /// Everything can be used for a moment: a lock was announced, and waits until the
    /// programs that listen have heard of it, two seconds at the most.
    case locking
    /// Locked, after it was unlocked since the keychain's programs started.
    case locked
    /// Nobody has unlocked it since the keychain's programs started.
    case beforeFirstUnlock

    /// Whether items of the WhenUnlocked classes can be used in this state.
    public var isProtectedDataAvailable: Bool {
        switch self {
        case .unlocked, .locking: true
        case .locked, .beforeFirstUnlock: false
        }
    }
}

extension DeviceLock {
    /// The state now; starts the keychain's daemon where it does not run, and waits
    /// five seconds at the most for it.
    ///
    /// - Throws: `errSecNotAvailable` where the keychain cannot be asked.
    public static func current() throws(KeychainError) -> DeviceLock {
        guard let state = try CurrentKeychain.transport().perform(KeychainRequest(.device)).device else {
            throw KeychainError(.internalComponent, reason: .internalFault(what: "no state came"))
        }
        return DeviceLock(state)
    }

    /// Whether items of the WhenUnlocked classes can be used now, as
    /// `UIApplication.isProtectedDataAvailable`.
    ///
    /// False as well where the keychain cannot be asked, which takes five seconds at the
    /// most to find out; ``current()`` says why.
    public static var isProtectedDataAvailable: Bool {
        do throws(KeychainError) { return try current().isProtectedDataAvailable } catch { return false }
    }

    /// The state now, and each that it changes to.
    ///
    /// - Throws: `errSecNotAvailable` for a call outside of a test's scope; whether the
    ///   keychain can be reached shows in the iteration.
    public static func changes() throws(KeychainError) -> DeviceLockChanges {
        DeviceLockChanges(try CurrentKeychain.transport())
    }

    /// Posted after the keychain was unlocked, as UIKit's notification of this name.
    public static let protectedDataDidBecomeAvailableNotification = Notification.Name(
        "UIApplicationProtectedDataDidBecomeAvailable")

    /// Posted before the keychain is locked, as UIKit's notification of this name.
    public static let protectedDataWillBecomeUnavailableNotification = Notification.Name(
        "UIApplicationProtectedDataWillBecomeUnavailable")
}

extension DeviceLock {
    init(_ state: DeviceState) {
        self =
            switch state.lock {
            case .unlocked: state.isClosing ? .locking : .unlocked
            case .locked: .locked
            case .beforeFirstUnlock: .beforeFirstUnlock
            }
    }
}
