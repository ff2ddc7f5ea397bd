import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainTestSupport
import PersonPrompt
import Testing

@Suite struct ConversationTests {
    private let clock = ManualClock()
    private let question = PersonQuestion(
        purpose: .useItem, items: [ShownItem(label: "mail", group: "g")], itemCount: 1, itemsAreBound: true,
        program: "/usr/bin/git",
        programStrength: .user, programProcess: 1, secondsLeft: 30)

    private func hold(_ door: FakeDoor, _ fakes: [FakePinentry]) throws -> ConversationOutcome {
        try PersonConversation(with: door, on: clock).hold(on: fakes.map { $0.screen() })
    }

    @Test func rightPasscodeAgrees() throws {
        let (door, fake) = (FakeDoor(question), try FakePinentry(getPin: "echo D right; echo OK"))
        #expect(try hold(door, [fake]) == .agreed)
        #expect(door.record.agreed && door.record.attempts == [Array("right".utf8)] && door.record.declined.isEmpty)
        #expect(fake.heard.contains { $0.hasPrefix("SETDESC A program wants to use an item") && $0.contains("mail") })
        #expect(fake.isGone)
    }

    @Test func wrongPasscodeIsSaidAndAskedForAgain() throws {
        let door = FakeDoor(question)
        let fake = try FakePinentry(
            getPin: "if [ \"$again\" ]; then echo D right; else echo D wrong; again=1; fi; echo OK")
        #expect(try hold(door, [fake]) == .agreed)
        #expect(door.record.attempts == [Array("wrong".utf8), Array("right".utf8)])
        #expect(fake.heard.filter { $0.hasPrefix("SETERROR") } == ["SETERROR That is not the passcode. Try again."])
    }

    @Test func threeTriesAreAll() throws {
        let (door, fake) = (FakeDoor(question), try FakePinentry(getPin: "echo D wrong; echo OK"))
        #expect(try hold(door, [fake]) == .declined(.authenticationFailed))
        #expect(door.record.attempts.count == 3 && door.record.declined == [.authenticationFailed])
        #expect(fake.heard.last == "GETPIN" && fake.heard.contains("SETERROR That is not the passcode. One more try."))
    }

    @Test func emptyAnswerIsNoAttempt() throws {
        let (door, fake) = (FakeDoor(question), try FakePinentry(getPin: "echo OK"))
        #expect(try hold(door, [fake]) == .declined(.authenticationFailed))
        #expect(door.record.attempts.isEmpty)
    }

    @Test func delayIsToldAndEnds() throws {
        let refusal = KeychainError(.authFailed, reason: .attemptsDelayed(seconds: 300))
        let door = FakeDoor(question, refusals: [refusal])
        let fake = try FakePinentry(getPin: "echo D right; echo OK")
        #expect(try hold(door, [fake]) == .declined(.attemptsDelayed(seconds: 300)))
        #expect(door.record.attempts.count == 1 && door.record.declined == [.attemptsDelayed(seconds: 300)])
        #expect(fake.heard.suffix(2).first?.contains("The next is taken in 5 minutes.") == true)
        #expect(fake.heard.last == "MESSAGE")
    }

    @Test func nobodyTypesWhileAttemptsAreDelayed() throws {
        let (door, fake) = (FakeDoor(question, delay: 60), try FakePinentry(getPin: "echo D right; echo OK"))
        #expect(try hold(door, [fake]) == .declined(.attemptsDelayed(seconds: 60)))
        #expect(door.record.attempts.isEmpty && !fake.heard.contains("GETPIN"))
    }

    @Test(arguments: [("echo ERR 83886179 c", Reason.userCanceled), ("echo ERR 83886142 t", .promptTimedOut)])
    func endOfThePromptIsTheEnd(_ script: String, _ expected: Reason) throws {
        let (door, fake) = (FakeDoor(question), try FakePinentry(getPin: script))
        #expect(try hold(door, [fake, fake]) == .declined(expected))
        #expect(door.record.declined == [expected] && fake.heard.filter { $0 == "GETPIN" }.count == 1)
    }

    @Test func timeOfTheQuestionIsThatOfThePrompt() throws {
        let (door, fake) = (FakeDoor(question), try FakePinentry(getPin: "sleep 1000 & wait"))
        clock.advanceLater(by: .seconds(31))
        #expect(try hold(door, [fake]) == .declined(.promptTimedOut))
        #expect(fake.isGone)
    }

    @Test func brokenProgramLeavesItToTheNext() throws {
        let (broken, whole) = (try FakePinentry(getPin: "exit 3"), try FakePinentry(getPin: "echo D right; echo OK"))
        let door = FakeDoor(question)
        #expect(try hold(door, [broken, whole]) == .agreed)
    }

    @Test func whereAllFailNobodyIsAskedAndItIsSaidWhy() throws {
        let (door, fake) = (FakeDoor(question), try FakePinentry(getPin: "exit 3"))
        let reason = Reason.nobodyToAsk(why: "\(fake.path): it ended without an answer")
        #expect(try hold(door, [fake]) == .declined(reason))
        #expect(door.record.declined == [reason])
    }

    @Test func doorWithoutAQuestionIsLeftAlone() throws {
        let (door, fake) = (FakeDoor(nil), try FakePinentry(getPin: "echo OK"))
        #expect(try hold(door, [fake]) == .nothingAsked)
        #expect(fake.heard.isEmpty && door.record.declined.isEmpty)
    }

    @Test func faultOfTheDoorIsThrown() throws {
        let fault = KeychainError(.notAvailable, reason: .enclaveUnreachable)
        let (door, fake) = (FakeDoor(question, refusals: [fault]), try FakePinentry(getPin: "echo D right; echo OK"))
        #expect(throws: fault) { _ = try hold(door, [fake]) }
        #expect(fake.isGone)
    }
}
