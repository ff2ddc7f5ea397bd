@_implementationOnly import CLatchkeyPlatform

/// epoll(7) over descriptors that the caller owns, each known by a number.
package final class Epoll: Sendable {
    private let descriptor: Descriptor

    package init() throws(SystemCallError) {
        descriptor = Descriptor(owning: try checked("epoll_create1", lk_epoll()))
    }

    /// Watches for input. A one-shot descriptor is reported to one waiter and
    /// then not again until ``rearm(_:as:)``; any other wakes one waiter a time.
    package func add(_ fd: Descriptor, as number: UInt64, oneShot: Bool) throws(SystemCallError) {
        _ = try checked("epoll_ctl", lk_epoll_add(descriptor.raw, fd.raw, number, oneShot ? 1 : 0))
    }

    package func rearm(_ fd: Descriptor, as number: UInt64) throws(SystemCallError) {
        _ = try checked("epoll_ctl", lk_epoll_rearm(descriptor.raw, fd.raw, number))
    }

    /// Reports the end of the connection alone.
    package func rearmForEnd(_ fd: Descriptor, as number: UInt64) throws(SystemCallError) {
        _ = try checked("epoll_ctl", lk_epoll_rearm_for_end(descriptor.raw, fd.raw, number))
    }

    package func remove(_ fd: Descriptor) { _ = lk_epoll_remove(descriptor.raw, fd.raw) }

    /// The number of a readable descriptor, or nil when `limit` (nil: none) is over.
    package func wait(atMost limit: Duration?) throws(SystemCallError) -> UInt64? {
        var number: UInt64 = 0
        let result = unsafe lk_epoll_wait(descriptor.raw, &number, limit?.wholeNanoseconds ?? -1)
        return try checked("epoll_wait", result) == 1 ? number : nil
    }
}
