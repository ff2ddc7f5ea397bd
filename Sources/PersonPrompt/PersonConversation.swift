package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol

/// What became of a question.
package enum ConversationOutcome: Hashable, Sendable {
    /// The door had nothing to ask.
    case nothingAsked
    case agreed
    case declined(Reason)
}

/// Puts the question of a door to a person, and the person's answer to the door.
///
/// A wrong passcode is said and asked for again, three times at the most; while
/// attempts are delayed nobody is asked, only told. Where one way to ask fails, the
/// next is taken.
package struct PersonConversation {
    /// As Apple's passcode prompts have it.
    package static let tries = 3

    private let door: any QuestionDoor
    private let watch: (any QuestionWatch)?
    private let clock: any KeychainClock

    /// - Parameter watch: whose descriptor calls every screen off.
    package init(with door: any QuestionDoor, watch: (any QuestionWatch)? = nil, on clock: any KeychainClock) {
        self.door = door
        self.watch = watch
        self.clock = clock
    }

    /// Says that there is nobody to ask.
    package func hold(nobody: NobodyToAsk) throws(KeychainError) -> ConversationOutcome {
        guard try door.question() != nil else { return .nothingAsked }
        return try decline(.nobodyToAsk(why: nobody.why))
    }

    /// - Parameter screens: ways to ask, best first.
    /// - Throws: what the door throws; the question was not answered then.
    package func hold(on screens: [any PersonScreen]) throws(KeychainError) -> ConversationOutcome {
        guard let question = try door.question() else { return .nothingAsked }
        // Also where no finger counts: whoever says nothing to the enclave is sent away.
        try watch?.awaitNews(after: 0)
        defer { for screen in screens { screen.close() } }
        // Ten minutes: longer than any enclave waits.
        let seconds = max(0, min(question.secondsLeft, 600))
        let deadline = Deadline(after: .seconds(seconds), on: clock)
        var trouble = "there is no way to ask"
        for screen in screens {
            let answered = try ask(question, on: screen, until: deadline)
            screen.close()
            switch answered {
            case .ended(let outcome): return outcome
            case .impossible(let why): trouble = why
            }
        }
        return try decline(.nobodyToAsk(why: trouble))
    }

    private enum Answered {
        case ended(ConversationOutcome)
        /// Nobody was asked.
        case impossible(why: String)
    }

    private func ask(
        _ question: PersonQuestion, on screen: any PersonScreen, until deadline: Deadline
    ) throws(KeychainError) -> Answered {
        let text = QuestionText(question, repertoire: screen.repertoire, width: screen.width)
        if question.finger == .alone { return try waitForFinger(text, on: screen, until: deadline) }
        let delay = try door.state().secondsToNextAttempt
        if delay > 0 { return try tellDelay(delay, of: question, on: screen, until: deadline) }
        var error: String?
        for tryNumber in 1...Self.tries {
            switch try attempt(text.form(error: error), on: screen, until: deadline) {
            case .agreed: return try goOn(after: question, on: screen, until: deadline)
            case .settled(let outcome): return .ended(outcome)
            case .wrong(let why): error = Self.remark(why, triesLeft: Self.tries - tryNumber)
            case .delayed(let seconds): return try tellDelay(seconds, of: question, on: screen, until: deadline)
            case .declined(let reason): return .ended(try decline(reason))
            case .impossible(let why): return .impossible(why: why)
            }
        }
        return .ended(try decline(.authenticationFailed))
    }

    private static func remark(_ why: String, triesLeft: Int) -> String {
        why + (triesLeft == 1 ? " One more try." : " Try again.")
    }

    // MARK: One attempt

    private enum Attempt {
        case agreed
        /// Without what is typed.
        case settled(ConversationOutcome)
        case wrong(String)
        case delayed(seconds: Int)
        case declined(Reason)
        case impossible(why: String)
    }

    private func attempt(
        _ form: PromptForm, on screen: any PersonScreen, until deadline: Deadline
    ) throws(KeychainError) -> Attempt {
        let typed: SecretBytes
        do throws(PromptFailure) { typed = try screen.ask(form, until: deadline) } catch {
            if error == .calledOff, let news = try takeNews() { return .settled(Self.outcome(of: news)) }
            return Self.attempt(endedBy: error, on: screen)
        }
        guard typed.count > 0 else { return .wrong("Nothing was typed.") }
        do throws(KeychainError) {
            try door.agree(with: .passcode(SharedSecret(typed)))
            return .agreed
        } catch {
            switch error.reason {
            case .authenticationFailed: return .wrong("That is not the passcode.")
            case .attemptsDelayed(let seconds): return .delayed(seconds: seconds)
            case .promptTimedOut: return .declined(.promptTimedOut)
            default: throw error
            }
        }
    }

    private static func attempt(endedBy failure: PromptFailure, on screen: any PersonScreen) -> Attempt {
        switch failure {
        case .canceled, .calledOff: .declined(.userCanceled)
        case .timedOut: .declined(.promptTimedOut)
        case .tooLong: .wrong("That is longer than any passcode.")
        case .unable(let why): .impossible(why: why)
        case .broken(let fault): .impossible(why: "\(screen.name): \(fault)")
        }
    }

    // MARK: A finger

    /// Where a finger is asked for beside the passcode, that is next.
    private func goOn(
        after question: PersonQuestion, on screen: any PersonScreen, until deadline: Deadline
    ) throws(KeychainError) -> Answered {
        guard question.finger == .andPasscode, let rest = try door.question() else { return .ended(.agreed) }
        return try ask(rest, on: screen, until: deadline)
    }

    /// Nothing is typed: whoever confirms what is shown calls it off.
    private func waitForFinger(
        _ text: QuestionText, on screen: any PersonScreen, until deadline: Deadline
    ) throws(KeychainError) -> Answered {
        guard screen.waitsForReader else { return .impossible(why: "\(screen.name) shows nothing to wait at") }
        var remark: String?
        while true {
            do throws(PromptFailure) { try screen.tell(text.form(error: remark), until: deadline) } catch {
                guard error == .calledOff, let news = try takeNews() else {
                    return try ended(by: Self.attempt(endedBy: error, on: screen))
                }
                switch news.event {
                case .over: return .ended(Self.outcome(of: news))
                case .notRecognized: remark = "That finger was not recognized. Try again."
                case .unreadable: remark = "The finger could not be read. Try again."
                }
                try watch?.awaitNews(after: news.number)
                continue
            }
            return .ended(try decline(.userCanceled))
        }
    }

    private func ended(by attempt: Attempt) throws(KeychainError) -> Answered {
        switch attempt {
        case .declined(let reason): .ended(try decline(reason))
        case .impossible(let why): .impossible(why: why)
        case .agreed, .settled, .wrong, .delayed: .impossible(why: "nothing was asked to be typed")
        }
    }

    /// nil: what called the screen off was something else.
    private func takeNews() throws(KeychainError) -> QuestionNews? {
        guard let watch else { return nil }
        do throws(SystemCallError) {
            guard try waitForAny(of: [watch.descriptor], until: Deadline(after: .zero, on: clock)) != nil else {
                return nil
            }
        } catch { return nil }
        return try watch.news()
    }

    private static func outcome(of news: QuestionNews) -> ConversationOutcome {
        if case .over(isAgreed: true) = news.event { return .agreed }
        return .declined(.userCanceled)
    }

    // MARK: Ends

    /// While attempts are delayed none is looked at: nothing is asked, and the
    /// program gets its answer when the person has read why.
    private func tellDelay(
        _ seconds: Int, of question: PersonQuestion, on screen: any PersonScreen, until deadline: Deadline
    ) throws(KeychainError) -> Answered {
        let reason = Reason.attemptsDelayed(seconds: seconds)
        // A finger would agree to what is not shown.
        let early = try question.finger == .none ? nil : decline(reason)
        let form = PromptForm(description: "Too many wrong passcodes. The next is taken in \(Self.time(seconds)).")
        let limit = Deadline(at: min(deadline.moment, clock.monotonic + .seconds(15)), on: clock)
        // Who cannot be told can still be refused.
        do throws(PromptFailure) { try screen.tell(form, until: limit) } catch {}
        if let early { return .ended(early) }
        return .ended(try decline(reason))
    }

    private static func time(_ seconds: Int) -> String {
        switch seconds {
        case ..<2: "a second"
        case ..<120: "\(seconds) seconds"
        default: "\((seconds + 59) / 60) minutes"
        }
    }

    private func decline(_ reason: Reason) throws(KeychainError) -> ConversationOutcome {
        try door.decline(reason)
        return .declined(reason)
    }
}
