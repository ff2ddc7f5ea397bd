internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// A person who waits for a finger that opens the keychain.
struct FingerWait {
    /// nil: news was told, and it is not asked for more yet.
    var request: UInt64?
    /// How much news of fingers is told.
    var known: UInt64
    let due: Duration
    /// It is over; told once it is asked for.
    var outcome: Result<PersonOutcome, KeychainError>?

    /// When its time is over; nil: it is over.
    var moment: Duration? { outcome == nil ? due : nil }
}

/// Fingers that open the keychain (EnclaveCore+Finger.swift). There is one reader: all who
/// wait for it are answered together, and whoever comes by the passcode answers them as well.
extension EnclaveServer {
    func waitForFinger(_ request: UInt64, _ person: PersonConnection, _ number: UInt64) {
        var told: UInt64 = 0
        if let finger, case .unlock = finger.purpose { told = finger.news.number }
        var wait = person.finger ?? FingerWait(known: told, due: clock.monotonic + limits.fingerWait)
        wait.request = request
        person.finger = wait
        if let outcome = wait.outcome { endFingerWait(of: person, number, outcome) }
        goOnWithFingerWaits()
    }

    /// Has the reader look at fingers for as long as anybody waits for one, and answers
    /// those for whom it is over.
    func goOnWithFingerWaits() {
        let now = clock.monotonic
        for (number, person) in persons where person.finger?.moment.map({ $0 <= now }) ?? false {
            endFingerWait(of: person, number, .failure(Self.noFingerCame))
        }
        guard persons.values.contains(where: { $0.finger?.moment != nil }) else {
            if case .unlock = finger?.purpose { finger = nil }
            return
        }
        // What it is after a lock that is about to come is looked at then.
        guard announced == nil, let device = keeper.device else { return }
        if logins?.isSleeping == true { return endFingerWaitsUnopened() }
        if device.lock == .unlocked { return endFingerWaits(.success(.done)) }
        if let obstacle = perform(orElse: nil, { $0.obstacleToFinger(at: keeper.moment) }) {
            return endFingerWaits(.failure(obstacle))
        }
        guard let finger else {
            beginFinger(.unlock)
            if self.finger == nil { endFingerWaits(.failure(Self.noReader)) }
            return
        }
        if case .unlock = finger.purpose { tell(finger.news) }
    }

    private func tell(_ news: QuestionNews) {
        for (number, person) in persons {
            guard let request = person.finger?.request, let known = person.finger?.known, news.number > known
            else { continue }
            person.finger?.request = nil
            person.finger?.known = news.number
            send(PersonAnswer(to: request, news), to: number)
        }
    }

    /// One that is known.
    func unlockByFinger() {
        let before = keeper.stateNumber
        do throws(KeychainError) {
            try withCore { core throws(KeychainError) in try core.unlockByFinger(at: keeper.moment) }
        } catch { return endFingerWaits(.failure(error)) }
        let mustLetGo = isDaemonListening && before != keeper.stateNumber
        tellOfState()
        endFingerWaits(.success(.done), holding: mustLetGo)
    }

    /// - Parameter holding: a success is told once the daemon has heard of it.
    func endFingerWaits(_ outcome: Result<PersonOutcome, KeychainError>, holding: Bool = false) {
        if case .unlock = finger?.purpose { finger = nil }
        for (number, person) in persons where person.finger != nil {
            endFingerWait(of: person, number, outcome, holding: holding)
        }
    }

    func endFingerWaitsUnopened() { endFingerWaits(.failure(Self.noFingerCame)) }

    private func endFingerWait(
        of person: PersonConnection, _ number: UInt64, _ outcome: Result<PersonOutcome, KeychainError>,
        holding: Bool = false
    ) {
        guard let request = person.finger?.request else {
            // What came first stands.
            if person.finger?.outcome == nil { person.finger?.outcome = outcome }
            return
        }
        person.finger = nil
        guard holding else { return send(PersonAnswer(to: request, outcome), to: number) }
        person.isBusy = true
        hold(answerTo: request, of: number)
    }

    private static let noFingerCame = KeychainError(.userCanceled, reason: .promptTimedOut)
    private static let noReader = KeychainError(.authFailed, reason: .biometryNotAvailable)

    // MARK: What is kept for one

    /// What is left until no finger counts any more. The loop waits by a clock that stands
    /// still while the machine sleeps, so it looks again after a minute, as for
    /// ``timeToIdleLock``; a finger that comes before that look finds it over all the same.
    var timeToForgetKept: Duration? {
        keeper.keptUntil.map { max(.zero, min($0 - keeper.moment, limits.idleLook)) }
    }

    func forgetKeptWhereDue() {
        guard timeToForgetKept == .zero else { return }
        perform(orElse: ()) { $0.forgetKept() }
        tellOfState()
    }
}
