internal import Enclave
package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
internal import Synchronization

/// What a call may count on that a person agreed to: of one call, or of all calls
/// that are made through one LAContext.
package final class CallContext: Sendable {
    private struct State {
        var session: AuthenticationSessionID?
        var needed: NeededAgreement?
        var hasEnded = false
        var hasApplicationPassword = false
    }

    private let state = Mutex(State())

    package init() {}

    var session: AuthenticationSessionID? { state.withLock { $0.session } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    /// Whether a call ended with ``KeychainEngine/personNeeded``, and nobody was asked yet.
    package var needsPerson: Bool { state.withLock { $0.needed != nil } }

    /// Whether the program brought one for it, right or wrong.
    var hasApplicationPassword: Bool { state.withLock { $0.hasApplicationPassword } }

    func noteApplicationPassword(_ isThere: Bool) { state.withLock { $0.hasApplicationPassword = isThere } }
    func keep(_ session: AuthenticationSessionID) { state.withLock { $0.session = session } }
    func need(_ agreement: NeededAgreement) { state.withLock { $0.needed = agreement } }

    func takeNeeded() -> NeededAgreement? {
        state.withLock { state in
            defer { state.needed = nil }
            return state.needed
        }
    }

    /// The session that has to be closed, once.
    func end() -> AuthenticationSessionID? {
        state.withLock { state in
            defer { state = State(hasEnded: true) }
            return state.session
        }
    }
}

/// What a person has to agree to before a call can go on.
struct NeededAgreement: Sendable {
    var subject: AuthenticationCase.Subject
    var purpose = PersonQuestion.Purpose.useItem
    /// As the daemon has them; the enclave puts those that are bound to the rows in
    /// their place.
    var items: [ShownItem] = []
    var count = 0
    var reason = ""
}

/// Who calls, as a person is told.
package struct CallingProgram: Sendable {
    package var name: String
    package var strength: IdentityStrength
    package var process: Int32
    /// `/proc/PID/stat` of the process, open: it tells the terminal also where the
    /// folder has become invisible. nil where nobody held it open.
    package var record: Descriptor?

    package init(name: String, strength: IdentityStrength, process: Int32, record: Descriptor? = nil) {
        self.name = name
        self.strength = strength
        self.process = process
        self.record = record
    }
}

/// Brings a question before a person.
package protocol PersonAsker: Sendable {
    /// Returns once somebody has answered the question at the enclave, or nobody will.
    ///
    /// - Parameters:
    ///   - question: its name there, 16 bytes.
    ///   - program: who calls, and with that where a person can be asked.
    ///   - withdrawn: readable once nobody waits for the answer any more: the prompt goes
    ///     away then. nil: the caller waits as long as it takes.
    /// - Throws: `errSecInteractionNotAllowed`, reason `nobodyToAsk`.
    func ask(
        _ question: [UInt8], _ shown: PersonQuestion, of program: CallingProgram, until withdrawn: Descriptor?
    ) throws(KeychainError)
}

/// Where nobody can be asked.
package struct NobodyToAsk: PersonAsker {
    package init() {}

    package func ask(
        _ question: [UInt8], _ shown: PersonQuestion, of program: CallingProgram, until withdrawn: Descriptor?
    ) throws(KeychainError) {
        throw KeychainError(.interactionNotAllowed, reason: .nobodyToAsk(why: "there is no prompt here"))
    }
}

extension KeychainEngine {
    /// A person has to agree first (``askPerson(for:by:_:)``); nothing was changed or
    /// told. Apple's internal errSecAuthNeeded (spec section 4).
    package static let personNeeded = KeychainError(
        Status(rawValue: -25330), reason: .nobodyToAsk(why: "nobody has agreed yet"))

    /// How often a call may ask (spec section 8).
    package static let mostRounds = 20

    /// Has a person agree to what a call that ended with ``personNeeded`` needs.
    ///
    /// - Parameter withdrawn: readable once nobody waits for it any more.
    /// - Throws: -128 (`userCanceled`, `promptTimedOut`), -25293, -25308
    ///   (`nobodyToAsk`, `locked`).
    package func askPerson(
        for context: CallContext, by asker: some PersonAsker, _ program: CallingProgram,
        until withdrawn: Descriptor? = nil
    ) throws(KeychainError) {
        guard let needed = context.takeNeeded() else { throw Self.tooManyRounds }
        let shown = PersonQuestion(
            purpose: needed.purpose, items: needed.items, itemCount: needed.count, program: program.name,
            programStrength: program.strength, programProcess: program.process,
            reason: needed.reason)
        let session = try session(of: context)
        let question = try enclave.use { enclave throws(KeychainError) in
            try enclave.ask(AuthenticationCase(needed.subject, question: shown), in: session)
        }
        guard let question else { return }
        try asker.ask(question, shown, of: program, until: withdrawn)
        let outcome = try enclave.use { enclave throws(KeychainError) in try enclave.outcome(of: question) }
        switch outcome {
        case .agreed: return
        case .refused(let reason): throw KeychainError(Self.status(of: reason), reason: reason)
        case nil:
            throw KeychainError(.interactionNotAllowed, reason: .nobodyToAsk(why: "the prompt ended without an answer"))
        }
    }

    private static func status(of reason: Reason) -> Status {
        switch reason {
        case .userCanceled, .promptTimedOut: .userCanceled
        case .nobodyToAsk, .interactionForbidden, .locked: .interactionNotAllowed
        default: .authFailed
        }
    }

    package static let tooManyRounds = KeychainError(.authFailed, reason: .authenticationFailed)

    /// The enclave's context of a call, opened with the first need of one.
    func session(of context: CallContext) throws(KeychainError) -> AuthenticationSessionID {
        if context.hasEnded { throw KeychainError(.authFailed, reason: .contextInvalid) }
        if let session = context.session { return session }
        let session = try enclave.use { enclave throws(KeychainError) in try enclave.openSession() }
        context.keep(session)
        return session
    }

    /// Nothing that was agreed to in a context counts any more.
    package func end(_ context: CallContext) {
        guard let session = context.end() else { return }
        do throws(KeychainError) {
            try enclave.use { enclave throws(KeychainError) in try enclave.closeSession(session) }
        } catch {
            // An enclave that cannot be reached has no contexts any more, or forgets them in an hour.
            return
        }
    }

    // MARK: LAContext

    package func means() throws(KeychainError) -> AuthenticationMeans {
        try enclave.use { enclave throws(KeychainError) in try enclave.means() }
    }

    /// Whether a person has agreed to what a program says (LAContext.evaluatePolicy).
    ///
    /// - Throws: ``personNeeded`` where one has to be asked first; -25308, reason
    ///   `interactionForbidden`, where that is not wanted.
    package func evaluate(
        _ demand: AuthenticationDemand, in context: CallContext
    ) throws(KeychainError) {
        let subject: AuthenticationCase.Subject
        switch demand.subject {
        case .policy(let policy): subject = .policy(policy)
        case .accessControl(let access, let operation):
            subject = .accessControl(access.encoded, operation: operation)
        }
        try require(
            NeededAgreement(subject: subject, purpose: .agree, reason: demand.reason), mayAsk: demand.mayAsk,
            reusing: demand.reuse, in: context)
    }

    /// Makes sure that a person has agreed in a context.
    ///
    /// - Parameter age: how old an unlock by a finger may be to be as good as that.
    func require(
        _ agreement: NeededAgreement, mayAsk: Bool, reusing age: Duration = .zero, in context: CallContext
    ) throws(KeychainError) {
        let session = try session(of: context)
        let isMet = try enclave.use { enclave throws(KeychainError) in
            try enclave.isMet(agreement.subject, in: session, reusing: age)
        }
        guard !isMet else { return }
        guard mayAsk else { throw KeychainError(.interactionNotAllowed, reason: .interactionForbidden) }
        context.need(agreement)
        throw Self.personNeeded
    }

    /// Keeps what an application password is made into, for the items that ask for one.
    ///
    /// Argon2id with 64 MiB and three passes, salted with the name of the store: of a
    /// password that somebody chose, whoever has the class key has to guess at that cost.
    package func setApplicationPassword(
        _ password: SharedSecret?, in context: CallContext
    ) throws(KeychainError) {
        let session = try session(of: context)
        let key = try password.map { password throws(KeychainError) in try applicationKey(password) }
        try enclave.use { enclave throws(KeychainError) in try enclave.setApplicationKey(key, in: session) }
        context.noteApplicationPassword(key != nil)
    }
}
