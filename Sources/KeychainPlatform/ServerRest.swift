internal import Synchronization

/// When a server lets go of its code and of free memory (``ProgramMemory``): behind its first
/// calls, now and then while it is called, and once nobody has called it for ten seconds.
///
/// A keychain runs as long as the session and is asked in bursts: between two of them it keeps
/// what it was told, and nothing else. The first call behind a rest has its code mapped again.
///
/// The server's own waiting thread asks ``rest(at:)`` when that is due; a call that finds it at
/// rest says so, and wakes that thread once.
package final class ServerRest: Sendable {
    /// Without a call.
    package static let patience: Duration = .seconds(10)
    /// By then the Swift runtime has looked up the types that calls go through, for which it goes
    /// through all of a program's.
    private static let settledAfter = 64
    /// Between two times from then on: what comes back costs less than a thousandth of so many calls.
    private static let period = 4_096

    private let calls = Atomic(0)
    private let isAtRest = Atomic(true)
    /// How many calls there were when it was looked last, and since when there have been no more.
    private let seen = Mutex((calls: 0, since: Duration.zero))
    private let letGo: @Sendable (Moment) -> Void
    private let others = Mutex<[@Sendable (Moment) -> Void]>([])

    /// When it lets go.
    package enum Moment: Sendable {
        /// While it is called.
        case working
        case resting
    }

    package convenience init() {
        self.init { _ in
            ProgramMemory.letGoOfCode()
            ProgramMemory.letGoOfFreePages()
        }
    }

    /// - Parameter letGo: in place of the process's own memory, in a test.
    package init(_ letGo: @escaping @Sendable (Moment) -> Void) { self.letGo = letGo }

    /// Has a part of the server let go of what it keeps, before code and free memory go. It runs within
    /// a call, and is not to wait: what comes free later the part lets go of itself.
    package func alsoLetGo(_ part: @escaping @Sendable (Moment) -> Void) { others.withLock { $0.append(part) } }

    private func letGo(at moment: Moment) {
        for part in others.withLock({ $0 }) { part(moment) }
        letGo(moment)
    }

    /// One more call has begun.
    ///
    /// - Returns: whether it is the first since it rested: whoever waits for deadlines asks
    ///   ``rest(at:)`` anew.
    package func noteCall() -> Bool {
        let count = calls.add(1, ordering: .sequentiallyConsistent).newValue
        if count % Self.period == Self.settledAfter { letGo(at: .working) }
        guard isAtRest.load(ordering: .sequentiallyConsistent) else { return false }
        return isAtRest.exchange(false, ordering: .sequentiallyConsistent)
    }

    /// Rests where nobody has called for long enough. By one thread.
    ///
    /// - Parameter now: of a clock that does not go backwards.
    /// - Returns: when it is due next; nil: behind the next call that says so.
    package func rest(at now: Duration) -> Duration? {
        guard !isAtRest.load(ordering: .sequentiallyConsistent) else { return nil }
        let count = calls.load(ordering: .sequentiallyConsistent)
        let since = seen.withLock { seen in
            if seen.calls != count { seen = (count, now) }
            return seen.since
        }
        guard now >= since + Self.patience else { return since + Self.patience }
        isAtRest.store(true, ordering: .sequentiallyConsistent)
        // Somebody who came meanwhile has not seen it, and wakes nobody.
        if calls.load(ordering: .sequentiallyConsistent) != count,
            isAtRest.exchange(false, ordering: .sequentiallyConsistent)
        {
            return now + Self.patience
        }
        letGo(at: .resting)
        return nil
    }
}
