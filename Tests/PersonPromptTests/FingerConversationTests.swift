import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import PersonPrompt
import Synchronization
import Testing

/// A prompt whose question a finger may answer.
@Suite struct FingerConversationTests {
    private let clock = ManualClock()

    private func question(_ finger: PersonQuestion.Finger) -> PersonQuestion {
        var question = PersonQuestion(purpose: .agree, program: "/usr/bin/git", programProcess: 1, secondsLeft: 30)
        question.finger = finger
        return question
    }

    private func hold(
        _ door: FakeDoor, _ fake: FakePinentry, _ watch: FakeWatch
    ) throws -> ConversationOutcome {
        let screen = fake.screen(calledOffBy: [watch.descriptor])
        return try PersonConversation(with: door, watch: watch, on: clock).hold(on: [screen])
    }

    /// Whether the command was heard so many times.
    private func heard(_ command: String, by fake: FakePinentry) -> @Sendable (Int) -> Bool {
        let path = fake.folder.path("heard")
        return { times in
            let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return text.split(separator: "\n").count { $0 == command } >= times
        }
    }

    @Test func aFingerThatIsFasterTakesThePromptAway() throws {
        let door = FakeDoor(question(.orPasscode))
        let fake = try FakePinentry(getPin: "sleep 1000 & wait")
        let watch = try FakeWatch([QuestionNews(number: 1, .over(isAgreed: true))], once: heard("GETPIN", by: fake))
        #expect(try hold(door, fake, watch) == .agreed)
        #expect(door.record.attempts.isEmpty && door.record.declined.isEmpty && fake.isGone)
    }

    @Test func thePasscodeMayBeFaster() throws {
        let door = FakeDoor(question(.orPasscode))
        let fake = try FakePinentry(getPin: "echo D right; echo OK")
        #expect(try hold(door, fake, try FakeWatch([])) == .agreed)
        #expect(door.record.agreed)
        let said = "Type the passcode, or touch the fingerprint reader."
        #expect(fake.heard.contains { $0.hasPrefix("SETDESC ") && $0.contains(said) })
    }

    @Test func whereTheFingerAloneCountsNothingIsTypedAndFailuresAreTold() throws {
        let door = FakeDoor(question(.alone))
        let fake = try FakePinentry(
            getPin: "echo D right; echo OK", other: "[ \"$line\" = MESSAGE ] && { sleep 1000 & wait; }; echo OK")
        let watch = try FakeWatch(
            [
                QuestionNews(number: 1, .notRecognized), QuestionNews(number: 2, .unreadable),
                QuestionNews(number: 3, .over(isAgreed: true)),
            ], once: heard("MESSAGE", by: fake))
        #expect(try hold(door, fake, watch) == .agreed)
        #expect(!fake.heard.contains("GETPIN") && door.record.declined.isEmpty)
        #expect(
            fake.heard.filter { $0.hasPrefix("SETERROR") } == [
                "SETERROR That finger was not recognized. Try again.",
                "SETERROR The finger could not be read. Try again.",
            ])
        #expect(fake.heard.contains("SETOK Cancel"))
        #expect(watch.known == [0, 1, 2])
    }

    @Test func whoDismissesWhatIsShownDeclines() throws {
        let door = FakeDoor(question(.alone))
        let fake = try FakePinentry(getPin: "echo OK")
        #expect(try hold(door, fake, try FakeWatch([])) == .declined(.userCanceled))
        #expect(door.record.declined == [.userCanceled])
    }

    @Test func aFingerThatNoLongerCountsEndsThePrompt() throws {
        let door = FakeDoor(question(.alone))
        let fake = try FakePinentry(
            getPin: "echo OK", other: "[ \"$line\" = MESSAGE ] && { sleep 1000 & wait; }; echo OK")
        let watch = try FakeWatch([QuestionNews(number: 5, .over(isAgreed: false))], once: heard("MESSAGE", by: fake))
        #expect(try hold(door, fake, watch) == .declined(.userCanceled))
        #expect(fake.isGone)
    }

    /// Its connection would be one that says nothing.
    @Test func whereNoFingerCountsTheQuestionIsFollowedToo() throws {
        let door = FakeDoor(question(.none))
        let fake = try FakePinentry(getPin: "echo D right; echo OK")
        let watch = try FakeWatch([])
        #expect(try hold(door, fake, watch) == .agreed)
        #expect(watch.known == [0])
    }

    /// While "too many wrong passcodes" is shown no finger agrees to what is not.
    @Test func whileAttemptsAreDelayedNoFingerIsWaitedFor() throws {
        let door = FakeDoor(question(.orPasscode), delay: 30)
        let screen = SilentScreen { door.record.declined == [.attemptsDelayed(seconds: 30)] }
        let outcome = try PersonConversation(with: door, watch: try FakeWatch([]), on: clock).hold(on: [screen])
        #expect(outcome == .declined(.attemptsDelayed(seconds: 30)))
        #expect(screen.wasTold.withLock { $0 } == true && door.record.declined.count == 1)
    }

    /// Agents of systemd take answers and show nothing.
    @Test func whereNothingCanBeShownNobodyIsAskedForAFinger() throws {
        let door = FakeDoor(question(.alone))
        let screen = SilentScreen()
        let outcome = try PersonConversation(with: door, watch: try FakeWatch([]), on: clock).hold(on: [screen])
        guard case .declined(.nobodyToAsk) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(!screen.wasAsked.withLock { $0 })
    }
}

/// Says each piece of news once it is waited for and something is shown for it.
private final class FakeWatch: QuestionWatch, Sendable {
    private let signal: EventSignal
    private let state: Mutex<(coming: [QuestionNews], known: [UInt64])>
    private let isShown: @Sendable (Int) -> Bool

    /// - Parameter isShown: for which time it is waited.
    init(_ news: [QuestionNews], once isShown: @escaping @Sendable (Int) -> Bool = { _ in true }) throws {
        self.isShown = isShown
        signal = try EventSignal()
        state = Mutex((news, []))
    }

    var descriptor: Descriptor { signal.descriptor }
    var known: [UInt64] { state.withLock { $0.known } }

    func awaitNews(after number: UInt64) throws(KeychainError) {
        let (comes, times) = state.withLock { state in
            state.known.append(number)
            return (!state.coming.isEmpty, state.known.count)
        }
        guard comes else { return }
        Waiting.meanwhile { [self] in
            _ = Waiting.eventually { isShown(times) }
            signal.signal()
        }
    }

    func news() throws(KeychainError) -> QuestionNews {
        signal.drain()
        return state.withLock { $0.coming.removeFirst() }
    }
}

private final class SilentScreen: PersonScreen, Sendable {
    let wasAsked = Mutex(false)
    /// What holds when something is told.
    let wasTold = Mutex<Bool?>(nil)
    private let holds: @Sendable () -> Bool

    init(whenTold holds: @escaping @Sendable () -> Bool = { true }) { self.holds = holds }

    var name: String { "a screen" }
    var repertoire: ForeignText.Repertoire { .ascii }
    var width: LineWidth { .columns(80) }
    var waitsForReader: Bool { false }

    func ask(_ form: PromptForm, until deadline: Deadline) throws(PromptFailure) -> SecretBytes {
        wasAsked.withLock { $0 = true }
        throw .canceled
    }

    func tell(_ form: PromptForm, until deadline: Deadline) throws(PromptFailure) {
        wasTold.withLock { $0 = holds() }
    }

    func close() {}
}
