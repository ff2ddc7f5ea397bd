internal import Glibc
internal import Synchronization

/// The owner of one open file descriptor; closes it when the last reference
/// goes. Descriptors are always close-on-exec.
package final class Descriptor: Sendable {
    package let raw: Int32
    private let isLost = Atomic(false)

    package init(owning raw: Int32) { self.raw = raw }

    /// Its number is somebody else's by now, or nobody's: it is not closed.
    package func giveUp() { isLost.store(true, ordering: .relaxed) }

    deinit { if !isLost.load(ordering: .relaxed) { close(raw) } }
}
