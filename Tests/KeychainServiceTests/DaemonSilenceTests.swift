import KeychainModel
import SecretService
import Testing

/// Who is let through to a daemon that gives no answer.
@Suite struct DaemonSilenceTests {
    private let noAnswer = KeychainError(.notAvailable, reason: .noAnswer(mayHaveHappened: false))
    private let patience = Duration.seconds(5)

    @Test func whoComesBehindOneThatWaitedInVainIsNotLetThrough() {
        var silence = DaemonSilence()
        #expect(silence.admits(at: .zero))
        silence.failed(noAnswer, from: .zero, to: patience)
        #expect(!silence.admits(at: patience) && !silence.admits(at: patience + .milliseconds(999)))
        // One finds out, and with it all the others.
        let later = patience + DaemonSilence.pause
        #expect(silence.admits(at: later))
        silence.failed(noAnswer, from: later, to: later + patience)
        #expect(!silence.admits(at: later + patience))
        silence.answered()
        #expect(silence.admits(at: later + patience))
    }

    /// A daemon that has ended answers nothing either; the next call starts another.
    @Test func whoDidNotWaitKeepsNobodyElseFromTrying() {
        var silence = DaemonSilence()
        let lost = KeychainError(.notAvailable, reason: .noAnswer(mayHaveHappened: true))
        silence.failed(lost, from: .zero, to: DaemonSilence.shortestWait - .milliseconds(1))
        #expect(silence.admits(at: .zero))
        silence.failed(KeychainError(.notAvailable, reason: .busy), from: .zero, to: patience)
        #expect(silence.admits(at: patience))
    }
}
