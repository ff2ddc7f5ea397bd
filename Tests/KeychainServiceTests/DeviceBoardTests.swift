import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
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

    /// Tells on a thread of its own.
    private func telling(_ state: DeviceState) throws -> EventSignal {
        let done = try EventSignal()
        TestThread.start { [board] in
            board.tell(state)
            done.signal()
        }
        return done
    }

    private func isDone(_ done: EventSignal) throws -> Bool {
        try waitForAny(of: [done.descriptor], until: Deadline(after: .seconds(20), on: SystemClock())) == 0
    }

    private func isDoneNow(_ done: EventSignal) throws -> Bool {
        try waitForAny(of: [done.descriptor], until: Deadline(after: .zero, on: SystemClock())) == 0
    }

    /// Waits until the listener is told of something that follows `number`.
    private func heard(_ bell: EventSignal, _ listener: UInt64, after number: UInt64) throws -> DeviceState {
        while true {
            if let state = try board.state(after: number, for: listener) { return state }
            try #require(try isDone(bell))
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
        let done = try telling(state(isClosing: true))
        for (bell, listener) in zip(bells, listeners) {
            let state = try heard(bell, listener, after: 0)
            #expect(state.isClosing)
            // Told, and not yet heard.
            #expect(try !isDoneNow(done))
            #expect(try board.state(after: state.number, for: listener) == nil)
        }
        #expect(try isDone(done))
    }

    @Test func whoLeavesIsNotWaitedFor() throws {
        let bell = try EventSignal()
        let listener = board.join { bell.signal() }
        let done = try telling(state(isClosing: true))
        _ = try heard(bell, listener, after: 0)
        #expect(try !isDoneNow(done))
        board.leave(listener)
        #expect(try isDone(done))
    }

    @Test func nobodyIsWaitedForWithoutEnd() throws {
        let bell = try EventSignal()
        let listener = board.join { bell.signal() }
        let done = try telling(state(isClosing: true))
        _ = try heard(bell, listener, after: 0)
        let limit = Deadline(after: .seconds(20), on: SystemClock())
        while clock.waiterCount == 0 { try #require(!limit.hasPassed) }
        clock.advance(by: DeviceBoard.patience)
        #expect(try isDone(done))
    }

    /// A number that nobody was told says nothing.
    @Test func aNumberThatWasNotToldDoesNotCount() throws {
        let bell = try EventSignal()
        let listener = board.join { bell.signal() }
        _ = try board.state(after: .max, for: listener)
        let done = try telling(state(isClosing: true))
        _ = try heard(bell, listener, after: 0)
        #expect(try !isDoneNow(done))
        board.leave(listener)
        #expect(try isDone(done))
    }

    @Test func aStateThatNobodyKnowsIsSaidToBeThat() throws {
        let bell = try EventSignal()
        let listener = board.join { bell.signal() }
        board.tell(state())
        let known = try #require(try board.state(after: 0, for: listener)).number
        bell.drain()
        board.lose(KeychainError(.notAvailable, reason: .enclaveUnreachable))
        #expect(try isDone(bell))
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
