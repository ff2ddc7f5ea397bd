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

        /// Whoever ends leaves its worker to who is named.
        func end(_ process: Int32) -> [UInt64] {
            shares.end(process)
            busy -= 1
            return next()
        }

        func next() -> [UInt64] { shares.next(idle: max(0, 8 - busy - 1)) { _ in true } }
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
        #expect(counter.shares.hasWaiting)
        // An end of another process brings one along; six were busy, five are.
        #expect(counter.end(1) == [13])
        #expect(counter.begins(2, 13))
        #expect(counter.next() == [])
        #expect(counter.end(1) == [])
        #expect(counter.end(1) == [14])
        #expect(counter.begins(2, 14))
        #expect(counter.next() == [] && counter.shares.hasWaiting, "it has four")
        #expect(counter.end(2) == [15])
        #expect(!counter.shares.hasWaiting)
        #expect(counter.begins(2, 15))
    }

    /// Whatever others are at: nobody else need end for it.
    @Test func theLastThatEndsBringsOneAlongHoweverBusyOthersAre() {
        let counter = Counter()
        #expect(counter.begins(2, 11))
        for process in 3...9 { #expect(counter.begins(Int32(process), UInt64(process) * 10)) }
        #expect(!counter.begins(2, 12))
        #expect(counter.end(2) == [12])
    }

    @Test func whoFindsItsPlaceTakenIsTheNextAgain() {
        let counter = Counter()
        for number in 1...4 { #expect(counter.begins(1, UInt64(number))) }
        for number in 5...6 { #expect(!counter.begins(1, UInt64(number))) }
        #expect(counter.end(1) == [5])
        #expect(counter.begins(1, 7), "it was quicker")
        #expect(!counter.begins(1, 5))
        #expect(counter.end(1) == [5])
        #expect(counter.begins(1, 5))
        #expect(counter.end(1) == [6])
    }

    @Test func aConnectionThatHasGoneIsPassedOver() {
        let counter = Counter()
        for number in 1...4 { #expect(counter.begins(1, UInt64(number))) }
        for number in 5...7 { #expect(!counter.begins(1, UInt64(number))) }
        counter.shares.end(1)
        #expect(counter.shares.next(idle: 5) { $0 == 7 } == [7])
        #expect(!counter.shares.hasWaiting)
    }

    @Test func aShareOfAllWorkersIsNone() {
        let shares = WorkShares(8, of: 8)
        for number in 0..<8 { #expect(shares.begin(1, UInt64(number), idle: 7 - number)) }
    }
}
