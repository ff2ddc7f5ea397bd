extension ProcessHandle {
    /// Waits until a process has ended or the deadline has passed; one that is
    /// not there has ended. (A pidfd becomes readable then, pidfd_open(2).)
    package static func waitForEnd(of processID: Int32, until deadline: Deadline) throws(SystemCallError) -> WaitOutcome {
        guard let process = try ifThere(processID) else { return .ready }
        return try process.waitForEnd(until: deadline)
    }

    package func waitForEnd(until deadline: Deadline) throws(SystemCallError) -> WaitOutcome {
        try wait(for: end.raw, to: .receive, until: deadline)
    }
}
