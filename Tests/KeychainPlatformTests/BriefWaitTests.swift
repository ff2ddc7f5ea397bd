import Testing

@testable import KeychainPlatform

/// It is looked for an answer where that helped, and slept where it did not.
@Suite struct BriefWaitTests {
    /// How many looks are left out before the next.
    private func leftOut(_ wait: BriefWait) -> Int {
        var count = 0
        while !wait.isWorthALook { count += 1 }
        return count
    }

    /// Behind the first calls.
    private func established() -> BriefWait {
        let wait = BriefWait()
        _ = leftOut(wait)
        wait.ended(true, after: .microseconds(40))
        return wait
    }

    /// A program that makes one call or two is not kept from the processor by whoever looks.
    @Test func theFirstCallsAreNotLookedFor() {
        let wait = BriefWait()
        #expect(leftOut(wait) == 8)
        wait.ended(true, after: .microseconds(40))
        #expect(leftOut(wait) == 0)
    }

    @Test func whatComesInTimeIsLookedForEachTime() {
        let wait = established()
        for _ in 0..<10 {
            #expect(leftOut(wait) == 0)
            wait.ended(true, after: .microseconds(40))
        }
    }

    @Test func eachLookInVainDoublesThoseLeftOut() {
        let wait = established()
        var found: [Int] = []
        for _ in 0..<7 {
            found.append(leftOut(wait))
            wait.ended(false, after: BriefWait.limit)
        }
        #expect(found == [0, 1, 2, 4, 8, 16, 16])
        #expect(leftOut(wait) == 16)
        wait.ended(true, after: .microseconds(10))
        #expect(leftOut(wait) == 0)
    }

    /// Somebody else had the processor meanwhile: the machine is busy.
    @Test func whatComesMuchLaterIsAsInVain() {
        let wait = established()
        wait.ended(true, after: .milliseconds(4))
        #expect(leftOut(wait) == 1)
    }

    @Test func aMessageAndAnEndAreSeen() throws {
        let (ours, theirs) = try PacketSocket.pair()
        let wait = established()
        #expect(!wait.isReadable(ours))
        try theirs.send([1])
        // Left out once after the one in vain, and by whoever has one processor always.
        let seen = (0..<2).map { _ in wait.isReadable(ours) }
        #expect(seen.contains(true) == BriefWait.hasProcessors)
        theirs.shutDown()
        #expect(wait.isReadable(ours) == BriefWait.hasProcessors)
        // It stays where it is.
        var buffer = [UInt8](repeating: 0, count: 8)
        let envelope = try unsafe buffer.withUnsafeMutableBytes { try unsafe ours.receive(into: $0, .now) }
        #expect(envelope?.byteCount == 1)
    }
}
