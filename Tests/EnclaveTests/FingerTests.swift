import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// A finger on a real fprintd's virtual reader agrees to what an enclave asks.
@Suite(TestBus.isThere) struct FingerTests {
    private let bus: PrivateBus
    private let scene: HonestScene

    init() throws {
        bus = try PrivateBus()
        scene = try HonestScene(bus: TestBus(bus))
    }

    private func enroll() throws { try #require(try bus.tell("enroll right") == "enroll-completed") }

    /// A finger is put on the reader once that looks.
    private func touch(_ finger: String) throws {
        #expect(try bus.tell("await-finger") == "needed")
        try bus.tell("reader SCAN \(finger)")
    }

    /// A prompt that shows a question, and hears of it.
    private struct Prompt {
        let door: RemotePersonDoor
        let watch: RemotePersonDoor
        let finger: PersonQuestion.Finger?

        init(_ scene: HonestScene, _ name: [UInt8]) throws {
            door = try scene.door(name)
            finger = try door.question()?.finger
            watch = try scene.door(name)
            try watch.awaitNews(after: 0)
        }
    }

    private func ask(_ subject: AuthenticationCase.Subject, in session: AuthenticationSessionID) throws -> [UInt8] {
        try #require(try scene.ask(subject, in: session))
    }

    private func key(_ flags: AccessControlFlags) throws -> MadeKey {
        try MadeKey(
            in: scene.daemon, .row(accessControl: HonestScene.encoding(flags), shown: HonestScene.shown))
    }

    private func rows(_ keys: [MadeKey]) -> AuthenticationCase.Subject {
        .rows(keys.map { ($0.binding, $0.wrapped) }, operation: "od")
    }

    // MARK: What there is

    @Test func itIsSeenThatAFingerWasEnrolled() throws {
        #expect(
            try scene.daemon.means()
                == AuthenticationMeans(
                    hasPasscode: true, biometry: BiometryState(kind: .fingerprint, isEnrolled: false, enrolment: [])))
        try enroll()
        // What was seen is good for five seconds.
        #expect(try scene.daemon.means().biometry?.isEnrolled == false)
        scene.clock.advance(by: .seconds(5))
        #expect(try scene.daemon.means().biometry?.isEnrolled == true)
    }

    @Test func withoutAFingerNothingIsAsked() throws {
        let session = try scene.daemon.openSession()
        expectRefusal(.biometryNotEnrolled) { _ = try scene.ask(.policy(.biometry), in: session) }
    }

    // MARK: A finger agrees

    @Test func aFingerAgreesToAPolicyOfBiometryAlone() throws {
        try enroll()
        let session = try scene.daemon.openSession()
        let name = try ask(.policy(.biometry), in: session)
        let prompt = try Prompt(scene, name)
        #expect(prompt.finger == .alone)
        try touch("right")
        #expect(try prompt.watch.news().event == .over(isAgreed: true))
        #expect(try scene.daemon.outcome(of: name) == .agreed)
        #expect(try scene.daemon.isMet(.policy(.biometry), in: session))
    }

    @Test(arguments: [AccessControlFlags.biometryAny, .userPresence, [.devicePasscode, .or, .biometryAny]])
    func aFingerOpensWhatItMayOpen(_ flags: AccessControlFlags) throws {
        try enroll()
        let key = try key(flags)
        let session = try scene.daemon.openSession()
        #expect(try scene.fate(key, in: session) == .needsAuthentication)
        let name = try ask(rows([key]), in: session)
        let prompt = try Prompt(scene, name)
        #expect(prompt.finger == (flags == .biometryAny ? .alone : .orPasscode))
        try touch("right")
        #expect(try prompt.watch.news().event == .over(isAgreed: true))
        #expect(try scene.daemon.openRowKeys([(key.binding, key.wrapped)], in: session).map(\.secret) == [key.secret])
        // In no other context.
        #expect(try scene.fate(key, in: try scene.daemon.openSession()) == .needsAuthentication)
    }

    @Test func aFingerIsNoPasscode() throws {
        try enroll()
        let key = try key(.devicePasscode)
        let prompt = try Prompt(scene, try ask(rows([key]), in: try scene.daemon.openSession()))
        #expect(prompt.finger == PersonQuestion.Finger.none)
    }

    @Test func whereBothAreAskedForOneIsNotEnough() throws {
        try enroll()
        let key = try key([.devicePasscode, .and, .biometryAny])
        let session = try scene.daemon.openSession()
        let name = try ask(rows([key]), in: session)
        let prompt = try Prompt(scene, name)
        #expect(prompt.finger == .andPasscode)
        try prompt.door.agree(with: .passcode(.text(HonestScene.passcode)))
        #expect(try scene.daemon.outcome(of: name) == nil)
        #expect(try scene.fate(key, in: session) == .needsAuthentication)
        #expect(try prompt.door.question()?.finger == .alone)
        try touch("right")
        #expect(try prompt.watch.news().event == .over(isAgreed: true))
        #expect(try scene.daemon.openRowKeys([(key.binding, key.wrapped)], in: session).map(\.secret) == [key.secret])
    }

    @Test func thePasscodeIsStillTaken() throws {
        try enroll()
        let name = try ask(.policy(.deviceOwner), in: try scene.daemon.openSession())
        let prompt = try Prompt(scene, name)
        #expect(try bus.tell("await-finger") == "needed")
        try prompt.door.agree(with: .passcode(.text(HonestScene.passcode)))
        #expect(try prompt.watch.news().event == .over(isAgreed: true))
        // The reader is free for the next.
        #expect(try bus.tell("await-no-finger") == "not needed")
        let other = try ask(.policy(.biometry), in: try scene.daemon.openSession())
        let next = try Prompt(scene, other)
        try touch("right")
        #expect(try next.watch.news().event == .over(isAgreed: true))
    }

    /// What comes later waits: the finger is meant for what the person is shown.
    @Test func theReaderStaysWithTheFirstQuestion() throws {
        try enroll()
        let first = try ask(.policy(.biometry), in: try scene.daemon.openSession())
        let shown = try Prompt(scene, first)
        #expect(try bus.tell("await-finger") == "needed")
        let second = try ask(.policy(.biometry), in: try scene.daemon.openSession())
        let later = try Prompt(scene, second)
        try touch("right")
        #expect(try shown.watch.news().event == .over(isAgreed: true))
        #expect(try scene.daemon.outcome(of: second) == nil)
        #expect(try bus.tell("await-finger") == "needed")
        try touch("right")
        #expect(try later.watch.news().event == .over(isAgreed: true))
    }

    /// A prompt of which nothing is heard while a person types stays.
    @Test func whoTypesSlowlyIsWaitedFor() throws {
        let name = try ask(.policy(.deviceOwner), in: try scene.daemon.openSession())
        let prompt = try Prompt(scene, name)
        #expect(prompt.finger == PersonQuestion.Finger.none)
        scene.clock.advance(by: EnclaveServer.Limits().firstMessage + .seconds(10))
        _ = try scene.daemon.means()
        try prompt.door.agree(with: .passcode(.text(HonestScene.passcode)))
        #expect(try prompt.watch.news().event == .over(isAgreed: true))
    }

    // MARK: A finger does not agree

    /// fprintd tells everybody of everybody's fingers.
    @Test func aFingerForAnotherProgramAgreesToNothing() throws {
        try bus.tell("play-reader another")
        let name = try ask(.policy(.biometry), in: try scene.daemon.openSession())
        let prompt = try Prompt(scene, name)
        #expect(try bus.line() == "started")
        try bus.tell("status verify-no-match going")
        #expect(try prompt.watch.news() == QuestionNews(number: 1, .notRecognized))
        #expect(try scene.daemon.outcome(of: name) == nil)
    }

    @Test func whatANewerFprintdSaysOfAFingerIsToBeDoneAgain() throws {
        try bus.tell("play-reader none")
        let name = try ask(.policy(.biometry), in: try scene.daemon.openSession())
        let prompt = try Prompt(scene, name)
        #expect(try bus.line() == "started")
        try bus.tell("status verify-too-fast going")
        #expect(try prompt.watch.news() == QuestionNews(number: 1, .unreadable))
        try prompt.watch.awaitNews(after: 1)
        try bus.tell("status verify-unknown-error done")
        #expect(try prompt.watch.news().event == .over(isAgreed: false))
        #expect(try scene.daemon.outcome(of: name) == .refused(.biometryNotAvailable))
        // It is there for the next question.
        scene.clock.advance(by: ReaderView.life)
        #expect(try scene.daemon.means().biometry?.isEnrolled == true)
    }

    @Test func fiveWrongFingersLockBiometryOutUntilThePasscode() throws {
        try enroll()
        let session = try scene.daemon.openSession()
        let name = try ask(.policy(.biometry), in: session)
        let prompt = try Prompt(scene, name)
        for number in 1...4 {
            try touch("wrong")
            let news = try prompt.watch.news()
            #expect(news == QuestionNews(number: UInt64(number), .notRecognized))
            try prompt.watch.awaitNews(after: news.number)
        }
        try touch("wrong")
        #expect(try prompt.watch.news().event == .over(isAgreed: false))
        #expect(try scene.daemon.outcome(of: name) == .refused(.biometryLockedOut))
        #expect(try scene.daemon.means().biometry?.isLockedOut == true)
        expectRefusal(.biometryLockedOut) { _ = try scene.ask(.policy(.biometry), in: session) }
        // For whoever may use the passcode instead there is no finger.
        let owner = try ask(.policy(.deviceOwner), in: session)
        let typing = try Prompt(scene, owner)
        #expect(typing.finger == PersonQuestion.Finger.none)
        try typing.door.agree(with: .passcode(.text(HonestScene.passcode)))
        #expect(try scene.daemon.means().biometry?.isLockedOut == false)
    }

    @Test func theRightFingerBetweenWrongOnesBeginsTheCountAnew() throws {
        try enroll()
        for _ in 0..<2 {
            let prompt = try Prompt(scene, try ask(.policy(.biometry), in: try scene.daemon.openSession()))
            var known: UInt64 = 0
            for _ in 0..<3 {
                try touch("wrong")
                known = try prompt.watch.news().number
                try prompt.watch.awaitNews(after: known)
            }
            try touch("right")
            #expect(try prompt.watch.news().event == .over(isAgreed: true))
        }
    }

    @Test func twoDaysAfterThePasscodeNoFingerCounts() throws {
        try enroll()
        scene.clock.advance(by: BiometryTrust.life - .seconds(1))
        #expect(try scene.daemon.means().biometry?.isLockedOut == false)
        scene.clock.advance(by: .seconds(1))
        #expect(try scene.daemon.means().biometry?.isLockedOut == true)
        try scene.unlock()
        #expect(try scene.daemon.means().biometry?.isLockedOut == false)
    }

    @Test func whileLockedNoFingerIsAskedFor() throws {
        try enroll()
        try scene.door().lock()
        expectRefusal(.locked(class: ProtectionClass.whenUnlocked.rawValue)) {
            _ = try scene.ask(.policy(.biometry), in: try scene.daemon.openSession())
        }
    }

    @Test func aLockWhileAFingerIsAwaitedEndsTheQuestion() throws {
        try enroll()
        let name = try ask(.policy(.biometry), in: try scene.daemon.openSession())
        let prompt = try Prompt(scene, name)
        #expect(try bus.tell("await-finger") == "needed")
        try scene.door().lock()
        #expect(try prompt.watch.news().event == .over(isAgreed: false))
        #expect(try scene.daemon.outcome(of: name) == .refused(.userCanceled))
    }

    @Test func aPromptThatGoesFreesTheReader() throws {
        try enroll()
        let name = try ask(.policy(.biometry), in: try scene.daemon.openSession())
        var prompt: Prompt? = try Prompt(scene, name)
        #expect(try bus.tell("await-finger") == "needed")
        withExtendedLifetime(prompt) {}
        prompt = nil
        #expect(try bus.tell("await-no-finger") == "not needed")
    }

    @Test func theCurrentSetIsNotTold() throws {
        try enroll()
        let means = try scene.daemon.means()
        let access = try #require(AccessControl(protection: "ak", flags: .biometryCurrentSet))
        let bound = access.bound(to: try #require(means.biometry).enrolment)
        let asked = bound.constraints.values.filter { $0 != .allowed }
        #expect(!asked.isEmpty)
        for constraint in asked { #expect(means.obstacle(to: constraint) == .authenticationFailed) }
        // An empty set is no set that could be the one of the store.
        #expect(!AccessConstraint.enrolledBiometry([]).isMet(by: ProvedFactors(biometry: [])))
    }

    // MARK: What fails

    @Test func anFprintdThatDiesLeavesThePasscode() throws {
        try bus.tell("play-reader dies")
        let name = try ask(.policy(.deviceOwner), in: try scene.daemon.openSession())
        let prompt = try Prompt(scene, name)
        #expect(prompt.finger == .orPasscode)
        #expect(try bus.line() == "started")
        try bus.tell("leave net.reactivated.Fprint")
        try prompt.door.agree(with: .passcode(.text(HonestScene.passcode)))
        #expect(try scene.daemon.outcome(of: name) == .agreed)
    }

    @Test func anFprintdThatDiesEndsAQuestionForAFingerAlone() throws {
        try bus.tell("play-reader dies")
        let name = try ask(.policy(.biometry), in: try scene.daemon.openSession())
        let prompt = try Prompt(scene, name)
        #expect(try bus.line() == "started")
        try bus.tell("leave net.reactivated.Fprint")
        #expect(try prompt.watch.news().event == .over(isAgreed: false))
        #expect(try scene.daemon.outcome(of: name) == .refused(.biometryNotAvailable))
    }
}

/// Where there is nobody to ask about a reader.
@Suite struct ReaderlessTests {
    @Test func withoutABusThereIsNoReader() throws {
        let scene = try HonestScene(bus: TestBus(place: "/nowhere/bus"))
        #expect(try scene.daemon.means() == AuthenticationMeans(hasPasscode: true))
        let session = try scene.daemon.openSession()
        expectRefusal(.biometryNotAvailable) { _ = try scene.ask(.policy(.biometry), in: session) }
        // And the passcode is asked for.
        #expect(try scene.ask(.policy(.deviceOwner), in: session) != nil)
    }

    /// Nobody on the other end says anything.
    @Test func aBusThatHangsKeepsNobodyForLongerThanTheLook() throws {
        let silent = try SilentBus()
        let scene = try HonestScene(bus: silent)
        let (daemon, clock, heard) = (scene.daemon, scene.clock, try EventSignal())
        func look() {
            Waiting.meanwhile {
                do { #expect(try daemon.means() == AuthenticationMeans(hasPasscode: true)) } catch {
                    Issue.record("\(error)")
                }
                heard.signal()
            }
        }
        look()
        #expect(try waitForAny(of: [silent.opened.descriptor], until: MessageChannel.soon) == 0)
        // Others are answered meanwhile.
        let other = try scene.server.connect()
        #expect(try MadeKey(in: other).opens(in: other))
        clock.advance(by: EnclaveServer.Limits().readerLook)
        #expect(try waitForAny(of: [heard.descriptor], until: MessageChannel.soon) == 0)
        heard.drain()
        // Nor whoever comes while the same look still goes on.
        clock.advance(by: ReaderView.life)
        look()
        while try waitForAny(of: [heard.descriptor], until: Deadline(after: .milliseconds(20), on: SystemClock()))
            == nil
        {
            clock.advance(by: EnclaveServer.Limits().readerLook)
            try #require(clock.monotonic < .seconds(3600))
        }
    }
}

/// Takes every request and answers none.
private final class SilentBus: SystemBusDoor {
    let opened: EventSignal
    private let kept: PacketSocket
    private let given: PacketSocket

    init() throws {
        opened = try EventSignal()
        (kept, given) = try PacketSocket.pair()
    }

    func open() throws(SystemCallError) -> PacketSocket {
        opened.signal()
        return given
    }
}
