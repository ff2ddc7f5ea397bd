@_implementationOnly import CLatchkeyPlatform
internal import Synchronization

/// Looks for a message for a moment before it is waited for: where it comes within
/// microseconds, waking a processor that went to sleep meanwhile takes longer than the
/// message (ARCHITECTURE.md, section 10).
///
/// It learns: where nothing came in time, or the processor was taken away from who looked,
/// the next looks are left out, twice as many each time up to ``mostLeftOut``. So slow
/// answers, or a busy machine, cost one look in seventeen calls; more would be left out
/// for long where it is worth a look again, which only a look shows. Nobody looks where
/// there is one processor.
///
/// The first calls of a connection are left out as well: most programs make one or two, and
/// where the kernel has put both ends on one processor, who looks keeps the other from it.
///
/// For one socket, and for one thread at a time.
package final class BriefWait: Sendable {
    /// How long is looked: a read takes 100 µs from end to end while nobody sleeps, a search of
    /// the Secret Service with what lies between two of them 200.
    package static let limit: Duration = .microseconds(250)
    /// Looks that are left out after those that were in vain.
    static let mostLeftOut: UInt32 = 16
    /// Looks that are left out at the beginning.
    static let firstLeftOut: UInt32 = 8

    private struct State {
        var leftOut: UInt32 = 0
        var nextLeftOut: UInt32 = 1
    }

    private let state = Mutex(State(leftOut: firstLeftOut))
    static let hasProcessors = lk_processor_count() > 1

    package init() {}

    /// Whether something is there to be received within the limit; false at once where it is
    /// better slept.
    package func isReadable(_ socket: PacketSocket) -> Bool {
        guard isWorthALook, Self.hasProcessors else { return false }
        let before = lk_monotonic_nanoseconds()
        let isThere = lk_is_readable_soon(socket.descriptor.raw, Self.limit.wholeNanoseconds) == 1
        ended(isThere, after: .nanoseconds(lk_monotonic_nanoseconds() - before))
        return isThere
    }

    /// Whether this time is looked.
    var isWorthALook: Bool {
        state.withLock { state in
            guard state.leftOut > 0 else { return true }
            state.leftOut -= 1
            return false
        }
    }

    /// What a look came to.
    func ended(_ isThere: Bool, after spent: Duration) {
        state.withLock { state in
            // More than a little beyond the limit: somebody else had the processor.
            if isThere, spent < Self.limit * 2 { return state = State() }
            state.leftOut = state.nextLeftOut
            state.nextLeftOut = min(state.nextLeftOut * 2, Self.mostLeftOut)
        }
    }
}
