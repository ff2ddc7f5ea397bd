internal import KeychainPlatform
internal import KeychainProtocol

/// Locks that nobody asks for when they come: what the person chose (``LockPolicy``).
extension EnclaveServer {
    /// What is left until the keychain has gone unused for as long as it may; nil: it may,
    /// or the desk is busy, after which the time is looked at.
    ///
    /// The loop waits by a clock that stands still while the machine sleeps, so it looks
    /// again after a minute: it is late by no more than that after a sleep.
    var timeToIdleLock: Duration? {
        guard announced == nil, !desk.isBusy, let due = keeper.idleLockDue else { return nil }
        return max(.zero, min(due - keeper.moment, limits.idleLook))
    }

    func lockWhereUnused() {
        guard timeToIdleLock == .zero else { return }
        lockByItself()
    }

    /// As a person's lock, announced to the daemon, with nobody to tell of its end.
    /// Nothing happens where nothing is open.
    func lockByItself() {
        guard announced == nil, !announces(.policy) else { return }
        closeByItself()
    }

    func closeByItself() {
        defer { beginAtDesk() }
        let before = keeper.stateNumber
        do throws(SessionError) {
            try keeper.withCore { core throws(SessionError) in core.lockByItself(at: keeper.moment) }
        } catch { return }
        if before != keeper.stateNumber { tellOfState() }
        endFingerWaitsUnopened()
    }
}
