@_implementationOnly import CLatchkeyPlatform

/// Tells when entries of a folder, or the folder itself, go (inotify(7)).
package final class RemovalWatch: Sendable {
    package let descriptor: Descriptor

    package init(_ path: String) throws(SystemCallError) {
        descriptor = Descriptor(owning: try checked("inotify", unsafe path.withCString { unsafe lk_watch_removals($0) }))
    }

    /// Takes what was reported, so that the descriptor is quiet again.
    package func drain() { _ = lk_drain_removals(descriptor.raw) }
}

/// Turns SIGTERM, SIGINT and SIGHUP into a readable descriptor.
package enum TerminationSignals {
    package static func notify(_ signal: EventSignal) throws(SystemCallError) {
        _ = try checked("sigaction", lk_signal_on_termination(signal.descriptor.raw))
    }
}
