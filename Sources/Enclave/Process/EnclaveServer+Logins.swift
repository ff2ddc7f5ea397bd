internal import KeychainPlatform
internal import KeychainProtocol

/// Sleep and locked screens, as logind tells of them.
struct LoginTurn {
    let turn: BusTurn
    /// What comes is told, from then on.
    var isFollowing = false
    /// From when the machine is about to sleep until it is awake again, where the person
    /// wants the keychain closed then: no finger opens it meanwhile.
    var isSleeping = false
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
            logins?.isSleeping = false
            // Once it goes, another may be there soon.
            loginsRetry = .seconds(1)
            keeper.loginsFault = delaysSleep ? nil : "logind does not let the keychain delay sleep"
        case .word(.sleeping):
            if keeper.device?.lockPolicy.locksOnSleep == true {
                logins?.isSleeping = true
                lockByItself()
            }
            sleepsAfterLock = true
            letSleepOnceLocked()
        case .word(.screenLocked):
            guard keeper.device?.lockPolicy.locksOnScreenLock == true else { return }
            lockByItself()
            // The next touch is for whoever locked the screen.
            endFingerWaitsUnopened()
        case .word: return
        case .ended(let why):
            logins = nil
            sleepsAfterLock = false
            keeper.loginsFault = why
            loginsPausedUntil = clock.monotonic + loginsRetry
            loginsRetry = min(loginsRetry * 2, limits.loginsPause)
        }
    }

    /// The machine sleeps once nothing is open that the person wants closed by then, nor
    /// about to be opened by what was asked for before.
    func letSleepOnceLocked() {
        guard sleepsAfterLock, announced == nil, !desk.isBusy, queue.isEmpty else { return }
        if keeper.device?.lockPolicy.locksOnSleep == true {
            lockByItself()
            guard announced == nil else { return }
        }
        sleepsAfterLock = false
        logins?.turn.say(.letSleep)
    }
}
