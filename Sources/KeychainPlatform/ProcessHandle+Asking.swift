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

    /// The process that has this number now; nil where none has.
    package static func ifThere(_ processID: Int32) throws(SystemCallError) -> ProcessHandle? {
        do throws(SystemCallError) { return try open(processID) } catch {
            if error.errno == ESRCH { return nil }
            throw error
        }
    }

    /// Whether it runs a program of this name (proc_pid_comm(5), its first 15 bytes); false
    /// where /proc does not show it (proc(5), hidepid).
    ///
    /// - Parameter processID: its number, which a file may have from another container.
    package func runs(_ program: String, under processID: Int32) throws(SystemCallError) -> Bool {
        let file = unsafe lk_open("/proc/\(processID)/comm", O_RDONLY, 0)
        guard file >= 0 else { return false }
        // Of whoever has the number, which is this one for as long as it lives.
        return try Descriptor(owning: file).readOnce(atMost: 16) == Array("\(program.prefix(15))\n".utf8) && isAlive
    }

    /// Asks it to end in its own time (SIGTERM); one that has ended needs no asking.
    package func askToEnd() throws(SystemCallError) { try send(SIGTERM) }

    /// Kills it, which loses nothing that was acknowledged; one that has ended needs no killing.
    package func kill() throws(SystemCallError) { try send(SIGKILL) }

    private func send(_ signal: Int32) throws(SystemCallError) {
        let result = lk_signal_process(end.raw, signal)
        if result != -ESRCH { _ = try checked("pidfd_send_signal", result) }
    }
}
