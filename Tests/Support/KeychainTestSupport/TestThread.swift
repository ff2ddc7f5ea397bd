internal import Foundation

/// A thread of its own for what blocks, so that the pool of Swift's tasks stays free.
package enum TestThread {
    /// What the body records as an issue is the calling test's: the thread runs it as a task, which
    /// has the task-local values of the caller.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        Task(executorPreference: OneThread()) { body() }
    }

    private final class OneThread: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let thread = Thread { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            thread.stackSize = 1 << 20
            thread.start()
        }
    }
}
