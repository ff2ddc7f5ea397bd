internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The reader that is looked at, and whose requests wait for that.
struct ReaderLook {
    let turn: BusTurn
    /// When whoever waits makes do with what was seen before; nil: nobody waits any more.
    var due: Duration?
}

/// Fingers that are looked at now.
struct FingerTurn {
    enum Purpose {
        /// A question, and the connection of the prompt that shows it.
        case question([UInt8], person: UInt64)
        /// To open the keychain, for everybody who waits for that (``FingerWait``).
        case unlock
    }

    let turn: BusTurn
    let purpose: Purpose
    /// The last thing that could be told of a finger.
    var news = QuestionNews(number: 0, .unreadable)

    var question: [UInt8]? {
        if case .question(let name, _) = purpose { name } else { nil }
    }
}

/// A question that a finger may answer once the reader is free.
struct WaitingFinger {
    let question: [UInt8]
    let person: UInt64
}

extension EnclaveServer {
    /// What was heard of the bus.
    func hearBus() {
        for (number, event) in bus.take() {
            if look?.turn.number == number { hearOfReader(event) }
            if finger?.turn.number == number { hearOfFinger(event) }
            if logins?.turn.number == number { hearOfLogins(event) }
        }
    }

    // MARK: The reader

    /// Has the connection's request wait until the reader was looked at.
    func waitForReader(_ header: [UInt8], _ connection: EnclaveServerConnection) {
        connection.waiting = header
        beginLook()
    }

    private func beginLook() {
        if let under = look {
            // It goes on; whoever comes now waits no longer for it than the first did.
            look?.due = under.due ?? clock.monotonic + limits.readerLook
            return
        }
        guard let turn = bus.begin(.describeReader) else { return endLook { $0.seeNothing(at: clock.monotonic) } }
        look = ReaderLook(turn: turn, due: clock.monotonic + limits.readerLook)
    }

    private func hearOfReader(_ event: BusEvent) {
        let now = clock.monotonic
        switch event {
        case .word(.reader(let reader)): endLook { $0.see(reader, at: now) }
        case .word: return
        case .ended: endLook { $0.seeNothing(at: now) }
        }
    }

    /// A look that takes too long goes on without those who waited for it.
    func makeDoWithReader() {
        guard let due = look?.due, due <= clock.monotonic else { return }
        look?.due = nil
        keeper.reader.makeDo(at: clock.monotonic)
        answerWhoWaitedForReader()
    }

    private func endLook(_ see: (ReaderView) -> Void) {
        look = nil
        see(keeper.reader)
        answerWhoWaitedForReader()
    }

    private func answerWhoWaitedForReader() {
        for (number, connection) in connections {
            guard let header = connection.waiting else { continue }
            connection.waiting = nil
            answerAgain(header, connection, number)
        }
        queue += waitingForReader
        waitingForReader = []
        beginAtDesk()
    }

    /// Has what a person wants wait until the reader was looked at.
    func waitForReader(_ work: PersonDesk.Work) {
        waitingForReader.append(work)
        beginLook()
    }

    // MARK: A finger

    /// Somebody is shown the question now.
    func beginFinger(for question: PersonQuestion, _ name: [UInt8], _ person: UInt64) {
        guard question.finger != .none, finger?.question != name,
            !fingersToCome.contains(where: { $0.question == name })
        else { return }
        // There is one reader. Who has it keeps it: a program that asks later would else be
        // agreed to by a finger that was meant for what is on the screen.
        fingersToCome.append(WaitingFinger(question: name, person: person))
        beginNextFinger()
    }

    private func beginNextFinger() {
        while finger == nil, !fingersToCome.isEmpty {
            let next = fingersToCome.removeFirst()
            guard let asked = question(next.question), asked.finger != .none else { continue }
            beginFinger(.question(next.question, person: next.person))
        }
    }

    func beginFinger(_ purpose: FingerTurn.Purpose) {
        finger = bus.begin(.verifyFinger).map { FingerTurn(turn: $0, purpose: purpose) }
    }

    private func hearOfFinger(_ event: BusEvent) {
        guard let turn = finger else { return }
        switch event {
        case .word(.touched(.match)):
            finger = nil
            recognizeFinger(turn)
        case .word(.touched(.noMatch)): missFinger(turn)
        case .word(.touched(.unreadable)): tell(.unreadable, of: turn)
        case .word: return
        case .ended(let why):
            finger = nil
            // It may be there for the next question: another program has it, for one.
            keeper.reader.seeNothing(at: clock.monotonic, for: ReaderView.life)
            giveFingerUp(turn, KeychainError(.authFailed, reason: .biometryNotAvailable, underlying: why))
        }
        tellOfQuestions()
    }

    private func recognizeFinger(_ turn: FingerTurn) {
        switch turn.purpose {
        case .question(let name, _): agreeByFinger(to: name)
        case .unlock: unlockByFinger()
        }
    }

    private func agreeByFinger(to name: [UInt8]) {
        do throws(KeychainError) {
            try withCore { core throws(KeychainError) in try core.agreeByBiometry(to: name, at: keeper.moment) }
        } catch {
            // Its time is over, or it was answered: then there is nothing to agree to. Or the
            // reader has gone.
            declineWithoutFinger(name, .biometryNotAvailable)
        }
    }

    private func missFinger(_ turn: FingerTurn) {
        let before = keeper.stateNumber
        let counts = perform(orElse: false) { core in
            core.missFinger(at: keeper.moment)
            return core.trust.isGiven(at: keeper.moment)
        }
        if before != keeper.stateNumber { tellOfState() }
        guard !counts else { return tell(.notRecognized, of: turn) }
        finger = nil
        giveFingerUp(turn, KeychainError(.authFailed, reason: .biometryLockedOut))
    }

    private func tell(_ event: QuestionNews.Event, of turn: FingerTurn) {
        finger?.news = QuestionNews(number: turn.news.number + 1, event)
    }

    /// Where a finger alone would have been enough, nothing is; else the passcode is.
    private func giveFingerUp(_ turn: FingerTurn, _ error: KeychainError) {
        guard let question = turn.question else { return endFingerWaits(.failure(error)) }
        declineWithoutFinger(question, error.reason)
    }

    private func declineWithoutFinger(_ name: [UInt8], _ reason: Reason) {
        perform(orElse: ()) { core in
            guard core.needsFinger(name) else { return }
            core.book.decline(name, reason)
        }
    }

    /// The reader is let go of once nobody is asked any more, and the next has it.
    func endFingerWhereAnswered() {
        if let question = finger?.question, !isAsked(question) { finger = nil }
        beginNextFinger()
        tellOfQuestions()
    }

    /// What is left until the next may have the reader, whoever answers; nil: nobody waits
    /// for it. Looked at again after a minute, as ``timeToIdleLock``.
    var timeToFreeReader: Duration? {
        guard !fingersToCome.isEmpty else { return nil }
        let due = perform(orElse: nil) { $0.book.nextDeadline(after: keeper.moment) }
        return due.map { min($0 - keeper.moment, limits.idleLook) }
    }

    func endFinger(of person: UInt64) {
        if case .question(_, person: person) = finger?.purpose { finger = nil }
        fingersToCome.removeAll { $0.person == person }
    }

    private func isAsked(_ name: [UInt8]) -> Bool { question(name) != nil }

    // MARK: Whoever waits for news of a question

    /// Answers whoever waits for what there is now.
    func tellOfQuestions() {
        for (number, person) in persons {
            guard let awaited = person.awaitedNews, let news = news(of: awaited.question, after: awaited.known)
            else { continue }
            person.awaitedNews = nil
            send(PersonAnswer(to: awaited.request, news), to: number)
        }
    }

    /// What a prompt would show beside a place for the passcode nobody reads while typing:
    /// there the end alone is told.
    private func news(of name: [UInt8], after known: UInt64) -> QuestionNews? {
        guard let asked = question(name) else {
            let isAgreed = perform(orElse: false) { $0.book[question: name]?.outcome == .agreed }
            return QuestionNews(number: known + 1, .over(isAgreed: isAgreed))
        }
        guard asked.finger == .alone, let news = finger?.news, finger?.question == name, news.number > known
        else { return nil }
        return news
    }

    func perform<R>(orElse nothing: R, _ body: (inout EnclaveCore) -> R) -> R {
        do throws(KeychainError) {
            return try withCore { core throws(KeychainError) in body(&core) }
        } catch { return nothing }
    }
}
