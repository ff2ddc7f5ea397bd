package import KeychainModel

/// Whether the daemon answers. Calls that came while one waited in vain fail at once, so
/// that many clients together wait no longer than one; then another call finds out.
package struct DaemonSilence: Sendable {
    /// For how long nobody asks after a call that got no answer.
    package static let pause = Duration.seconds(1)
    /// Who waited for less heard that the daemon has gone, and another can be started; a
    /// silent one is waited for for five seconds.
    package static let shortestWait = Duration.seconds(4)

    private var until: Duration?

    package init() {}

    package func admits(at now: Duration) -> Bool { until.map { now >= $0 } ?? true }

    package mutating func answered() { until = nil }

    package mutating func failed(_ error: KeychainError, from begun: Duration, to end: Duration) {
        let isSilent = if case .noAnswer = error.reason { end - begun >= Self.shortestWait } else { false }
        until = isSilent ? end + Self.pause : nil
    }

    /// What a call hears that was not let through.
    package static let failure = KeychainError(
        .notAvailable, reason: .noAnswer(mayHaveHappened: false), underlying: "it gave no answer to the call before")
}
