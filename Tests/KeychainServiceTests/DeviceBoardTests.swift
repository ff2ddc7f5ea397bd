import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
import Synchronization
import Testing

/// Who is waited for before a lock comes.
@Suite struct DeviceBoardTests {
    private let clock = ManualClock()
    private let board: DeviceBoard

    init() { board = DeviceBoard(clock: clock) }

    private func state(isClosing: Bool = false) -> DeviceState {
        DeviceState(
            number: 77, lock: .unlocked, hasPasscode: true, hasRecoveryCode: false, openClasses: [],
            isClosing: isClosing)
    }

    /// A lock that is being announced on a thread of its own.
    private final class Announcement: Sendable {
        let done: EventSignal
        private let isOver = Atomic(false)

        init() throws { done = try EventSignal() }

        var isDone: Bool { isOver.load(ordering: .acquiring) }

        func finish() {
            isOver.store(true, ordering: .releasing)
            done.signal()
        }
    }

    /// One that waits for listeners when this returns.
    private func announcing() throws -> Announcement {
        let announcement = try Announcement()
        let closing = state(isClosing: true)
        TestThread.start { [board] in
            board.tell(closing)
            announcement.finish()
        }
        let limit = Deadline(after: .seconds(20), on: SystemClock())
        while clock.waiterCount == 0 { try #require(!limit.hasPassed, "nobody is waited for") }
        return announcement
    }

    private func comes(_ event: EventSignal) throws -> Bool {
        try waitForAny(of: [event.descriptor], until: Deadline(after: .seconds(20), on: SystemClock())) == 0
    }

    /// Waits until the listener is told of something that follows `number`.
    private func heard(_ bell: EventSignal, _ listener: UInt64, after number: UInt64) throws -> DeviceState {
        while true {
            if let state = try board.state(after: number, for: listener) { return state }
            try #require(try comes(bell))
            bell.drain()
        }
    }

    @Test func theStateIsToldWithANumberOfTheBoards() throws {
        let listener = board.join {}
        #expect(try board.state(after: 0, for: listener) == nil)
        board.tell(state())
        #expect(try board.state(after: 0, for: listener)?.number == 1)
        #expect(try board.state(after: 1, for: listener) == nil)
        // Of several only the last.
        board.tell(state())
        board.tell(state())
        #expect(try board.state(after: 1, for: listener)?.number == 3)
    }

    @Test func aLockWaitsUntilEverybodyAskedAgain() throws {
        let bells = try (0..<3).map { _ in try EventSignal() }
        let listeners = bells.map { bell in board.join { bell.signal() } }
        let announcement = try announcing()
        for (bell, listener) in zip(bells, listeners) {
            let state = try heard(bell, listener, after: 0)
            #expect(state.isClosing)
            // Told, and not yet heard.
            #expect(!announcement.isDone)
            #expect(try board.state(after: state.number, for: listener) == nil)
        }
        #expect(try comes(announcement.done))
    }

    @Test func whoLeavesIsNotWaitedFor() throws {
        let bell = try EventSignal()
        let listener = board.join { bell.signal() }
        let announcement = try announcing()
        _ = try heard(bell, listener, after: 0)
        #expect(!announcement.isDone)
        board.leave(listener)
        #expect(try comes(announcement.done))
    }

    @Test func nobodyIsWaitedForWithoutEnd() throws {
        let bell = try EventSignal()
        let listener = board.join { bell.signal() }
        let announcement = try announcing()
        _ = try heard(bell, listener, after: 0)
        clock.advance(by: DeviceBoard.patience)
        #expect(try comes(announcement.done))
    }

    /// A number that nobody was told says nothing.
    @Test func aNumberThatWasNotToldDoesNotCount() throws {
        let bell = try EventSignal()
        let listener = board.join { bell.signal() }
        _ = try board.state(after: .max, for: listener)
        let announcement = try announcing()
        _ = try heard(bell, listener, after: 0)
        #expect(!announcement.isDone)
        board.leave(listener)
        #expect(try comes(announcement.done))
    }

    @Test func aStateThatNobodyKnowsIsSaidToBeThat() throws {
        let bell = try EventSignal()
        let listener = board.join { bell.signal() }
        board.tell(state())
        let known = try #require(try board.state(after: 0, for: listener)).number
        bell.drain()
        board.lose(KeychainError(.notAvailable, reason: .enclaveUnreachable))
        #expect(try comes(bell))
        for number in [0, known] {
            #expect(throws: KeychainError(.notAvailable, reason: .enclaveUnreachable)) {
                try board.state(after: number, for: listener)
            }
        }
        board.tell(state())
        #expect(try board.state(after: known, for: listener) != nil)
    }

    @Test func anythingElseWaitsForNobody() {
        _ = board.join {}
        board.tell(state())
    }
}
