internal import KeychainPlatform
internal import Synchronization

/// Tells when the calls that are under way at one moment have all ended.
///
/// Two counters take turns: a call counts where it began, and whoever waits turns to
/// the other and waits for the one before to come to zero.
final class CallDrain: Sendable {
    private let even = Atomic<Int>(0)
    private let odd = Atomic<Int>(0)
    private let turn = Atomic<Int>(0)
    /// Calls that ever began.
    private let begun = Atomic<Int>(0)
    /// One waits at a time; signalled by the last call of a counter that is waited for.
    private let waiting = Mutex(())
    private let ended: EventSignal

    init() throws(SystemCallError) { ended = try EventSignal() }

    /// Counts a call for as long as `body` runs.
    func during<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        let side = begin()
        begun.add(1, ordering: .relaxed)
        defer { end(side) }
        return try body()
    }

    /// How many calls ever began.
    var count: Int { begun.load(ordering: .relaxed) }

    private func begin() -> Int {
        while true {
            let side = turn.load(ordering: .sequentiallyConsistent)
            add(1, to: side)
            // Whoever turned in between may not have seen it.
            if turn.load(ordering: .sequentiallyConsistent) == side { return side }
            end(side)
        }
    }

    private func end(_ side: Int) {
        let left = add(-1, to: side)
        if left == 0, turn.load(ordering: .sequentiallyConsistent) != side { ended.signal() }
    }

    @discardableResult
    private func add(_ difference: Int, to side: Int) -> Int {
        side == 0
            ? even.add(difference, ordering: .sequentiallyConsistent).newValue
            : odd.add(difference, ordering: .sequentiallyConsistent).newValue
    }

    /// False where some of them were still at work when the time was over.
    func waitForEarlier(until deadline: Deadline) -> Bool {
        waiting.withLock { _ in
            let before = turn.load(ordering: .sequentiallyConsistent)
            // Calls that outlasted an earlier wait are still counted there: they are
            // earlier than this one too, and new ones must not be counted with them.
            guard waitForNone(on: 1 - before, until: deadline) else { return false }
            turn.store(1 - before, ordering: .sequentiallyConsistent)
            return waitForNone(on: before, until: deadline)
        }
    }

    private func waitForNone(on side: Int, until deadline: Deadline) -> Bool {
        while true {
            ended.drain()
            guard add(0, to: side) > 0 else { return true }
            do throws(SystemCallError) {
                guard try waitForAny(of: [ended.descriptor], until: deadline) != nil else { return false }
            } catch { return false }
        }
    }
}
