public import Foundation
package import KeychainPlatform
internal import Synchronization

/// A clock that stands until a test moves it.
///
/// ```swift
/// let clock = TestClock()
/// let keychain = try TestKeychain(clock: clock)
/// keychain.withScope { SecItemAdd(item, nil) }
/// clock.advance(by: .seconds(60))
/// keychain.withScope { SecItemUpdate(query, change) }
/// // kSecAttrModificationDate is now a minute after kSecAttrCreationDate
/// ```
///
/// One clock may serve several keychains.
public final class TestClock: Sendable {
    private struct State {
        var monotonic: Duration = .seconds(1)
        var wallClock: Double
        var waiters: [Waiter] = []
    }

    /// A descriptor that lives as long as somebody waits on it.
    private struct Waiter {
        weak var descriptor: Descriptor?
    }

    private let state: Mutex<State>

    /// A clock that stands at `now`, by default at the moment of the call.
    public init(now: Date = Date()) {
        state = Mutex(State(wallClock: now.timeIntervalSinceReferenceDate))
    }

    /// The date that new and changed items get.
    ///
    /// Setting it is what a person does who sets the computer's clock: forwards
    /// or backwards, and no time passes.
    public var now: Date {
        get { Date(timeIntervalSinceReferenceDate: wallClock) }
        set { state.withLock { $0.wallClock = newValue.timeIntervalSinceReferenceDate } }
    }

    /// Lets time pass: ``now`` moves, and whoever waits for a deadline looks again.
    ///
    /// - Precondition: `duration` is not negative.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not pass backwards; set `now` instead")
        let woken = state.withLock { state in
            state.monotonic += duration
            state.wallClock += duration.seconds
            defer { state.waiters = [] }
            return state.waiters.compactMap(\.descriptor)
        }
        for descriptor in woken { Self.wake(descriptor) }
    }

    /// eventfd(2): writing the number one makes it readable.
    private static func wake(_ descriptor: Descriptor) {
        do throws(SystemCallError) {
            try writeAll(descriptor, [1, 0, 0, 0, 0, 0, 0, 0])
        } catch {
            preconditionFailure("a clock cannot wake those who wait on it: \(error)")
        }
    }
}

extension TestClock: KeychainClock {
    package var monotonic: Duration { state.withLock { $0.monotonic } }
    package var sinceBoot: Duration { monotonic }
    package var wallClock: Double { state.withLock { $0.wallClock } }

    /// Each reading gives one waiter a descriptor of its own, so that nobody
    /// takes another's wake-up.
    package var moved: Descriptor? {
        do throws(SystemCallError) {
            let descriptor = try EventSignal().descriptor
            state.withLock { state in
                state.waiters.removeAll { $0.descriptor == nil }
                state.waiters.append(Waiter(descriptor: descriptor))
            }
            return descriptor
        } catch {
            preconditionFailure("no descriptor for a clock: \(error)")
        }
    }
}
