internal import KeychainModel

/// Whether the enclave answers, as its callers found. Once one of them has waited
/// in vain nobody else does: calls fail at once, but for one at a time, a second
/// after the last that failed, which finds out whether it is over.
struct EnclaveSilence {
    private enum State {
        case answering
        case silent(until: Duration)
        /// One call is finding out.
        case probed
    }

    /// For how long nobody asks after a call that got no answer.
    static let pause: Duration = .seconds(1)

    private var state = State.answering

    /// Whether a call may go ahead; ``ended(_:at:)`` has to follow where it may.
    ///
    /// - Parameter now: looked at only where the enclave was silent.
    mutating func admits(at now: () -> Duration) -> Bool {
        switch state {
        case .answering: return true
        case .probed: return false
        case .silent(let until):
            guard now() >= until else { return false }
            state = .probed
            return true
        }
    }

    /// Nobody has waited in vain.
    var isAnswering: Bool { if case .answering = state { true } else { false } }

    /// How a call ended: any word of the enclave's, also one that it could not be
    /// reached, ends the silence.
    mutating func ended(_ failure: KeychainError?, at now: () -> Duration) {
        if failure?.reason == .enclaveSilent {
            state = .silent(until: now() + Self.pause)
        } else {
            state = .answering
        }
    }

    /// What a call hears that was not let through.
    static let failure = KeychainError(
        .notAvailable, reason: .enclaveSilent, underlying: "it gave no answer to the call before")
}
