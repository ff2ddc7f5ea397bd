internal import Glibc

/// A thread for what blocks beside a program's own work.
package enum BackgroundThread {
    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own, which ends with it.
    package static func start(_ body: @escaping @Sendable () -> Void) throws(SystemCallError) {
        let work = unsafe Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
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
