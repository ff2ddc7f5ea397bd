@_implementationOnly import CLatchkeyPlatform
internal import Glibc

extension ProcessHandle {
    /// Whether no process has this number.
    package static func isGone(_ processID: Int32) -> Bool { kill(processID, 0) != 0 && errno == ESRCH }

    /// Asks a process of ours to end in its own time (SIGTERM); one that is gone
    /// needs no asking.
    package static func askToEnd(_ processID: Int32) throws(SystemCallError) {
        guard kill(processID, SIGTERM) == 0 || errno == ESRCH else { throw SystemCallError("kill", errno: errno) }
    }

    /// Kills a process, held by a pidfd meanwhile, whose name (proc_pid_comm(5)) is one
    /// that `isMeant`: a number that another container wrote is somebody else's here.
    ///
    /// - Returns: false where there is none of that number, or another.
    package static func endByForce(_ processID: Int32, where isMeant: (String) -> Bool) throws(SystemCallError) -> Bool
    {
        let raw = lk_pidfd_open(processID)
        if raw == -ESRCH { return false }
        let handle = Descriptor(owning: try checked("pidfd_open", raw))
        let file = unsafe lk_open("/proc/\(processID)/comm", O_RDONLY, 0)
        guard file >= 0 else { return false }
        let name = String(decoding: try Descriptor(owning: file).readOnce(atMost: 64), as: UTF8.self)
        guard isMeant(name) else { return false }
        _ = try checked("pidfd_send_signal", lk_signal_process(handle.raw, SIGKILL))
        return true
    }
}
