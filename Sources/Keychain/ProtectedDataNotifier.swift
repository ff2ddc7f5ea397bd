public import Foundation
internal import KeychainClient
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// Posts UIKit's two notifications of protected data, for as long as it lives.
///
/// ```swift
/// let notifier = try ProtectedDataNotifier()
/// NotificationCenter.default.addObserver(
///     forName: DeviceLock.protectedDataWillBecomeUnavailableNotification, object: nil, queue: nil
/// ) { _ in cache.forget() }
/// ```
///
/// Both are posted on a thread of the notifier's own, never on the main one, one after
/// the other and without an object. The lock waits until the observers have returned,
/// but not longer than two seconds; what they want to do before it must be done there, and
/// not handed to another queue.
///
/// ``DeviceLock/protectedDataWillBecomeUnavailableNotification`` is posted before
/// anything closes. Where nobody could announce that (the keychain's programs were
/// killed, or cannot be reached for about a minute) it is posted when it is known. What
/// is posted always alternates, beginning with what follows from the state at the start.
public final class ProtectedDataNotifier: Sendable {
    private let end: End

    /// Begins; nothing is posted for the present state.
    ///
    /// A keychain that cannot be reached now counts as unavailable until it can.
    /// Waits five seconds at the most for that.
    ///
    /// - Throws: `errSecNotAvailable` for a call outside of a test's scope, and where the
    ///   process has no descriptor or thread left.
    public init(posting center: NotificationCenter = .default) throws(KeychainError) {
        let transport = try CurrentKeychain.transport()
        let states = try transport.deviceStates()
        let isAvailable = DeviceLock.isProtectedDataAvailable
        do throws(SystemCallError) {
            let end = End(try EventSignal())
            self.end = end
            try BackgroundThread.start {
                var posts = ProtectedDataPosts(isAvailable: isAvailable)
                while let now = Self.next(states, orUntil: end) {
                    if let name = posts.name(for: now) { center.post(name: name, object: nil) }
                }
            }
        } catch { throw BackgroundWait.failure(error) }
    }

    deinit { stop() }

    /// Posts nothing more, but for one that is being posted now.
    public func stop() { end.come() }

    /// How long nothing is asked after a minute in which nobody answered.
    private static let pause: Duration = .seconds(5)

    /// Of the thread, told by whoever stops it.
    private final class End: Sendable {
        let event: EventSignal
        private let hasCome = Atomic(false)

        init(_ event: EventSignal) { self.event = event }

        var isThere: Bool { hasCome.load(ordering: .acquiring) }

        func come() {
            hasCome.store(true, ordering: .releasing)
            event.signal()
        }
    }

    /// Whether protected data is available, once somebody says so; nil: it is to end.
    private static func next(_ states: any DeviceStates, orUntil end: End) -> Bool? {
        do throws(KeychainError) {
            let state = try states.next(orUntil: end.event)
            // What came after the end is not posted.
            return end.isThere ? nil : state.map { DeviceLock($0) == .unlocked }
        } catch {
            do throws(SystemCallError) {
                let deadline = Deadline(after: pause, on: SystemClock())
                return try waitForAny(of: [end.event.descriptor], until: deadline) == nil ? false : nil
            } catch { return nil }
        }
    }
}

/// What is posted when: the two take turns.
struct ProtectedDataPosts {
    private var isAvailable: Bool

    init(isAvailable: Bool) { self.isAvailable = isAvailable }

    /// - Parameter now: whether protected data is available, and will stay so.
    mutating func name(for now: Bool) -> Notification.Name? {
        guard now != isAvailable else { return nil }
        isAvailable = now
        return now
            ? DeviceLock.protectedDataDidBecomeAvailableNotification
            : DeviceLock.protectedDataWillBecomeUnavailableNotification
    }
}
