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

    /// How a process that a file names is known to be the one that is meant: its number may be
    /// somebody else's by now, or have been written in another container.
    package enum Proof: Hashable, Sendable {
        /// The kernel gives it as the one that listens where the file says (SO_PEERCRED).
        case listens
        /// It runs a program of this name (proc_pid_comm(5), its first 15 bytes).
        case runs(String)
    }

    /// Asks a process of ours to end (SIGTERM).
    ///
    /// - Returns: false where it is not known to be the one that is meant; one that has gone
    ///   needs no asking.
    package static func askToEnd(_ processID: Int32, _ proof: Proof) throws(SystemCallError) -> Bool {
        try send(SIGTERM, to: processID, proof)
    }

    /// Kills a process, which loses nothing that was acknowledged.
    ///
    /// - Returns: false where it is not known to be the one that is meant; one that has gone
    ///   needs no killing.
    package static func kill(_ processID: Int32, _ proof: Proof) throws(SystemCallError) -> Bool {
        try send(SIGKILL, to: processID, proof)
    }

    /// The process is held by a pidfd meanwhile.
    private static func send(
        _ signal: Int32, to processID: Int32, _ proof: Proof
    ) throws(SystemCallError) -> Bool {
        let raw = lk_pidfd_open(processID)
        if raw == -ESRCH { return true }
        let handle = Descriptor(owning: try checked("pidfd_open", raw))
        if case .runs(let program) = proof {
            let file = unsafe lk_open("/proc/\(processID)/comm", O_RDONLY, 0)
            // Not there, or hidden: proc(5), hidepid.
            if file == -ENOENT || file == -EPERM || file == -EACCES { return lk_has_ended(handle.raw) != 0 }
            let name = try Descriptor(owning: checked("open", file)).readOnce(atMost: 16)
            guard name == Array("\(program.prefix(15))\n".utf8) else { return false }
        }
        let result = lk_signal_process(handle.raw, signal)
        if result != -ESRCH { _ = try checked("pidfd_send_signal", result) }
        return true
    }
}
