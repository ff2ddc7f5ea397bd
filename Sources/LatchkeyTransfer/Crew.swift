internal import Dispatch
internal import class Foundation.Thread
internal import Synchronization

/// Threads that share a list of steps: calls to the keychain block, and Swift's
/// own pool has no more threads than the machine has processors.
enum Crew {
    static func run(_ threads: Int, over steps: Int, _ body: @escaping @Sendable (_ step: Int, _ worker: Int) -> Void) {
        let next = NextStep()
        let finished = DispatchSemaphore(value: 0)
        let count = min(threads, steps)
        for worker in 0..<count {
            let thread = Thread {
                while let step = next.take(below: steps) { body(step, worker) }
                finished.signal()
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
        for _ in 0..<count { finished.wait() }
    }
}

private final class NextStep: Sendable {
    private let number = Atomic(0)

    func take(below limit: Int) -> Int? {
        let step = number.add(1, ordering: .relaxed).oldValue
        return step < limit ? step : nil
    }
}

/// Counts from several threads.
final class Tally: Sendable {
    private let number = Atomic(0)

    func next() -> Int { number.add(1, ordering: .relaxed).newValue }
}
