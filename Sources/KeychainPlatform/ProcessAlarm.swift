@_implementationOnly import CLatchkeyPlatform

/// A bound on how long this process may go on.
package enum ProcessAlarm {
    /// SIGALRM ends this process then, whatever it is waiting for; alarm(2).
    package static func end(after limit: Duration) { lk_end_after(UInt32(max(1, limit.components.seconds))) }
    package static func cancel() { lk_end_after(0) }
}
