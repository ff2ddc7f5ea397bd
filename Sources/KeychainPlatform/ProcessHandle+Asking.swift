@_implementationOnly import CLatchkeyPlatform
internal import Glibc

extension ProcessHandle {
    /// Whether no process has this number.
    package static func isGone(_ processID: Int32) -> Bool { Glibc.kill(processID, 0) != 0 && errno == ESRCH }

    /// Asks a process of ours to end in its own time (SIGTERM); one that is gone
    /// needs no asking.
    package static func askToEnd(_ processID: Int32) throws(SystemCallError) {
        guard Glibc.kill(processID, SIGTERM) == 0 || errno == ESRCH else { throw SystemCallError("kill", errno: errno) }
    }

    /// Kills a process, held by a pidfd meanwhile, that runs `program` (proc_pid_comm(5), its
    /// first 15 bytes): a number that another container wrote is somebody else's here.
    ///
    /// - Returns: false where another program has that number; one that has gone needs
    ///   no killing.
    package static func kill(_ processID: Int32, running program: String) throws(SystemCallError) -> Bool {
        let raw = lk_pidfd_open(processID)
        if raw == -ESRCH { return true }
        let handle = Descriptor(owning: try checked("pidfd_open", raw))
        let file = unsafe lk_open("/proc/\(processID)/comm", O_RDONLY, 0)
        if file == -ENOENT { return true }
        let name = try Descriptor(owning: checked("open", file)).readOnce(atMost: 16)
        guard name == Array("\(program.prefix(15))\n".utf8) else { return false }
        let result = lk_signal_process(handle.raw, SIGKILL)
        if result != -ESRCH { _ = try checked("pidfd_send_signal", result) }
        return true
    }
}
