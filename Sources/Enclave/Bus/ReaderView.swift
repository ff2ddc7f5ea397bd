internal import KeychainPlatform
package import KeychainProtocol
internal import Synchronization

/// The fingerprint reader as it was when somebody last looked at it through the system
/// bus. Whoever asks for its state gets that at once.
///
/// fprintd does not tell when a finger is enrolled, so that a look is good for seconds.
/// It tells how many fingers it knows and not which: they cannot be told apart
/// (COMPATIBILITY.md 7b).
package final class ReaderView: BiometrySource {
    /// How long what was seen is good for.
    static let life: Duration = .seconds(5)
    /// Where there was nobody to ask: a machine without a bus gets none so soon.
    static let lifeOfFailure: Duration = .seconds(60)

    private struct Seen {
        var reader: FingerReader?
        /// On the monotonic time; nil: nobody has looked yet.
        var isGoodUntil: Duration?
    }

    private let canLook: Bool
    private let seen = Mutex(Seen())

    /// - Parameter isThere: false where there is no program to look with.
    package init(isThere: Bool) { canLook = isThere }

    package var state: BiometryState? {
        seen.withLock(\.reader).map {
            BiometryState(kind: .fingerprint, isEnrolled: $0.fingers > 0, enrolment: [])
        }
    }

    func isStale(at now: Duration) -> Bool {
        canLook && seen.withLock { $0.isGoodUntil.map { $0 <= now } ?? true }
    }

    /// - Parameter reader: nil: there is none.
    func see(_ reader: FingerReader?, at now: Duration) {
        seen.withLock { $0 = Seen(reader: reader, isGoodUntil: now + Self.life) }
    }

    /// Nobody answered. What was seen before may be there still, if it is not asked for a
    /// finger.
    func seeNothing(at now: Duration, for life: Duration = lifeOfFailure) {
        seen.withLock { $0 = Seen(reader: nil, isGoodUntil: now + life) }
    }

    /// What is under way takes too long to be waited for.
    func makeDo(at now: Duration) {
        seen.withLock { $0.isGoodUntil = now + Self.life }
    }
}
