@_implementationOnly import CLatchkeyPlatform

/// Time, passed to whoever needs it: a test gives one that it moves by hand.
///
/// Three times are told apart: `monotonic` measures deadlines and never jumps;
/// `sinceBoot` measures what a person allowed or has to wait for; `wallClock` dates
/// items and may be set by anybody at any time.
package protocol KeychainClock: Sendable {
    /// Since an arbitrary moment, never backwards; stands while the machine sleeps, so
    /// that nobody is late because of that.
    var monotonic: Duration { get }

    /// Since an arbitrary moment, never backwards; goes on while the machine sleeps.
    /// Nobody can set it, and a restart of the machine begins it anew.
    var sinceBoot: Duration { get }

    /// Seconds since 2001-01-01T00:00:00Z, the epoch of Foundation's `Date`.
    var wallClock: Double { get }

    /// A descriptor that becomes readable when this clock was moved by hand,
    /// or nil where time passes by itself.
    var moved: Descriptor? { get }
}

/// The machine's own time.
package struct SystemClock: KeychainClock {
    package init() {}

    package var monotonic: Duration { .nanoseconds(lk_monotonic_nanoseconds()) }
    package var sinceBoot: Duration { .nanoseconds(lk_boottime_nanoseconds()) }
    package var wallClock: Double { lk_wall_seconds_since_2001() }
    package var moved: Descriptor? { nil }
}

/// A moment after which waiting has no sense.
package struct Deadline: Sendable {
    package let moment: Duration
    package let clock: any KeychainClock

    package init(after allowed: Duration, on clock: any KeychainClock) {
        self.clock = clock
        moment = clock.monotonic + allowed
    }

    /// - Parameter moment: on the clock's monotonic time.
    package init(at moment: Duration, on clock: any KeychainClock) {
        self.clock = clock
        self.moment = moment
    }

    package var hasPassed: Bool { clock.monotonic >= moment }

    /// What is left, never negative.
    package var remaining: Duration { max(.zero, moment - clock.monotonic) }
}

/// What ended a wait.
package enum WaitOutcome: Sendable {
    case ready
    case timedOut
}

/// Waits until a descriptor is ready for `direction` or the deadline has passed.
///
/// A hand-moved clock is waited for as well: moving it wakes the waiter, which
/// then looks at its deadline. Nothing here sleeps for a fixed time.
package func wait(
    for descriptor: Int32, to direction: WaitDirection, until deadline: Deadline
) throws(SystemCallError) -> WaitOutcome {
    while true {
        // Taken before the time is looked at, so that no move is lost.
        let wake = deadline.clock.moved
        if deadline.hasPassed { return .timedOut }
        let limit = wake == nil ? deadline.remaining.wholeNanoseconds : -1
        let result = withExtendedLifetime(wake) { lk_wait(descriptor, direction.rawValue, wake?.raw ?? -1, limit) }
        let bits = try checked("ppoll", result)
        if bits & 0b101 != 0 { return .ready }
        if bits & 0b010 != 0, deadline.hasPassed { return .timedOut }
    }
}

/// Waits until one of several descriptors is readable and returns which, or nil
/// when the deadline has passed; looks at them once where it has already.
package func waitForAny(of descriptors: [Descriptor], until deadline: Deadline) throws(SystemCallError) -> Int? {
    while true {
        let moved = deadline.clock.moved
        let isOver = deadline.hasPassed
        let watched = descriptors.map(\.raw) + [moved?.raw].compactMap { $0 }
        let limit = isOver ? 0 : moved == nil ? deadline.remaining.wholeNanoseconds : -1
        // The clock's descriptor stays open until the wait is over.
        let result = withExtendedLifetime((moved, descriptors)) {
            unsafe lk_wait_any(watched, Int32(watched.count), limit)
        }
        let index = try checked("ppoll", result)
        if index < descriptors.count { return Int(index) }
        if isOver { return nil }
    }
}

/// Waits, however long that takes, until one of several descriptors is readable.
package func waitForAny(of descriptors: [Descriptor]) throws(SystemCallError) -> Int {
    let result = withExtendedLifetime(descriptors) {
        unsafe lk_wait_any(descriptors.map(\.raw), Int32(descriptors.count), -1)
    }
    return Int(try checked("ppoll", result))
}

package enum WaitDirection: Int32, Sendable {
    case receive = 1
    case send = 2
}

extension Duration {
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    package var seconds: Double { Double(wholeNanoseconds) / 1e9 }
}
