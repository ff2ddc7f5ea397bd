@_implementationOnly import CLatchkeyPlatform

extension ProcessHandle {
    /// Waits until a process has ended or the deadline has passed; one that is
    /// not there has ended. (A pidfd becomes readable then, pidfd_open(2).)
    package static func waitForEnd(of processID: Int32, until deadline: Deadline) throws(SystemCallError) -> WaitOutcome {
        let raw = lk_pidfd_open(processID)
        if raw == -3 { return .ready }  // ESRCH
        let descriptor = Descriptor(owning: try checked("pidfd_open", raw))
        return try wait(for: descriptor.raw, to: .receive, until: deadline)
    }
}
