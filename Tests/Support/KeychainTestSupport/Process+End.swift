internal import Foundation

extension Process {
    /// Returns once it has ended.
    ///
    /// `waitUntilExit` waits until a socket is closed that any program which was started
    /// meanwhile may have inherited: two tests can wait for each other's for ever.
    package func killNow() {
        let process = processIdentifier
        kill(process, SIGKILL)
        var information = unsafe siginfo_t()
        // Not reaped: that is for whoever started it.
        while unsafe waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
    }
}
