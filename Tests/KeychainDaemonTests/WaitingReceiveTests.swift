import Foundation
import KeychainPlatform
import KeychainProtocol
import Synchronization
import Testing

/// The receive that waits in the kernel, as the shipped programs use it.
@Suite(.timeLimit(.minutes(20))) struct WaitingReceiveTests {
    /// Whoever gets signals all the time waits no longer for that.
    @Test func signalsDoNotPutItsEndOff() throws {
        _ = signal(SIGUSR2) { _ in }
        let (ours, theirs) = try PacketSocket.pair()
        let patience = Duration.milliseconds(200)
        let channel = try MessageChannel(ours, asking: patience, on: SystemClock())
        let waiter = Mutex<pthread_t?>(nil)
        let outcome = Mutex<FrameError?>(nil)
        let isOver = Atomic(false)
        let thread = Thread {
            waiter.withLock { $0 = pthread_self() }
            do throws(FrameError) {
                _ = try channel.receive(until: Deadline(after: patience, on: SystemClock()))
            } catch {
                outcome.withLock { $0 = error }
            }
            waiter.withLock { $0 = nil }
            isOver.store(true, ordering: .releasing)
        }
        thread.start()
        while !isOver.load(ordering: .acquiring) {
            waiter.withLock { if let thread = $0 { _ = pthread_kill(thread, SIGUSR2) } }
            sched_yield()
        }
        #expect(outcome.withLock { $0 } == .timedOut)
        withExtendedLifetime(theirs) {}
    }

    /// A deadline that began before counts from its own beginning.
    @Test func whatIsLeftOfADeadlineIsWaitedFor() throws {
        let (ours, theirs) = try PacketSocket.pair()
        let channel = try MessageChannel(ours, asking: .seconds(3600), on: SystemClock())
        #expect(throws: FrameError.timedOut) {
            _ = try channel.receive(until: Deadline(after: .milliseconds(50), on: SystemClock()))
        }
        withExtendedLifetime(theirs) {}
    }
}
