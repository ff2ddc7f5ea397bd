import KeychainDaemon
import Testing

/// Who may have a worker, as the daemon asks: with eight of them, half of them for one process.
@Suite struct WorkSharesTests {
    /// Counts as the daemon does: who has begun is busy, and so is the worker that asks.
    private final class Counter {
        let shares = WorkShares(4, of: 8)
        private(set) var busy = 0

        func begins(_ process: Int32, _ connection: UInt64) -> Bool {
            busy += 1
            if shares.begin(process, connection, idle: 8 - busy) { return true }
            busy -= 1
            return false
        }

        func end(_ process: Int32) -> UInt64? {
            shares.end(process)
            defer { busy -= 1 }
            return next(of: process)
        }

        func next(of process: Int32) -> UInt64? { shares.next(of: process, idle: 8 - busy) { _ in true } }
    }

    @Test func aProcessAloneHasHalf() {
        let counter = Counter()
        for number in 1...4 { #expect(counter.begins(1, UInt64(number))) }
        #expect(!counter.begins(1, 5))
        #expect(counter.busy == 4)
    }

    @Test func twoThatAskForAllLeaveTwo() {
        let counter = Counter()
        for number in 1...4 { #expect(counter.begins(1, UInt64(number))) }
        #expect(counter.begins(2, 11) && counter.begins(2, 12))
        #expect(!counter.begins(2, 13))
        #expect(counter.begins(3, 21) && counter.begins(4, 31), "the first of any other finds a worker")
    }

    @Test func whoWaitsGoesOnOnceOthersHaveLeft() {
        let counter = Counter()
        for number in 1...4 { #expect(counter.begins(1, UInt64(number))) }
        for number in 11...12 { #expect(counter.begins(2, UInt64(number))) }
        for number in 13...15 { #expect(!counter.begins(2, UInt64(number))) }
        for _ in 1...4 { #expect(counter.end(1) == nil) }
        // One ends and brings one along, which brings the next when it begins, and so on.
        #expect(counter.end(2) == 13)
        #expect(counter.begins(2, 13))
        #expect(counter.next(of: 2) == 14)
        #expect(counter.begins(2, 14))
        #expect(counter.next(of: 2) == 15)
        #expect(counter.begins(2, 15))
        #expect(counter.next(of: 2) == nil)
        #expect(counter.busy == 4)
    }

    /// Nobody else ends for it.
    @Test func theLastThatEndsBringsOneAlongHoweverBusyOthersAre() {
        let counter = Counter()
        #expect(counter.begins(2, 11))
        for process in 3...9 { #expect(counter.begins(Int32(process), UInt64(process) * 10)) }
        #expect(!counter.begins(2, 12))
        #expect(counter.end(2) == 12)
    }

    @Test func aShareOfAllWorkersIsNone() {
        let shares = WorkShares(8, of: 8)
        for number in 0..<8 { #expect(shares.begin(1, UInt64(number), idle: 7 - number)) }
    }
}
