internal import KeychainPlatform
internal import KeychainService
internal import PeerIdentity
internal import Synchronization

/// Which programs a person has let reach the items of every program: in which
/// terminal session, and until when.
final class DeputyGrants: Sendable {
    /// One program in one terminal session.
    struct Holder: Hashable, Sendable {
        let terminal: TerminalSession
        /// The strongest rung of its identity.
        let program: String
    }

    private struct Grant {
        /// On the time since boot, which goes on while the machine sleeps.
        let notAfter: Duration
        let moment: DeviceMoment
    }

    /// From a person's agreement on.
    static let life: Duration = .seconds(300)

    private let clock: any KeychainClock
    private let grants = Mutex<[Holder: Grant]>([:])

    init(clock: any KeychainClock) { self.clock = clock }

    /// Whether a person agreed less than five minutes ago and the keychain is as it was then.
    func cover(_ holder: Holder, at moment: DeviceMoment) -> Bool {
        let now = clock.sinceBoot
        return grants.withLock { grants in
            guard let grant = grants[holder] else { return false }
            if grant.notAfter > now, grant.moment == moment { return true }
            grants[holder] = nil
            return false
        }
    }

    /// - Parameters:
    ///   - moment: as it was after the person had agreed.
    ///   - agreed: when that was, on the clock's time since boot.
    func add(_ holder: Holder, at moment: DeviceMoment, agreed: Duration) {
        let now = clock.sinceBoot
        grants.withLock { grants in
            grants = grants.filter { $0.value.notAfter > now && $0.value.moment == moment }
            grants[holder] = Grant(notAfter: agreed + Self.life, moment: moment)
        }
    }
}
