import KeychainMessages
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import SwiftProtobuf
import Synchronization
import Testing

@testable import Enclave

/// A finger on a real fprintd's virtual reader opens a keychain again after a lock.
@Suite(TestBus.isThere) struct FingerUnlockTests {
    private let bus: PrivateBus
    private let scene: HonestScene
    private static let passcode = SharedSecret.text(HonestScene.passcode)

    init() throws {
        bus = try PrivateBus()
        scene = try HonestScene(bus: TestBus(bus))
    }

    private func state() throws -> DeviceState { try scene.door().state() }

    /// A finger is known and may open the keychain.
    private func choose() throws {
        try #require(try bus.tell("enroll right") == "enroll-completed")
        #expect(try scene.door().addFingerSlot(passcode: Self.passcode).map(\.kind) == ["passcode", "fingerprint"])
    }

    /// A finger is put on the reader once that looks.
    private func touch(_ finger: String) throws {
        #expect(try bus.tell("await-finger") == "needed")
        try bus.tell("reader SCAN \(finger)")
    }

    /// A person who waits for a finger, beside the test.
    private final class Waiter: Sendable {
        typealias Outcome = Result<QuestionNews.Event?, KeychainError>
        private let door: RemotePersonDoor
        private let heard = Mutex<Outcome?>(nil)
        private let signal: EventSignal

        init(_ scene: HonestScene) throws {
            door = try scene.door()
            signal = try EventSignal()
            ask()
        }

        /// Goes on waiting.
        func ask() {
            Waiting.meanwhile { [self] in
                let outcome: Outcome
                do throws(KeychainError) { outcome = .success(try door.unlockByFinger()) } catch {
                    outcome = .failure(error)
                }
                heard.withLock { $0 = outcome }
                signal.signal()
            }
        }

        func outcome() throws -> QuestionNews.Event? {
            #expect(try waitForAny(of: [signal.descriptor], until: MessageChannel.soon) == 0)
            signal.drain()
            return try #require(heard.withLock { $0 }).get()
        }
    }

    /// What was locked before the machine sleeps is not opened behind that.
    @Test func sleepEndsTheWait() throws {
        try bus.tell("play-logind")
        try choose()
        var policy = LockPolicy.never
        policy.locksOnSleep = true
        try scene.door().setLockPolicy(policy, passcode: Self.passcode)
        #expect(try Waiting.eventually { try bus.tell("inhibitors") == "sleep delay" })
        try scene.door().lock()
        let waiter = try Waiter(scene)
        #expect(try bus.tell("await-finger") == "needed")
        try bus.tell("sleep begins")
        // fprintd hears of it as well and stops its readers: either may be heard first.
        #expect { _ = try waiter.outcome() } throws: { error in
            [.promptTimedOut, .biometryNotAvailable].contains((error as? KeychainError)?.reason)
        }
        #expect(try bus.tell("await-release") == "released")
        #expect(try bus.tell("await-no-finger") == "not needed")
        // Nor by a wait that begins before the machine is awake.
        let late = try Waiter(scene)
        expectRefusal(.promptTimedOut) { _ = try late.outcome() }
        #expect(try state().lock == .locked)
    }

    @Test func aLockedScreenEndsTheWait() throws {
        try bus.tell("play-logind")
        try choose()
        var policy = LockPolicy.never
        policy.locksOnScreenLock = true
        try scene.door().setLockPolicy(policy, passcode: Self.passcode)
        #expect(try Waiting.eventually { try bus.tell("inhibitors") == "sleep delay" })
        try scene.door().lock()
        let waiter = try Waiter(scene)
        #expect(try bus.tell("await-finger") == "needed")
        try bus.tell("lock ours")
        expectRefusal(.promptTimedOut) { _ = try waiter.outcome() }
        #expect(try bus.tell("await-no-finger") == "not needed")
        #expect(try state().lock == .locked)
    }

    private func events() throws -> [AuditEvent.Kind] {
        let block = try #require(try scene.daemon.sealAudit([], fromFile: 0))
        _ = try scene.daemon.confirmAudit(block)
        guard case .blocks(let opened) = try scene.daemon.openAudit([block.box], from: block.place) else { return [] }
        return opened.first??.events.map(\.kind) ?? []
    }

    // MARK: Choosing it

    @Test func onlyThePasscodeChoosesIt() throws {
        try #require(try bus.tell("enroll right") == "enroll-completed")
        expectRefusal(.authenticationFailed) { _ = try scene.door().addFingerSlot(passcode: .text("wrong")) }
        #expect(try !state().fingerUnlocks)
        #expect(try scene.door().addFingerSlot(passcode: Self.passcode).map(\.kind) == ["passcode", "fingerprint"])
        #expect(try state().fingerUnlocks)
        let name = SlotState.fingerprintName
        expectRefusal(.authenticationFailed) {
            _ = try scene.door().removeSlot(name, passcode: .text("wrong"), code: nil)
        }
        #expect(try scene.door().removeSlot(name, passcode: Self.passcode, code: nil).map(\.kind) == ["passcode"])
        #expect(try !state().fingerUnlocks)
        #expect(throws: KeychainError.self) {
            _ = try scene.door().removeSlot(name, passcode: Self.passcode, code: nil)
        }
    }

    @Test func whereNoFingerIsEnrolledItIsRefused() throws {
        expectRefusal(.biometryNotEnrolled) { _ = try scene.door().addFingerSlot(passcode: Self.passcode) }
        #expect(try !state().fingerUnlocks)
    }

    @Test func itIsKeptInTheKeybagForAsLongAsThePasscode() throws {
        try choose()
        try scene.door().changePasscode(from: Self.passcode, to: .text("another"))
        #expect(try state().fingerUnlocks)
        scene.server.end()
        let again = try RunningServer.again(home: scene.server.home)
        _ = try again.connect()
        let door = try RemotePersonDoor(runDirectory: again.home.runDirectory, process: nil, clock: SystemClock())
        let started = try door.state()
        #expect(started.fingerUnlocks && !started.fingerOpens && started.lock == .beforeFirstUnlock)
        // Nobody typed the passcode yet.
        expectRefusal(.biometryLockedOut) { _ = try door.unlockByFinger() }
        try door.removePasscode(with: .passcode(.text("another")))
        #expect(try !door.state().fingerUnlocks)
        try door.setPasscode(.text("a third"))
        #expect(try !door.state().fingerUnlocks)
    }

    // MARK: A finger opens

    @Test func aFingerOpensWhatThePasscodeOpens() throws {
        try choose()
        let keys = try ProtectionClass.allCases.map { try MadeKey(in: scene.daemon, .row($0)) }
        expectRefusal(.authenticationFailed) { try scene.door().unlock(with: .passcode(.text("wrong"))) }
        try scene.door().lock()
        let locked = try state()
        #expect(locked.lock == .locked && locked.fingerOpens)
        for key in keys {
            #expect(try scene.fate(key) == (key.binding.protectionClass.closesWithLock ? .locked : .key))
        }
        let waiter = try Waiter(scene)
        try touch("right")
        #expect(try waiter.outcome() == nil)
        let open = try state()
        #expect(open.lock == .unlocked && !open.fingerOpens)
        for key in keys { #expect(try key.opens(in: scene.daemon)) }
        // It is no passcode.
        #expect(open.failedAttempts == 1)
        #expect(try events().suffix(2) == [.locked, .unlockedByFinger])
        // And again.
        try scene.door().lock()
        let next = try Waiter(scene)
        try touch("right")
        #expect(try next.outcome() == nil)
        #expect(try state().lock == .unlocked)
    }

    @Test func itOpensAfterALockThatCameByItself() throws {
        try choose()
        try scene.door().setLockPolicy(try #require(LockPolicy(idleSeconds: 600)), passcode: Self.passcode)
        scene.clock.advance(by: .seconds(600))
        #expect(try Waiting.eventually { try state().lock == .locked })
        let waiter = try Waiter(scene)
        try touch("right")
        #expect(try waiter.outcome() == nil)
        #expect(try state().lock == .unlocked)
    }

    @Test func theDaemonHasHeardBeforeThePersonIsTold() throws {
        try choose()
        try scene.door().lock()
        let daemon = try ListeningDaemon(scene.server)
        try daemon.ask(after: try state().number)
        _ = try state()
        let waiter = try Waiter(scene)
        try touch("right")
        let opened = try daemon.state()
        #expect(opened.lock == .unlocked)
        try daemon.ask(after: opened.number)
        #expect(try waiter.outcome() == nil)
    }

    @Test func thePasscodeAnswersWhoWaitsForAFingerToo() throws {
        try choose()
        try scene.door().lock()
        let waiters = [try Waiter(scene), try Waiter(scene)]
        #expect(try bus.tell("await-finger") == "needed")
        try scene.unlock()
        for waiter in waiters { #expect(try waiter.outcome() == nil) }
        #expect(try bus.tell("await-no-finger") == "not needed")
        // Nothing is to be opened.
        #expect(try scene.door().unlockByFinger() == nil)
    }

    // MARK: What else such a finger counts for

    private func isMet(_ age: Int, _ policy: AuthenticationPolicy = .biometry) throws -> Bool {
        try scene.daemon.isMet(.policy(policy), in: try scene.daemon.openSession(), reusing: .seconds(age))
    }

    private func openByFinger() throws {
        try scene.door().lock()
        let waiter = try Waiter(scene)
        try touch("right")
        #expect(try waiter.outcome() == nil)
    }

    /// LAContext.touchIDAuthenticationAllowableReuseDuration.
    @Test func anUnlockByAFingerCountsForWhoSaysHowOldItMayBe() throws {
        try choose()
        #expect(try !isMet(300))
        try openByFinger()
        scene.clock.advance(by: .seconds(10))
        #expect(try isMet(10) && isMet(10, .deviceOwner))
        #expect(try !isMet(0) && !isMet(9))
        scene.clock.advance(by: .seconds(290))
        #expect(try isMet(300) && isMet(100_000))
        scene.clock.advance(by: .seconds(1))
        #expect(try !isMet(301) && !isMet(100_000))
    }

    @Test func whatItCountsForIsBiometryInThatContextAlone() throws {
        try choose()
        func key(_ flags: AccessControlFlags) throws -> MadeKey {
            try MadeKey(
                in: scene.daemon, .row(accessControl: HonestScene.encoding(flags), shown: HonestScene.shown))
        }
        let (biometry, passcode) = (try key(.biometryAny), try key(.devicePasscode))
        try openByFinger()
        let session = try scene.daemon.openSession()
        #expect(try scene.fate(biometry, in: session) == .needsAuthentication)
        #expect(try scene.daemon.isMet(.policy(.biometry), in: session, reusing: .seconds(60)))
        #expect(try scene.fate(biometry, in: session) == .key)
        #expect(try scene.fate(passcode, in: session) == .needsAuthentication)
        #expect(try scene.fate(biometry, in: try scene.daemon.openSession()) == .needsAuthentication)
        // A question about rows is asked.
        let rows = AuthenticationCase.Subject.rows([(biometry.binding, biometry.wrapped)], operation: "od")
        #expect(try !scene.daemon.isMet(rows, in: try scene.daemon.openSession(), reusing: .seconds(60)))
    }

    @Test func aLockOrAnotherPasscodeEndsThat() throws {
        try choose()
        try openByFinger()
        #expect(try isMet(300))
        try scene.door().lock()
        try scene.unlock()
        #expect(try !isMet(300))
        try openByFinger()
        try scene.door().changePasscode(from: Self.passcode, to: .text("another"))
        #expect(try !isMet(300))
    }

    // MARK: A finger does not open

    @Test func whereNobodyChoseItNothingIsKept() throws {
        try #require(try bus.tell("enroll right") == "enroll-completed")
        try scene.door().lock()
        #expect(try !state().fingerOpens)
        #expect { _ = try scene.door().unlockByFinger() } throws: { error in
            guard case .protectorRefused = (error as? KeychainError)?.reason else { return false }
            return true
        }
        // Chosen now, it opens nothing before somebody came with the passcode.
        _ = try scene.door().addFingerSlot(passcode: Self.passcode)
        #expect(try !state().fingerOpens)
        expectRefusal(.biometryLockedOut) { _ = try scene.door().unlockByFinger() }
    }

    @Test func afterFiveWrongFingersTheRightOneOpensNothing() throws {
        try choose()
        try scene.door().lock()
        let waiter = try Waiter(scene)
        for _ in 1...4 {
            try touch("wrong")
            #expect(try waiter.outcome() == .notRecognized)
            waiter.ask()
        }
        try touch("wrong")
        expectRefusal(.biometryLockedOut) { _ = try waiter.outcome() }
        #expect(try bus.tell("await-no-finger") == "not needed")
        #expect(try state().lock == .locked)
        #expect(try !state().fingerOpens)
        expectRefusal(.biometryLockedOut) { _ = try scene.door().unlockByFinger() }
        // The passcode brings it back.
        try scene.unlock()
        try scene.door().lock()
        #expect(try state().fingerOpens)
    }

    @Test func twoDaysAfterThePasscodeAFingerOpensNothing() throws {
        try choose()
        try scene.door().lock()
        scene.clock.advance(by: BiometryTrust.life - .seconds(30))
        let waiter = try Waiter(scene)
        try touch("right")
        #expect(try waiter.outcome() == nil)
        // A finger gives no time of its own.
        try scene.door().lock()
        #expect(try state().fingerOpens)
        let late = try Waiter(scene)
        #expect(try bus.tell("await-finger") == "needed")
        scene.clock.advance(by: .seconds(30))
        expectRefusal(.biometryLockedOut) { _ = try late.outcome() }
        #expect(try !state().fingerOpens)
        #expect(try bus.tell("await-no-finger") == "not needed")
    }

    @Test func whoTakesItBackTakesWhatWasKept() throws {
        try choose()
        try scene.door().lock()
        _ = try scene.door().removeSlot(SlotState.fingerprintName, passcode: Self.passcode, code: nil)
        #expect(try state().lock == .locked)
        _ = try scene.door().addFingerSlot(passcode: Self.passcode)
        expectRefusal(.biometryLockedOut) { _ = try scene.door().unlockByFinger() }
    }

    @Test func noFingerWithinAMinuteIsTold() throws {
        try choose()
        try scene.door().lock()
        let waiter = try Waiter(scene)
        #expect(try bus.tell("await-finger") == "needed")
        scene.clock.advance(by: PersonProtocol.fingerWait)
        expectRefusal(.promptTimedOut) { _ = try waiter.outcome() }
        #expect(try bus.tell("await-no-finger") == "not needed")
        #expect(try state().fingerOpens)
    }

    @Test func whoGoesFreesTheReader() throws {
        try choose()
        try scene.door().lock()
        let channel = try MessageChannel(
            try PacketSocket.connectNow(
                to: PersonProtocol.socketName,
                in: try PrivateDirectory(scene.server.home.runDirectory, creating: false).descriptor))
        let request = Latchkey_PersonRequest.with {
            $0.number = 1
            $0.operation = .unlockByFinger
        }
        try channel.send(MessageCoding.encode(request), until: MessageChannel.soon)
        #expect(try bus.tell("await-finger") == "needed")
        channel.socket.shutDown()
        #expect(try bus.tell("await-no-finger") == "not needed")
    }

    @Test func anFprintdThatDiesLeavesThePasscode() throws {
        try bus.tell("play-reader dies")
        _ = try scene.door().addFingerSlot(passcode: Self.passcode)
        try scene.door().lock()
        let waiter = try Waiter(scene)
        #expect(try bus.line() == "started")
        try bus.tell("leave net.reactivated.Fprint")
        expectRefusal(.biometryNotAvailable) { _ = try waiter.outcome() }
        try scene.unlock()
        #expect(try state().lock == .unlocked)
    }
}

/// What is in the enclave for a finger, and when it goes.
@Suite struct KeptBagTests {
    private static let passcode = SharedSecret.text("1234")

    private static func core(reader: PlayedReader? = PlayedReader()) throws -> EnclaveCore {
        let cost = try #require(PasscodeCost.fixed(passes: 1, kibibytes: 8))
        return try EnclaveCore.ephemeral(cost: cost, biometry: reader)
    }

    private static func perform(
        _ request: PersonRequest, _ core: inout EnclaveCore, at moment: Duration = .zero
    ) throws {
        let derived = try core.derivation(for: request, at: moment).derive()
        _ = try core.perform(request, with: derived, at: moment)
    }

    /// Locked, with what a finger opens it with.
    private static func locked() throws -> EnclaveCore {
        var core = try core()
        try perform(.setPasscode(passcode), &core)
        try perform(.slot(.add(.fingerprint, passcode: passcode)), &core)
        try perform(.slot(.add(.login(.text("login words")), passcode: passcode)), &core)
        #expect(core.keptUntil == nil)
        try perform(.lock, &core)
        #expect(core.keptUntil != nil && core.keybag.lock == .locked)
        return core
    }

    /// The other side: with no finger chosen a lock leaves nothing.
    @Test func aLockLeavesNothingWhereNobodyChoseAFinger() throws {
        var core = try Self.core()
        try Self.perform(.setPasscode(Self.passcode), &core)
        try Self.perform(.lock, &core)
        #expect(core.keptUntil == nil)
    }

    @Test func withoutReaderOrFingerItCannotBeChosen() throws {
        let unknown = PlayedReader(BiometryState(kind: .fingerprint, isEnrolled: false, enrolment: []))
        let readers: [(PlayedReader?, Reason)] = [(nil, .biometryNotAvailable), (unknown, .biometryNotEnrolled)]
        for (reader, reason) in readers {
            var core = try Self.core(reader: reader)
            do {
                try Self.perform(.slot(.add(.fingerprint, passcode: Self.passcode)), &core)
                Issue.record("chosen without a passcode")
            } catch let error as KeychainError { #expect(error.reason == .passcodeNotSet) }
            try Self.perform(.setPasscode(Self.passcode), &core)
            do {
                try Self.perform(.slot(.add(.fingerprint, passcode: Self.passcode)), &core)
                Issue.record("chosen without a finger")
            } catch let error as KeychainError { #expect(error.reason == reason) }
        }
    }

    @Test func whatOpensOrChangesTheKeybagLeavesNothingKept() throws {
        let passcode = Self.passcode
        let requests: [PersonRequest] = [
            .unlock(.passcode(passcode)), .unlockByLogin(.text("login words")),
            .changePasscode(from: passcode, to: .text("another")), .removePasscode(.passcode(passcode)),
            .changeLogin(from: .text("login words"), to: .text("other words")),
            .slot(.add(.credential, passcode: passcode)), .slot(.add(.login(.text("words")), passcode: passcode)),
            .slot(.removeFingerprint(passcode: passcode)),
        ]
        for request in requests {
            var core = try Self.locked()
            try Self.perform(request, &core)
            #expect(core.keptUntil == nil, "\(request)")
        }
        // What changes no key leaves it.
        var core = try Self.locked()
        try Self.perform(.setLockPolicy(.never, passcode: passcode), &core)
        #expect(core.keptUntil != nil)
        // A lock of what is locked as well.
        try Self.perform(.lock, &core)
        #expect(core.keptUntil != nil)
        core.forgetFirstUnlock()
        #expect(core.keptUntil == nil)
    }

    @Test func aRecoveryCodeThatResetsThePasscodeLeavesNothingKept() throws {
        var core = try Self.core()
        try Self.perform(.setPasscode(Self.passcode), &core)
        let request = PersonRequest.makeRecoveryCode(passcode: Self.passcode)
        let made = try core.perform(
            request, with: try core.derivation(for: request, at: .zero).derive(), at: .zero)
        guard case .code(let code) = made else {
            Issue.record("no code was made")
            return
        }
        try Self.perform(.confirmRecoveryCode(code), &core)
        try Self.perform(.slot(.add(.fingerprint, passcode: Self.passcode)), &core)
        try Self.perform(.lock, &core)
        #expect(core.keptUntil != nil)
        try Self.perform(.resetPasscode(code: code, to: .text("another")), &core)
        #expect(core.keptUntil == nil && core.keybag.body.fingerUnlocks)
    }

    @Test func whatNoPersonOpenedIsNotKept() throws {
        var core = try Self.core()
        try Self.perform(.setPasscode(Self.passcode), &core)
        try Self.perform(.slot(.add(.fingerprint, passcode: Self.passcode)), &core)
        let add = PersonRequest.slot(.add(.credential, passcode: Self.passcode))
        let made = try core.perform(add, with: try core.derivation(for: add, at: .zero).derive(), at: .zero)
        guard case .code(let credential) = made else {
            Issue.record("no credential was made")
            return
        }
        core.forgetFirstUnlock()
        try Self.perform(.unlockBySlot(credential), &core)
        // The passcode is typed, for something that opens nothing.
        try Self.perform(.setLockPolicy(.never, passcode: Self.passcode), &core)
        #expect(core.trust.isGiven(at: .zero))
        try Self.perform(.lock, &core)
        #expect(core.keptUntil == nil)
    }

    @Test func itGoesWithTheTrust() throws {
        var core = try Self.locked()
        #expect(core.keptUntil == BiometryTrust.life)
        for _ in 1...4 { core.missFinger(at: .zero) }
        #expect(core.keptUntil != nil)
        core.missFinger(at: .zero)
        #expect(core.keptUntil == nil)
        // A lock of what was opened longer ago than that keeps nothing.
        core = try Self.locked()
        try Self.perform(.unlock(.passcode(Self.passcode)), &core)
        try Self.perform(.lock, &core, at: BiometryTrust.life)
        #expect(core.keptUntil == nil)
    }

    @Test func whatIsKeptPastItsTimeOpensNothing() throws {
        var core = try Self.locked()
        do {
            try core.unlockByFinger(at: BiometryTrust.life)
            Issue.record("it opened")
        } catch { #expect(error.reason == .biometryLockedOut) }
        #expect(core.keybag.lock == .locked)
        try core.unlockByFinger(at: BiometryTrust.life - .seconds(1))
        #expect(core.keybag.lock == .unlocked && core.keptUntil == nil)
    }

    @Test func itOpensNoKeybagButItsOwn() throws {
        var one = try Self.locked()
        var other = try Self.locked()
        swap(&one.kept, &other.kept)
        #expect(throws: KeychainError.self) { try one.unlockByFinger(at: .zero) }
        #expect(one.keybag.lock == .locked && one.keptUntil == nil)
        // The other one's, which is whole, opened nothing here.
        #expect(other.keptUntil != nil)
    }
}
