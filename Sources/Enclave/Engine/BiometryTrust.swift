/// Whether biometry counts: only once the passcode, or the recovery code, was typed since
/// the enclave started, for two days from then on, and until five fingers in a row were
/// nobody's (Apple Platform Security, "Face ID, Touch ID, passcodes, and passwords").
///
/// Kept in memory alone: an enclave that starts anew trusts nobody's finger.
struct BiometryTrust: Sendable {
    static let mostMisses = 5
    /// Shorter than Apple's six and a half days of a device that is in use: a reader of
    /// Linux may have no element of its own that compares fingers.
    static let life: Duration = .seconds(48 * 3600)

    private var givenAt: Duration?
    private var misses = 0

    /// By the time since boot.
    func isGiven(at moment: Duration) -> Bool {
        end.map { moment < $0 } ?? false
    }

    /// When it ends by itself, by the time since boot; nil: it is not given.
    var end: Duration? {
        guard let givenAt, misses < Self.mostMisses else { return nil }
        return givenAt + Self.life
    }

    mutating func give(at moment: Duration) {
        givenAt = moment
        misses = 0
    }

    mutating func miss() { misses += 1 }
    mutating func recognize() { misses = 0 }
}
