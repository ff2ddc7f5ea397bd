import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// A keychain that locks by itself.
@Suite struct LockPolicyTests {
    private let scene: HonestScene
    private let never: EventSignal
    private var clock: ManualClock { scene.clock }

    init() throws {
        scene = try HonestScene()
        never = try EventSignal()
    }

    private func setPolicy(_ seconds: UInt32?, passcode: String = HonestScene.passcode) throws {
        let policy = try #require(LockPolicy(idleSeconds: seconds))
        try scene.door().setLockPolicy(policy, passcode: .text(passcode))
    }

    private func state() throws -> DeviceState { try scene.door().state() }

    /// The state once it is locked, where it is about to be.
    private func expectLocked(_ location: SourceLocation = #_sourceLocation) throws {
        var state = try state()
        while state.lock == .unlocked {
            state = try #require(try scene.door().state(after: state.number, orUntil: never))
        }
        #expect(state.lock == .locked, sourceLocation: location)
    }

    /// The loop has looked at the time: it answers only after that.
    private func expectOpen(_ location: SourceLocation = #_sourceLocation) throws {
        #expect(try state().lock == .unlocked, sourceLocation: location)
        #expect(try state().lock == .unlocked, sourceLocation: location)
    }

    // MARK: Without a use

    @Test func itLocksWhereNobodyUsesIt() throws {
        clock.advance(by: .seconds(100_000))
        try expectOpen()
        try setPolicy(600)
        #expect(try state().lockPolicy.idleSeconds == 600)
        clock.advance(by: .seconds(600) - .milliseconds(1))
        try expectOpen()
        clock.advance(by: .milliseconds(1))
        try expectLocked()
        try scene.unlock()
        clock.advance(by: .seconds(599))
        try expectOpen()
        clock.advance(by: .seconds(1))
        try expectLocked()
    }

    @Test func aUseBeginsTheTimeAnew() throws {
        try setPolicy(600)
        let key = try MadeKey(in: scene.daemon)
        for _ in 0..<3 {
            clock.advance(by: .seconds(599))
            #expect(try key.opens(in: scene.daemon))
        }
        clock.advance(by: .seconds(599))
        _ = try MadeKey(in: scene.daemon)
        clock.advance(by: .seconds(599))
        try expectOpen()
        clock.advance(by: .seconds(1))
        try expectLocked()
        #expect(try scene.daemon.openRowKeys([(key.binding, key.wrapped)]).map(\.fate) == [.locked])
    }

    /// A service in the background keeps open what it has itself, and no more.
    @Test func whatALockLeavesOpenIsNoUse() throws {
        let (lasting, always) = (
            try MadeKey(in: scene.daemon, .row(.afterFirstUnlock)), try MadeKey(in: scene.daemon, .row(.always))
        )
        try setPolicy(600)
        clock.advance(by: .seconds(599))
        #expect(try lasting.opens(in: scene.daemon) && always.opens(in: scene.daemon))
        #expect(try state().openClasses.contains(.whenUnlocked))
        clock.advance(by: .seconds(1))
        try expectLocked()
        #expect(try lasting.opens(in: scene.daemon) && always.opens(in: scene.daemon))
    }

    /// Nothing wakes the loop of a machine that slept; the first that asks does.
    @Test func theRecordTellsItFromAPersonsLock() throws {
        try setPolicy(600)
        clock.advance(by: .seconds(600))
        try expectLocked()
        try scene.unlock()
        let block = try #require(try scene.daemon.sealAudit([], fromFile: 0))
        _ = try scene.daemon.confirmAudit(block)
        guard case .blocks(let opened) = try scene.daemon.openAudit([block.box], from: block.place) else {
            Issue.record("not opened")
            return
        }
        let kinds = opened.first??.events.map(\.kind) ?? []
        #expect(kinds.suffix(3) == [.lockPolicyChanged, .lockedByItself, .unlocked])
    }

    @Test func theTimeOfSleepCounts() throws {
        try setPolicy(600)
        clock.sleep(for: .seconds(601))
        // Whoever comes next is heard by a loop that has looked at the time, or has it look.
        _ = try state()
        try expectLocked()
    }

    @Test func whatIsLockedStaysSo() throws {
        try setPolicy(600)
        try scene.door().lock()
        let number = try state().number
        clock.advance(by: .seconds(100_000))
        #expect(try state().number == number)
        #expect(try state().lock == .locked)
    }

    @Test func programsHearOfItBefore() throws {
        try setPolicy(600)
        let daemon = try ListeningDaemon(scene.server)
        try daemon.ask(after: try state().number)
        // One event after the other: it has heard that.
        _ = try state()
        clock.advance(by: .seconds(600))
        let closing = try daemon.state()
        #expect(closing.isClosing && closing.lock == .unlocked)
        try daemon.ask(after: closing.number)
        #expect(try daemon.state().lock == .locked)
    }

    // MARK: Choosing

    @Test func onlyThePasscodeChanges() throws {
        try setPolicy(600)
        for wrong in ["wrong", ""] {
            #expect { try setPolicy(nil, passcode: wrong) } throws: { error in
                (error as? KeychainError)?.status == .authFailed
            }
        }
        #expect(try state().lockPolicy.idleSeconds == 600)
        // A passcode that is brought is no unlock.
        try scene.door().lock()
        try setPolicy(1200)
        #expect(try state().lock == .locked && state().lockPolicy.idleSeconds == 1200)
        try setPolicy(nil)
        #expect(try state().lockPolicy == .never)
    }

    @Test func itLastsAsLongAsThePasscode() throws {
        let door = try scene.door()
        try setPolicy(600)
        try door.changePasscode(from: .text(HonestScene.passcode), to: .text("another"))
        #expect(try state().lockPolicy.idleSeconds == 600)
        try door.removePasscode(with: .passcode(.text("another")))
        #expect(try state().lockPolicy == .never)
        #expect { try setPolicy(600) } throws: { error in (error as? KeychainError)?.reason == .passcodeNotSet }
        try door.setPasscode(.text("a third"))
        #expect(try state().lockPolicy == .never)
    }

    @Test func itIsKeptInTheKeybag() throws {
        let home = scene.server.home
        try setPolicy(600)
        scene.server.end()
        let again = try RunningServer(home: home)
        _ = try again.connect()
        let door = try RemotePersonDoor(runDirectory: home.runDirectory, process: nil, clock: SystemClock())
        #expect(try door.state().lockPolicy.idleSeconds == 600)
    }

    @Test(arguments: [0, 59, 30 * 86_400 + 1, .max] as [UInt32])
    func timesOutOfRangeAreRefused(seconds: UInt32) {
        #expect(LockPolicy(idleSeconds: seconds) == nil)
    }
}
