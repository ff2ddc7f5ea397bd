internal import KeychainPlatform
internal import Synchronization
internal import class Foundation.Thread

/// A thread with the stack that deep parsing needs, which can be waited for.
final class WorkerThread: @unchecked Sendable {
    // @unchecked: `thread` is set once in init and only started and asked.
    private let thread: Thread
    private let done = Mutex(false)
    private let finished: EventSignal?

    init(_ body: @escaping @Sendable () -> Void) {
        let signal: EventSignal?
        do throws(SystemCallError) { signal = try EventSignal() } catch { signal = nil }
        finished = signal
        thread = Thread {
            body()
            signal?.signal()
        }
        thread.stackSize = 1 << 20
    }

    func start() { thread.start() }

    /// Within five seconds: a worker that hangs in a system call must not keep
    /// the process from leaving.
    func waitUntilDone() {
        guard let finished else { return }
        do throws(SystemCallError) {
            _ = try wait(
                for: finished.descriptor.raw, to: .receive, until: Deadline(after: .seconds(5), on: SystemClock()))
        } catch { return }
    }
}
