internal import KeychainCrypto
package import KeychainModel
internal import KeychainPlatform
package import KeychainProtocol

/// Names one authentication context of one client: 16 random bytes, chosen by the
/// enclave. What a person agreed to in one counts in no other.
package struct AuthenticationSessionID: Hashable, Sendable {
    package static let byteCount = 16
    package let bytes: [UInt8]

    /// nil for anything but 16 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    static func random() -> AuthenticationSessionID { AuthenticationSessionID(unchecked: Random.bytes(byteCount)) }
}

/// What a person is to agree to, as the daemon says it. Nothing of it decides what
/// the agreement opens but the rows, whose constraints are bound to their keys.
package struct AuthenticationCase: Sendable {
    package enum Subject: Sendable {
        /// To use these rows for an operation ("od").
        case rows([(binding: RowBinding, wrapped: WrappedKey)], operation: String)
        /// Whatever meets the constraint that an access control has for an operation.
        case accessControl([UInt8], operation: String)
        case policy(AuthenticationPolicy)

        /// Whether an access control is asked about that wants a password of the program's own.
        /// (Items are refused by their keys.)
        var takesApplicationPassword: Bool {
            guard case .accessControl(let encoding, _) = self else { return false }
            return AccessControl(encoded: encoding)?.requiresApplicationPassword ?? false
        }
    }

    package let subject: Subject
    /// What the person is shown.
    package let question: PersonQuestion

    package init(_ subject: Subject, question: PersonQuestion) {
        self.subject = subject
        self.question = question
    }
}

/// What became of a question.
package enum QuestionOutcome: Sendable, Hashable {
    case agreed
    case refused(Reason)
}

/// What an agreement is good for.
enum AgreementScope: Sendable {
    /// The rows that a person was asked about, by their uuids.
    case rows(Set<[UInt8]>)
    /// Whatever row's constraint is met: agreed to in a context (LAContext).
    case context

    func covers(_ row: [UInt8]) -> Bool {
        switch self {
        case .rows(let rows): rows.contains(row)
        case .context: true
        }
    }

    fileprivate var life: Duration {
        switch self {
        case .rows: AuthenticationBook.rowsLife
        case .context: AuthenticationBook.contextLife
        }
    }

    fileprivate var uses: Int {
        switch self {
        case .rows: AuthenticationBook.rowsUses
        case .context: AuthenticationBook.contextUses
        }
    }
}

/// What a person proved in a session, and what it is good for.
struct Agreement: Sendable {
    let proved: ProvedFactors
    let scope: AgreementScope
    let notAfter: Duration
    var usesLeft: Int
}

/// A question that waits for a person.
struct PendingQuestion: Sendable {
    let session: AuthenticationSessionID
    let shown: PersonQuestion
    /// What has to be proved.
    let constraints: [AccessConstraint]
    let scope: AgreementScope
    let notAfter: Duration
    /// What was proved so far.
    var proved = ProvedFactors()
    var outcome: QuestionOutcome?
}

/// One authentication context.
struct AuthenticationState: Sendable {
    var agreements: [Agreement] = []
    /// What the application password was made into; nil: none was set.
    var applicationKey: SharedSecret?
    var notAfter: Duration
}

/// The contexts and questions of an enclave. Gone with a lock, a change of what
/// opens the keychain, and the process.
struct AuthenticationBook: Sendable {
    /// How long after its last use a session is kept whose daemon forgot it.
    static let sessionLife: Duration = .seconds(3600)
    /// For what was asked about certain rows: long enough to open them.
    static let rowsLife: Duration = .seconds(60)
    /// For what was agreed to in a context (LAContext), as long as the context at most.
    static let contextLife: Duration = .seconds(3600)
    /// How long what became of a question is kept for a daemon to hear.
    static let outcomeLife: Duration = .seconds(60)
    static let rowsUses = 4096
    /// A program that opens what it has in one context, each item by two uses.
    static let contextUses = 1 << 20
    static let mostSessions = 1024
    static let mostQuestions = 16

    private var sessions: [AuthenticationSessionID: AuthenticationState] = [:]
    private var questions: [[UInt8]: PendingQuestion] = [:]

    // MARK: Sessions

    /// nil where there are too many.
    mutating func open(at now: Duration) -> AuthenticationSessionID? {
        sessions = sessions.filter { $0.value.notAfter > now }
        guard sessions.count < Self.mostSessions else { return nil }
        let session = AuthenticationSessionID.random()
        sessions[session] = AuthenticationState(notAfter: now + Self.sessionLife)
        return session
    }

    mutating func close(_ session: AuthenticationSessionID) {
        sessions[session] = nil
        questions = questions.filter { $0.value.session != session }
    }

    /// After a lock, or with other slots, nothing counts that a person agreed to before.
    mutating func forgetAgreements() {
        for session in sessions.keys { sessions[session]?.agreements = [] }
        for (name, question) in questions where question.outcome == nil {
            questions[name]?.outcome = .refused(.userCanceled)
        }
    }

    func isOpen(_ session: AuthenticationSessionID, at now: Duration) -> Bool {
        sessions[session].map { $0.notAfter > now } ?? false
    }

    mutating func set(applicationKey: SharedSecret?, in session: AuthenticationSessionID) {
        sessions[session]?.applicationKey = applicationKey
    }

    func applicationKey(in session: AuthenticationSessionID?, at now: Duration) -> SharedSecret? {
        guard let session, let state = sessions[session], state.notAfter > now else { return nil }
        return state.applicationKey
    }

    /// Whether a constraint is met in a session for a row; uses up what meets it.
    mutating func meets(
        _ constraint: AccessConstraint, row: [UInt8], in session: AuthenticationSessionID?, at now: Duration
    ) -> Bool {
        meets(constraint, in: session, at: now) { $0.covers(row) }
    }

    /// Whether a constraint is met in a session for everything in a scope; for a whole
    /// context that is what was agreed to for the whole context.
    mutating func meets(
        _ constraint: AccessConstraint, in scope: AgreementScope, of session: AuthenticationSessionID,
        at now: Duration
    ) -> Bool {
        switch scope {
        case .rows(let rows): rows.allSatisfy { meets(constraint, row: $0, in: session, at: now) }
        case .context:
            meets(constraint, in: session, at: now) { if case .context = $0 { true } else { false } }
        }
    }

    private mutating func meets(
        _ constraint: AccessConstraint, in session: AuthenticationSessionID?, at now: Duration,
        where isMeant: (AgreementScope) -> Bool
    ) -> Bool {
        if constraint == .allowed { return true }
        guard let session, var state = sessions[session], state.notAfter > now else { return false }
        state.agreements.removeAll { $0.notAfter <= now || $0.usesLeft <= 0 }
        let index = state.agreements.firstIndex { constraint.isMet(by: $0.proved) && isMeant($0.scope) }
        if let index { state.agreements[index].usesLeft -= 1 }
        state.notAfter = now + Self.sessionLife
        sessions[session] = state
        return index != nil
    }

    // MARK: Questions

    /// nil where there are too many.
    mutating func ask(_ question: PendingQuestion, at now: Duration) -> [UInt8]? {
        // A daemon that ended never asks what became of its own: they stand in nobody's way.
        questions = questions.filter { $0.value.notAfter + Self.outcomeLife > now }
        guard questions.values.count(where: { $0.notAfter > now }) < Self.mostQuestions else { return nil }
        let name = Random.bytes(16)
        questions[name] = question
        return name
    }

    subscript(question name: [UInt8]) -> PendingQuestion? { questions[name] }

    /// What became of it; it is forgotten then.
    mutating func outcome(of name: [UInt8], at now: Duration) -> QuestionOutcome? {
        guard let question = questions[name] else { return .refused(.contextInvalid) }
        if let outcome = question.outcome {
            questions[name] = nil
            return outcome
        }
        guard question.notAfter <= now else { return nil }
        questions[name] = nil
        return .refused(.promptTimedOut)
    }

    /// Everything that was proved for a question, with this.
    mutating func prove(_ proved: ProvedFactors, for name: [UInt8]) -> ProvedFactors {
        guard var question = questions[name] else { return proved }
        question.proved.passcode = question.proved.passcode || proved.passcode
        question.proved.biometry = proved.biometry ?? question.proved.biometry
        questions[name] = question
        return question.proved
    }

    mutating func agree(to name: [UInt8], by proved: ProvedFactors, at now: Duration) {
        guard let question = questions[name], question.outcome == nil else { return }
        agree(in: question.session, by: proved, for: question.scope, at: now)
        questions[name]?.outcome = .agreed
    }

    mutating func agree(
        in session: AuthenticationSessionID, by proved: ProvedFactors, for scope: AgreementScope, at now: Duration
    ) {
        sessions[session]?.agreements.append(
            Agreement(proved: proved, scope: scope, notAfter: now + scope.life, usesLeft: scope.uses))
    }

    mutating func decline(_ name: [UInt8], _ reason: Reason) {
        guard questions[name]?.outcome == nil else { return }
        questions[name]?.outcome = .refused(reason)
    }

    /// When the next question's time is over that still has some.
    func nextDeadline(after now: Duration) -> Duration? {
        questions.values.filter { $0.outcome == nil && $0.notAfter > now }.map(\.notAfter).min()
    }
}
