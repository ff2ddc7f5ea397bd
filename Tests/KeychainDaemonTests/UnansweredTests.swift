import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Testing

@testable import KeychainClient

/// What is said of a call that the daemon did not answer.
@Suite struct UnansweredTests {
    /// A daemon that was killed was not too slow, and one that is too slow has ended nothing.
    @Test func whyNoAnswerCameIsSaidOnce() {
        let ended = DaemonConnection.fault(.closed, mayHaveHappened: true)
        let late = DaemonConnection.fault(.timedOut, mayHaveHappened: true)
        for error in [ended, late] {
            #expect(error.reason == .noAnswer(mayHaveHappened: true))
            #expect(error.reason.explanation.contains("no answer came"))
            #expect(!error.reason.explanation.contains("in time"))
        }
        #expect(ended.underlying == "the daemon ended the connection")
        #expect(late.underlying == "the daemon did not answer in time")
    }
}
