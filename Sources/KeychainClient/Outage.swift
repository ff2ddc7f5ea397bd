internal import KeychainModel
internal import KeychainPlatform

/// How long somebody who waits goes on while nobody answers: a daemon that was ended is
/// started again at once; one that cannot be may be in the middle of a restore. About
/// a minute in all.
struct Outage {
    private static let pauses: [Duration] = [.zero] + [1, 2, 4, 8, 15, 30].map { .seconds($0) }

    private let finder: DaemonFinder
    private var left = Self.pauses[...]
    private var began: Duration

    init(_ finder: DaemonFinder) {
        self.finder = finder
        began = finder.now
    }

    /// Before each attempt.
    mutating func begin() { began = finder.now }

    /// Pauses; false where `cancelled` was signalled meanwhile.
    ///
    /// - Throws: the failure, where it would not pass or has lasted too long. Whatever
    ///   the daemon says of the question itself is the answer.
    mutating func isToGoOn(
        after interruption: DaemonConnection.Interruption, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> Bool {
        // A wait that stood ended one outage; this is another.
        if interruption.requestWasSent, finder.hasLasted(since: began) { left = Self.pauses[...] }
        guard interruption.error.reason.mayPass, let pause = left.popFirst() else { throw interruption.error }
        return try !finder.pause(pause, orUntil: cancelled)
    }
}

extension Reason {
    /// Whether another daemon, or this one a little later, may answer.
    var mayPass: Bool {
        switch self {
        case .daemonUnreachable, .noAnswer, .busy, .storeInUse, .startRefused, .stillSalvaging, .enclaveSilent,
            .enclaveUnreachable:
            true
        default: false
        }
    }
}
