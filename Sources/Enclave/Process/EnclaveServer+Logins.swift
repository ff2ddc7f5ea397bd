internal import KeychainPlatform
internal import KeychainProtocol

/// Sleep and locked screens, as logind tells of them.
struct LoginTurn {
    let turn: BusTurn
    /// What comes is told, from then on.
    var isFollowing = false
    /// The machine waits for us before it sleeps.
    var delaysSleep = false
}

extension EnclaveServer {
    /// Follows logind for as long as a lock that it brings is wanted and something is
    /// open; tries again after a minute where that failed.
    func followLoginsWhereWanted() {
        guard keeper.wantsLogins else {
            (logins, loginsPausedUntil, keeper.loginsFault) = (nil, nil, nil)
            return
        }
        guard logins == nil, keeper.device?.lock == .unlocked, loginsPausedUntil.map({ $0 <= clock.monotonic }) ?? true
        else { return }
        logins = bus.begin(.followLogins).map { LoginTurn(turn: $0) }
        loginsPausedUntil = logins == nil ? clock.monotonic + limits.loginsPause : nil
    }

    func hearOfLogins(_ event: BusEvent) {
        switch event {
        case .word(.following(let delaysSleep)):
            logins?.isFollowing = true
            logins?.delaysSleep = delaysSleep
            keeper.loginsFault = nil
        case .word(.sleeping):
            if keeper.device?.lockPolicy.locksOnSleep == true { lockByItself() }
            sleepsAfterLock = true
            letSleepOnceLocked()
        case .word(.screenLocked):
            if keeper.device?.lockPolicy.locksOnScreenLock == true { lockByItself() }
        case .word: return
        case .ended(let why):
            // One that was there has just gone: another may be there already.
            let wasThere = logins?.isFollowing == true
            logins = nil
            sleepsAfterLock = false
            keeper.loginsFault = why
            loginsPausedUntil = clock.monotonic + (wasThere ? .seconds(1) : limits.loginsPause)
        }
    }

    /// The machine sleeps once nothing is open that the person wants closed by then.
    func letSleepOnceLocked() {
        guard sleepsAfterLock, announced == nil else { return }
        sleepsAfterLock = false
        logins?.turn.say(.letSleep)
    }
}
