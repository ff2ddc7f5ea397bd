internal import Glibc
internal import Synchronization

/// Threads that share a list of steps: calls that block would otherwise wait for
/// each other, since Swift's own pool has no more threads than the machine has
/// processors.
package enum Crew {
    /// Returns when all steps are done; the calling thread works along.
    ///
    /// - Parameter body: gets the number of its step, and of the thread that does it.
    package static func run(
        _ threads: Int, over steps: Int, _ body: @escaping @Sendable (_ step: Int, _ worker: Int) -> Void
    ) {
        let work = Work(steps, body)
        var others: [pthread_t] = []
        for worker in 1..<max(1, min(threads, steps)) {
            // With fewer threads it only takes longer.
            guard let thread = start(Shift(work, worker)) else { break }
            others.append(thread)
        }
        work.go(as: 0)
        for thread in others { pthread_join(thread, nil) }
    }

    private static func start(_ shift: Shift) -> pthread_t? {
        let context = unsafe Unmanaged.passRetained(shift)
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                let shift = unsafe Unmanaged<Shift>.fromOpaque(context).takeRetainedValue()
                shift.work.go(as: shift.worker)
                return nil
            }, context.toOpaque())
        guard result == 0 else {
            unsafe context.release()
            return nil
        }
        return thread
    }

    /// What one thread is told.
    private final class Shift: Sendable {
        let work: Work
        let worker: Int

        init(_ work: Work, _ worker: Int) {
            self.work = work
            self.worker = worker
        }
    }

    private final class Work: Sendable {
        private let next = Tally()
        private let steps: Int
        private let body: @Sendable (Int, Int) -> Void

        init(_ steps: Int, _ body: @escaping @Sendable (Int, Int) -> Void) {
            self.steps = steps
            self.body = body
        }

        func go(as worker: Int) {
            while true {
                let step = next.next() - 1
                guard step < steps else { return }
                body(step, worker)
            }
        }
    }
}

/// Counts from several threads.
package final class Tally: Sendable {
    private let number = Atomic(0)

    package init() {}

    /// 1, 2, 3, …
    package func next() -> Int { number.add(1, ordering: .relaxed).newValue }
}
