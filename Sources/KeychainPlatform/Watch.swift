@_implementationOnly import CLatchkeyPlatform

/// Tells when entries of a folder, or the folder itself, go (inotify(7)).
///
/// A user has few instances of inotify (fs.inotify.max_user_instances, often 128), which
/// editors and containers use up; a sandbox may have none. Then it tells nothing, and
/// whoever wants to know looks from time to time.
package final class RemovalWatch: Sendable {
    package let descriptor: Descriptor
    /// Whether it reports anything.
    package let isTelling: Bool

    /// - Throws: where the folder cannot be watched for another reason than that there is
    ///   no instance.
    ///
    /// - Parameter writes: tells of files that were written, or put there, as well.
    package init(_ path: String, writes: Bool = false) throws(SystemCallError) {
        let raw = unsafe path.withCString { unsafe lk_watch_removals($0, writes ? 1 : 0) }
        isTelling = raw >= 0
        if raw >= 0 {
            descriptor = Descriptor(owning: raw)
        } else {
            let error = SystemCallError("inotify", errno: -raw)
            // ENOSPC: fs.inotify.max_user_watches is reached (inotify_add_watch(2)).
            let isLimit = error.isOutOfDescriptors || error.isDiskFull || error.isOutOfMemory
            guard isLimit || error.isMissingCall || error.isPermissionDenied else { throw error }
            descriptor = try EventSignal().descriptor
        }
    }

    /// Takes what was reported, so that the descriptor is quiet again.
    package func drain() { if isTelling { _ = lk_drain_removals(descriptor.raw) } }
}

/// Turns SIGTERM, SIGINT and SIGHUP into a readable descriptor.
package enum TerminationSignals {
    package static func notify(_ signal: EventSignal) throws(SystemCallError) {
        _ = try checked("sigaction", lk_signal_on_termination(signal.descriptor.raw))
    }
}
