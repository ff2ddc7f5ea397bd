import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// A keychain that locks before the machine sleeps, and with the screen.
@Suite(TestBus.isThere) struct LoginLockTests {
    private let bus: PrivateBus
    private let scene: HonestScene
    private let never: EventSignal

    init() throws {
        bus = try PrivateBus()
        scene = try HonestScene(bus: TestBus(bus))
        never = try EventSignal()
    }

    private func choose(onSleep: Bool = false, onScreenLock: Bool = false) throws {
        var policy = LockPolicy.never
        policy.locksOnSleep = onSleep
        policy.locksOnScreenLock = onScreenLock
        try scene.door().setLockPolicy(policy, passcode: .text(HonestScene.passcode))
    }

    private func state() throws -> DeviceState { try scene.door().state() }

    /// logind has heard of us.
    private func awaitFollowing() throws {
        #expect(try Waiting.eventually { try bus.tell("inhibitors") == "sleep delay" })
        // And we of that.
        #expect(try Waiting.eventually { try scene.daemon.describe().loginsFault == nil })
    }

    private func expectLocked(_ location: SourceLocation = #_sourceLocation) throws {
        var state = try state()
        while state.lock == .unlocked {
            state = try #require(try scene.door().state(after: state.number, orUntil: never))
        }
        #expect(state.lock == .locked, sourceLocation: location)
    }

    @Test func sleepWaitsForTheLock() throws {
        try bus.tell("play-logind")
        try choose(onSleep: true)
        try awaitFollowing()
        try bus.tell("sleep begins")
        // The machine sleeps once we let go.
        #expect(try bus.tell("await-release") == "released")
        #expect(try state().lock == .locked)
        // Another night.
        try scene.unlock()
        try bus.tell("sleep ends")
        #expect(try Waiting.eventually { try bus.tell("inhibitors") == "sleep delay" })
        try bus.tell("sleep begins")
        #expect(try bus.tell("await-release") == "released")
        #expect(try state().lock == .locked)
    }

    /// The programs of a daemon that listens hear of it first, and sleep waits for them.
    @Test func sleepWaitsUntilTheDaemonHasHeard() throws {
        try bus.tell("play-logind")
        try choose(onSleep: true)
        try awaitFollowing()
        let daemon = try ListeningDaemon(scene.server)
        let number = try state().number
        try daemon.ask(after: number)
        try bus.tell("sleep begins")
        let announced = try daemon.state()
        #expect(announced.isClosing)
        #expect(announced.lock == .unlocked)
        #expect(try bus.tell("inhibitors") == "sleep delay")
        try daemon.ask(after: announced.number)
        #expect(try daemon.state().lock == .locked)
        #expect(try bus.tell("await-release") == "released")
    }

    @Test(arguments: ["lock ours", "hint ours on"]) func theScreenLocksIt(_ event: String) throws {
        try bus.tell("play-logind")
        try choose(onScreenLock: true)
        try awaitFollowing()
        for other in ["lock others", "hint others on", "hint ours off"] { try bus.tell(other) }
        // Told in order: were one of those taken for ours, sleep would find it locked.
        try bus.tell("sleep begins")
        #expect(try bus.tell("await-release") == "released")
        #expect(try state().lock == .unlocked)
        try bus.tell(event)
        try expectLocked()
    }

    @Test func aScreenThatWasNotChosenLocksNothing() throws {
        try bus.tell("play-logind")
        try choose(onSleep: true)
        try awaitFollowing()
        try bus.tell("lock ours")
        // Told in order: the screen was heard of before the end.
        try bus.tell("leave org.freedesktop.login1")
        #expect(try Waiting.eventually { try scene.daemon.describe().loginsFault != nil })
        #expect(try state().lock == .unlocked)
    }

    @Test func whatIsTakenBackIsNotFollowed() throws {
        try bus.tell("play-logind")
        try choose(onSleep: true)
        try awaitFollowing()
        try choose()
        #expect(try bus.tell("await-release") == "released")
        #expect(try bus.tell("inhibitors") == "none")
    }

    @Test func withoutLogindThatIsSaidAndTriedAgain() throws {
        try choose(onSleep: true)
        #expect(
            try Waiting.eventually {
                try scene.daemon.describe().loginsFault == "there is no logind on the system bus"
            })
        try bus.tell("play-logind")
        #expect(try bus.tell("inhibitors") == "none")
        scene.clock.advance(by: EnclaveServer.Limits().loginsPause)
        try awaitFollowing()
        try bus.tell("sleep begins")
        #expect(try bus.tell("await-release") == "released")
        #expect(try state().lock == .locked)
    }

    @Test func aLogindThatStartsAnewIsFollowedAgain() throws {
        try bus.tell("play-logind")
        try choose(onSleep: true)
        try awaitFollowing()
        try bus.tell("leave org.freedesktop.login1")
        #expect(try bus.tell("await-release") == "released")
        #expect(try Waiting.eventually { try scene.daemon.describe().loginsFault != nil })
        try bus.tell("play-logind")
        scene.clock.advance(by: .seconds(1))
        try awaitFollowing()
    }

    @Test func nobodyIsFollowedForAKeychainThatDoesNotWantIt() throws {
        try bus.tell("play-logind")
        #expect(try scene.daemon.describe().loginsFault == nil)
        #expect(try bus.tell("inhibitors") == "none")
    }
}

@Suite struct BuslessLockTests {
    @Test func withoutABusThatIsSaidAndNothingHangs() throws {
        let scene = try HonestScene(bus: TestBus(place: "/nowhere/bus"))
        var policy = LockPolicy.never
        policy.locksOnScreenLock = true
        try scene.door().setLockPolicy(policy, passcode: .text(HonestScene.passcode))
        #expect(
            try Waiting.eventually {
                try scene.daemon.describe().loginsFault?.hasPrefix("there is no system bus") == true
            })
        #expect(try scene.door().state().lock == .unlocked)
    }
}
