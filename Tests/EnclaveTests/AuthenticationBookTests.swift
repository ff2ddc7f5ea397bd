import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Testing

@testable import Enclave

/// A value that an expectation may change.
private final class Held<Value> {
    var value: Value
    init(_ value: Value) { self.value = value }
}

extension Held<AuthenticationBook> {
    fileprivate func open(at now: Duration) -> AuthenticationSessionID? { value.open(at: now) }
    fileprivate func ask(_ question: PendingQuestion, at now: Duration) -> [UInt8]? { value.ask(question, at: now) }
    fileprivate func outcome(of name: [UInt8], at now: Duration) -> QuestionOutcome? {
        value.outcome(of: name, at: now)
    }

    fileprivate func meets(
        _ constraint: AccessConstraint, row: [UInt8], in session: AuthenticationSessionID?, at now: Duration
    ) -> Bool { value.meets(constraint, row: row, in: session, at: now) }
    fileprivate func meets(
        _ constraint: AccessConstraint, in scope: AgreementScope, of session: AuthenticationSessionID
    ) -> Bool { value.meets(constraint, in: scope, of: session, at: .zero) }
}

extension Held<AttemptCounter> {
    fileprivate func succeed() -> Bool { value.succeed() }
}

/// Contexts and questions, without a keybag.
@Suite struct AuthenticationBookTests {
    private static let row: [UInt8] = [1]
    private static let passcode = ProvedFactors(passcode: true)

    private func question(
        in session: AuthenticationSessionID, about scope: AgreementScope, until end: Duration = .seconds(60)
    ) -> PendingQuestion {
        PendingQuestion(
            session: session, shown: PersonQuestion(purpose: .agree), constraints: [.passcode], scope: scope,
            notAfter: end, outcome: nil)
    }

    @Test func anAgreementIsUsedUp() throws {
        let book = Held(AuthenticationBook())
        let session = try #require(book.open(at: .zero))
        let name = try #require(book.ask(question(in: session, about: .rows([Self.row])), at: .zero))
        #expect(!book.meets(.passcode, row: Self.row, in: session, at: .zero))
        book.value.agree(to: name, by: Self.passcode, at: .zero)
        for _ in 0..<AuthenticationBook.rowsUses {
            #expect(book.meets(.passcode, row: Self.row, in: session, at: .zero))
        }
        #expect(!book.meets(.passcode, row: Self.row, in: session, at: .zero))
    }

    @Test func whatIsAllowedNeedsNoSession() {
        let book = Held(AuthenticationBook())
        #expect(book.meets(.allowed, row: Self.row, in: nil, at: .zero))
        #expect(!book.meets(.passcode, row: Self.row, in: nil, at: .zero))
        #expect(!book.meets(.denied, row: Self.row, in: .random(), at: .zero))
    }

    @Test func whatWasProvedIsNoMoreThanThat() throws {
        let book = Held(AuthenticationBook())
        let session = try #require(book.open(at: .zero))
        let name = try #require(book.ask(question(in: session, about: .context), at: .zero))
        book.value.agree(to: name, by: ProvedFactors(biometry: [1]), at: .zero)
        #expect(book.meets(.deviceOwner, row: Self.row, in: session, at: .zero))
        #expect(!book.meets(.passcode, row: Self.row, in: session, at: .zero))
        #expect(!book.meets(.atLeast(2, of: [.passcode, .deviceOwner]), row: Self.row, in: session, at: .zero))
    }

    @Test func aQuestionIsAnsweredOnceAndToldOnce() throws {
        let book = Held(AuthenticationBook())
        let session = try #require(book.open(at: .zero))
        let name = try #require(book.ask(question(in: session, about: .context), at: .zero))
        #expect(book.value.nextDeadline(after: .seconds(59)) == .seconds(60))
        #expect(book.value.nextDeadline(after: .seconds(60)) == nil)
        #expect(book.outcome(of: name, at: .seconds(59)) == nil)
        book.value.decline(name, .userCanceled)
        book.value.decline(name, .promptTimedOut)
        book.value.agree(to: name, by: Self.passcode, at: .zero)
        #expect(book.value.nextDeadline(after: .zero) == nil)
        #expect(book.outcome(of: name, at: .zero) == .refused(.userCanceled))
        #expect(book.outcome(of: name, at: .zero) == .refused(.contextInvalid))
        #expect(!book.meets(.passcode, row: Self.row, in: session, at: .zero))
        let late = try #require(book.ask(question(in: session, about: .context), at: .zero))
        #expect(book.outcome(of: late, at: .seconds(60)) == .refused(.promptTimedOut))
    }

    @Test func whatIsHeardTooLateIsForgotten() throws {
        let book = Held(AuthenticationBook())
        let session = try #require(book.open(at: .zero))
        let old = try #require(book.ask(question(in: session, about: .context), at: .zero))
        let end = Duration.seconds(60) + AuthenticationBook.outcomeLife
        let next = try #require(book.ask(question(in: session, about: .context, until: end + end), at: end))
        #expect(book.value[question: old] == nil && book.value[question: next] != nil)
    }

    @Test func sessionsEndWithTheirTime() throws {
        let book = Held(AuthenticationBook())
        let session = try #require(book.open(at: .zero))
        #expect(book.value.isOpen(session, at: AuthenticationBook.sessionLife - .seconds(1)))
        #expect(!book.value.isOpen(session, at: AuthenticationBook.sessionLife))
        for _ in 1..<AuthenticationBook.mostSessions { _ = book.open(at: .zero) }
        #expect(book.open(at: .zero) == nil)
        #expect(book.open(at: AuthenticationBook.sessionLife) != nil)
    }

    @Test func anApplicationKeyGoesWithItsSession() throws {
        let book = Held(AuthenticationBook())
        let session = try #require(book.open(at: .zero))
        book.value.set(applicationKey: SharedSecret(.random(count: 32)), in: session)
        book.value.set(applicationKey: SharedSecret(.random(count: 32)), in: .random())
        book.value.forgetAgreements()
        #expect(book.value.applicationKey(in: session, at: .zero) != nil)
        #expect(book.value.applicationKey(in: nil, at: .zero) == nil)
        #expect(book.value.applicationKey(in: .random(), at: .zero) == nil)
        #expect(book.value.applicationKey(in: session, at: AuthenticationBook.sessionLife) == nil)
        book.value.close(session)
        #expect(book.value.applicationKey(in: session, at: .zero) == nil)
    }

    @Test func whatWasAgreedToForRowsIsNoneForTheContext() throws {
        let book = Held(AuthenticationBook())
        let session = try #require(book.open(at: .zero))
        let name = try #require(book.ask(question(in: session, about: .rows([Self.row])), at: .zero))
        book.value.agree(to: name, by: Self.passcode, at: .zero)
        #expect(book.meets(.passcode, in: .rows([Self.row]), of: session))
        #expect(!book.meets(.passcode, in: .rows([Self.row, [2]]), of: session))
        #expect(!book.meets(.passcode, in: .context, of: session))
        let whole = try #require(book.ask(question(in: session, about: .context), at: .zero))
        book.value.agree(to: whole, by: Self.passcode, at: .zero)
        #expect(book.meets(.passcode, in: .rows([Self.row, [2]]), of: session))
        #expect(book.meets(.passcode, in: .context, of: session))
    }
}

/// The count of failures alone, without a keybag.
@Suite struct AttemptCounterTests {
    /// Whether a failure with a secret counts.
    private func fails(_ counter: Held<AttemptCounter>, _ number: Int) -> Bool {
        counter.value.fail(with: SecretBytes(copying: Array("secret \(number)".utf8)), isLogin: false, at: .zero)
    }

    @Test func delaysGrowAndASuccessForgets() {
        let counter = Held(AttemptCounter(failed: 0, at: .zero))
        let waits = [0, 0, 0, 0, 60, 300, 900, 900, 3600, 3600]
        for (number, seconds) in waits.enumerated() {
            #expect(fails(counter, number))
            #expect(counter.value.failed == number + 1 && counter.value.secondsToNext(at: .zero) == seconds)
        }
        #expect(counter.value.secondsToNext(at: .milliseconds(3_599_001)) == 1)
        #expect(counter.value.secondsToNext(at: .seconds(3600)) == 0)
        #expect(counter.succeed() && counter.value.failed == 0 && counter.value.secondsToNext(at: .zero) == 0)
        #expect(!counter.succeed())
        // What failed before a success counts anew.
        #expect(fails(counter, 0))
    }

    @Test func theSameAgainDoesNotCount() {
        let counter = Held(AttemptCounter(failed: 0, at: .zero))
        #expect(fails(counter, 0))
        for _ in 0..<100 { #expect(!fails(counter, 0)) }
        for number in 1...16 { #expect(fails(counter, number)) }
        // Sixteen are remembered: the first is forgotten by now.
        #expect(fails(counter, 0) && counter.value.failed == 18)
    }

    @Test func aNewProcessBeginsWithTheWholeDelay() {
        let counter = Held(AttemptCounter(failed: 7, at: .seconds(1000)))
        #expect(counter.value.secondsToNext(at: .seconds(1000)) == 900)
        #expect(counter.value.secondsToNext(at: .seconds(1900)) == 0)
    }
}
