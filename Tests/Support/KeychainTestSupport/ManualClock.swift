package import KeychainPlatform
internal import Synchronization

/// A clock that stands until a test moves it.
///
/// Every reading of ``moved`` gives a descriptor of its own, which becomes
/// readable with the next move and stays so. Whoever waits through several moves
/// (an event loop) takes a new one after each, *before* it looks at the time:
/// then no move is lost, however many wait on one clock.
package final class ManualClock: KeychainClock {
    private struct State {
        var monotonic: Duration
        var asleep: Duration = .zero
        var wallClock: Double
        var waiters: [Waiter] = []
    }

    /// An eventfd that lives as long as somebody waits on it.
    private struct Waiter {
        weak var descriptor: Descriptor?
    }

    private let state: Mutex<State>

    /// - Parameter wallClock: seconds since 2001-01-01T00:00:00Z.
    package init(monotonic: Duration = .seconds(1000), wallClock: Double = 800_000_000) {
        state = Mutex(State(monotonic: monotonic, wallClock: wallClock))
    }

    package var monotonic: Duration { state.withLock { $0.monotonic } }
    package var sinceBoot: Duration { state.withLock { $0.monotonic + $0.asleep } }
    package var wallClock: Double { state.withLock { $0.wallClock } }

    package var moved: Descriptor? {
        do {
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

    /// How many wait on this clock now, so that a test can move it once they do.
    package var waiterCount: Int {
        state.withLock { state in
            state.waiters.removeAll { $0.descriptor == nil }
            return state.waiters.count
        }
    }

    /// Moves both times and wakes whoever waits.
    package func advance(by duration: Duration) {
        precondition(duration >= .zero, "the monotonic time never goes backwards")
        let woken = state.withLock { state in
            state.monotonic += duration
            state.wallClock += duration.seconds
            defer { state.waiters = [] }
            return state.waiters.compactMap(\.descriptor)
        }
        for descriptor in woken { Self.wake(descriptor) }
    }

    /// Lets the machine sleep: no deadline comes nearer, and nobody wakes.
    package func sleep(for duration: Duration) {
        precondition(duration >= .zero, "no time goes backwards but the wall clock")
        state.withLock { state in
            state.asleep += duration
            state.wallClock += duration.seconds
        }
    }

    /// Sets the wall clock alone, as anybody may at any time.
    package func setWallClock(_ seconds: Double) {
        state.withLock { $0.wallClock = seconds }
    }

    /// eventfd(2): writing the number one makes it readable.
    private static func wake(_ descriptor: Descriptor) {
        do {
            try writeAll(descriptor, [1, 0, 0, 0, 0, 0, 0, 0])
        } catch {
            preconditionFailure("a clock cannot wake its waiters: \(error)")
        }
    }
}
