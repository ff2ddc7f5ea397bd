@_implementationOnly import CLatchkeyPlatform

/// A timerfd(2): readable so long after it was set.
package final class TimerSignal: Sendable {
    package let descriptor: Descriptor

    package init() throws(SystemCallError) {
        descriptor = Descriptor(owning: try checked("timerfd_create", lk_timerfd()))
    }

    /// In place of what it was set to before.
    package func set(after wait: Duration) { _ = lk_timerfd_set(descriptor.raw, wait.wholeNanoseconds) }
    package func drain() { _ = lk_eventfd_drain(descriptor.raw) }
}
