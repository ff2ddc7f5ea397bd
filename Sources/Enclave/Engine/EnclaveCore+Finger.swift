internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// A finger that opens the keychain again after a lock, where a person chose that.
///
/// Nothing on the disk opens for a finger: what it opens is what the lock left in memory
/// (``KeptBag``), as long as ``BiometryTrust`` is given and until anything else opens or
/// changes the keybag. A finger opens what the passcode opens, gives no trust of its own and
/// has no part in the count of attempts.
extension EnclaveCore {
    // MARK: Choosing it

    /// - Throws: `errSecAuthFailed` (`biometryNotAvailable`, `biometryNotEnrolled`) where
    ///   nobody's finger could come.
    func refuseFingerprint() throws(KeychainError) {
        guard let state = biometry?.state else { throw KeychainError(.authFailed, reason: .biometryNotAvailable) }
        guard state.isEnrolled else { throw KeychainError(.authFailed, reason: .biometryNotEnrolled) }
    }

    /// What is locked stays locked, and what was kept for a finger goes where none is to come.
    mutating func letFingerUnlock(_ isWanted: Bool) throws(KeybagError) {
        if !isWanted {
            // Also where the keybag cannot be written.
            forgetKept()
            fingerOpenedAt = nil
        }
        var next = keybag.body
        next.fingerUnlocks = isWanted
        try write(next)
    }

    // MARK: A lock

    /// Wipes what is open, but for what a finger opens it again with, where one may.
    mutating func closeBag(at moment: Duration) {
        fingerOpenedAt = nil
        guard keybag.body.fingerUnlocks, trust.isGiven(at: moment) else {
            kept = nil
            return keybag.close()
        }
        keybag.close(leaving: &kept)
    }

    /// When what is kept for a finger goes, by the time since boot; nil: nothing is kept.
    var keptUntil: Duration? { kept == nil ? nil : trust.end ?? .zero }

    /// What a finger may open and what one has opened, as it was before.
    mutating func forgetFinger() {
        kept = nil
        fingerOpenedAt = nil
    }

    mutating func forgetKept() {
        guard kept != nil else { return }
        kept = nil
        stateNumber += 1
    }

    // MARK: A finger

    /// Why no finger opens it, whatever the reader says; nil: one does.
    func obstacleToFinger(at moment: Duration) -> KeychainError? {
        guard keybag.body.hasPasscode else { return Self.noPasscode }
        guard keybag.body.fingerUnlocks else { return .slot("no finger opens it") }
        guard kept != nil, trust.isGiven(at: moment) else {
            return KeychainError(.authFailed, reason: .biometryLockedOut)
        }
        return nil
    }

    /// Opens everything, but for akpu where a TPM has the effacement secret: that is asked
    /// for it when a person brings a passcode. Reached by the source of biometry alone.
    ///
    /// - Throws: as ``obstacleToFinger(at:)``.
    mutating func unlockByFinger(at moment: Duration) throws(KeychainError) {
        if let obstacle = obstacleToFinger(at: moment) { throw obstacle }
        do throws(KeybagError) {
            let found = try effacement()
            switch kept.take() {
            case .some(let kept):
                try keybag.unlock(with: kept, effacement: found.secret, isAwaited: found.isAwaited)
            case .none: return
            }
            note(found)
        } catch { throw error.asKeychainError }
        trust.recognize()
        fingerOpenedAt = moment
        audit.witness.note(.unlockedByFinger, at: moment)
        lastUse = moment
        stateNumber += 1
    }

    /// How old an unlock by a finger may be at the most, to count for something else
    /// (LATouchIDAuthenticationMaximumAllowableReuseDuration).
    static let oldestFinger: Duration = .seconds(300)

    /// What a finger proved that opened what is open now, no longer ago than that; nil:
    /// none did, or none would count now.
    func finger(within age: Duration, at moment: Duration) -> ProvedFactors? {
        guard age > .zero, let opened = fingerOpenedAt, moment - opened <= min(age, Self.oldestFinger),
            let enrolment = means(at: moment).provable.biometry
        else { return nil }
        return ProvedFactors(biometry: enrolment)
    }
}
