@_implementationOnly import CLatchkeyPlatform

/// An eventfd(2): one side signals, waiters wake.
package final class EventSignal: Sendable {
    package let descriptor: Descriptor

    package init() throws(SystemCallError) {
        descriptor = Descriptor(owning: try checked("eventfd", lk_eventfd()))
    }

    package func signal() { _ = lk_eventfd_signal(descriptor.raw) }
    package func drain() { _ = lk_eventfd_drain(descriptor.raw) }
}
