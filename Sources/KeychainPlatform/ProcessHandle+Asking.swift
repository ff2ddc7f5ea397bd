internal import Glibc

extension ProcessHandle {
    /// Asks a process of ours to end in its own time (SIGTERM); one that is gone
    /// needs no asking.
    package static func askToEnd(_ processID: Int32) throws(SystemCallError) {
        guard kill(processID, SIGTERM) == 0 || errno == ESRCH else { throw SystemCallError("kill", errno: errno) }
    }
}
