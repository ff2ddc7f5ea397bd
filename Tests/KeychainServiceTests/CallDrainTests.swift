import Foundation
import KeychainPlatform
import KeychainTestSupport
import Synchronization
import Testing

@testable import KeychainService

/// Waiting for the calls that began before, and for no others.
@Suite struct CallDrainTests {
    private static var soon: Deadline { Deadline(after: .seconds(30), on: SystemClock()) }
    private static var now: Deadline { Deadline(after: .milliseconds(1), on: SystemClock()) }

    /// A call that goes on until it is let go.
    private final class HeldCall: Sendable {
        private let mayEnd = DispatchSemaphore(value: 0)
        private let hasEnded = DispatchSemaphore(value: 0)

        init(in drain: CallDrain) {
            let hasBegun = DispatchSemaphore(value: 0)
            TestThread.start { [self] in
                drain.during {
                    hasBegun.signal()
                    mayEnd.wait()
                }
                hasEnded.signal()
            }
            hasBegun.wait()
        }

        func end() {
            mayEnd.signal()
            hasEnded.wait()
        }
    }

    @Test func nothingUnderWayIsNothingToWaitFor() throws {
        let drain = try CallDrain()
        for _ in 0..<10 { #expect(drain.waitForEarlier(until: Self.soon)) }
    }

    @Test func aCallThatBeganBeforeIsWaitedFor() throws {
        let drain = try CallDrain()
        for _ in 0..<4 {
            let call = HeldCall(in: drain)
            #expect(!drain.waitForEarlier(until: Self.now))
            call.end()
            #expect(drain.waitForEarlier(until: Self.soon))
        }
    }

    /// One that outlasted a wait is earlier than the next wait as well.
    @Test func aCallThatOutlastsOneWaitIsStillWaitedForByTheNext() throws {
        let drain = try CallDrain()
        let call = HeldCall(in: drain)
        for _ in 0..<5 { #expect(!drain.waitForEarlier(until: Self.now)) }
        let later = HeldCall(in: drain)
        #expect(!drain.waitForEarlier(until: Self.now))
        call.end()
        later.end()
        #expect(drain.waitForEarlier(until: Self.soon))
    }

    @Test func aCallThatBeganLaterIsNotWaitedFor() throws {
        let drain = try CallDrain()
        let early = HeldCall(in: drain)
        let isDrained = Mutex(false)
        let waited = DispatchSemaphore(value: 0)
        TestThread.start {
            let result = drain.waitForEarlier(until: Self.soon)
            isDrained.withLock { $0 = result }
            waited.signal()
        }
        // Calls come and go meanwhile, one always before the last has ended: a single
        // counter would never be at zero.
        var current = HeldCall(in: drain)
        early.end()
        for _ in 0..<200 {
            let next = HeldCall(in: drain)
            current.end()
            current = next
        }
        waited.wait()
        #expect(isDrained.withLock { $0 })
        current.end()
    }

    /// Whoever saw a secret before a wait began has let go of it when the wait is over.
    @Test func underManyThreadsNoCallIsMissed() throws {
        let drain = try CallDrain()
        let epoch = Atomic<Int>(0)
        let oldestSeen = (0..<8).map { _ in EpochInUse() }
        let isOver = Atomic(false)
        let group = DispatchGroup()
        for seen in oldestSeen {
            group.enter()
            TestThread.start {
                while !isOver.load(ordering: .acquiring) {
                    drain.during {
                        seen.value.store(
                            epoch.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
                        sched_yield()
                        seen.value.store(Int.max, ordering: .sequentiallyConsistent)
                    }
                }
                group.leave()
            }
        }
        var missed = 0
        for next in 1...500 {
            epoch.store(next, ordering: .sequentiallyConsistent)
            #expect(drain.waitForEarlier(until: Self.soon))
            missed += oldestSeen.count { $0.value.load(ordering: .sequentiallyConsistent) < next }
        }
        isOver.store(true, ordering: .releasing)
        group.wait()
        #expect(missed == 0)
    }

    private final class EpochInUse: Sendable {
        let value = Atomic(Int.max)
    }
}
