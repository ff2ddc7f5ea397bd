internal import Glibc

extension ProcessHandle {
    /// Whether no process has this number.
    package static func isGone(_ processID: Int32) -> Bool { kill(processID, 0) != 0 && errno == ESRCH }

    /// Asks a process of ours to end in its own time (SIGTERM); one that is gone
    /// needs no asking.
    package static func askToEnd(_ processID: Int32) throws(SystemCallError) {
        guard kill(processID, SIGTERM) == 0 || errno == ESRCH else { throw SystemCallError("kill", errno: errno) }
    }
}
