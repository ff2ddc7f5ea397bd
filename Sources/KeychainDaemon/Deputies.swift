internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import PeerIdentity
internal import Synchronization

/// A call that is made in a person's name.
final class DeputyCall: Sendable {
    /// What an agreement would be kept for; nil: it counts for this call alone.
    let holder: DeputyGrants.Holder?
    /// Where a person is asked; nothing else is agreed to in it.
    let presence = CallContext()
    private let agreed = Mutex<Duration?>(nil)

    /// When a person agreed; `now` the first time.
    func agreement(at now: Duration) -> Duration {
        agreed.withLock { agreed in
            let first = agreed ?? now
            agreed = first
            return first
        }
    }

    init(of connection: ClientConnection) {
        let identity = connection.identity
        // A name that all programs share which hide is nobody's.
        guard identity.strength != .none, let terminal = connection.peer.terminalSession() else {
            holder = nil
            return
        }
        holder = DeputyGrants.Holder(terminal: terminal, program: identity.name)
    }
}

/// Decides which calls may be made in a person's name (THREAT_MODEL, "Deputies").
/// What a client says of itself has no part in it: any program of the user can
/// speak this wire.
struct Deputies: Sendable {
    private let engine: KeychainEngine
    private let clock: any KeychainClock
    private let grants: DeputyGrants

    init(_ engine: KeychainEngine, clock: any KeychainClock) {
        self.engine = engine
        self.clock = clock
        grants = DeputyGrants(clock: clock)
    }

    /// The rights that a call has.
    ///
    /// - Throws: ``KeychainEngine/personNeeded`` where one has to agree first; -34018
    ///   for a program that is contained, or that hides; what
    ///   ``KeychainEngine/requirePresence(for:of:isReusable:in:)`` throws.
    func rights(of call: PromptedCall) throws(KeychainError) -> Authorization {
        guard let deputy = call.deputy else { return call.authorization }
        guard !call.connection.identity.mayBeContained else { throw Authorization.noDeputy }
        let moment = try engine.moment()
        // Without a passcode any program could open a copy of the folder.
        guard moment.hasPasscode else { return call.authorization.asDeputy }
        if let holder = deputy.holder, grants.cover(holder, at: moment) { return call.authorization.asDeputy }
        try engine.requirePresence(
            for: call.call, of: call.authorization, isReusable: deputy.holder != nil, in: deputy.presence)
        let agreed = deputy.agreement(at: clock.sinceBoot)
        // A lock after the agreement and before the moment would have ended the
        // agreement; one after the moment ends the grant.
        if let holder = deputy.holder { grants.add(holder, at: moment, agreed: agreed) }
        return call.authorization.asDeputy
    }
}
