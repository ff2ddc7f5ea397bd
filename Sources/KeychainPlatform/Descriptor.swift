internal import Glibc

/// The owner of one open file descriptor; closes it when the last reference
/// goes. Descriptors are always close-on-exec.
package final class Descriptor: Sendable {
    package let raw: Int32

    package init(owning raw: Int32) { self.raw = raw }

    deinit { close(raw) }
}
