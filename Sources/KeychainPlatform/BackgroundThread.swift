internal import Glibc

/// A thread for what blocks beside a program's own work.
package enum BackgroundThread {
    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own, which ends with it.
    ///
    /// No signal is delivered there: whoever waits for signals gets all of them.
    package static func start(_ body: @escaping @Sendable () -> Void) throws(SystemCallError) {
        let work = unsafe Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        var (all, before) = (sigset_t(), sigset_t())
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let failure = unsafe pthread_create(
            &thread, nil,
            { argument in
                if let argument = unsafe argument {
                    unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                }
                return nil
            }, work.toOpaque())
        guard failure == 0 else {
            unsafe work.release()
            throw SystemCallError("pthread_create", errno: failure)
        }
        pthread_detach(thread)
    }
}
