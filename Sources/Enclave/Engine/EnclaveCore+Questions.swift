internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

extension EnclaveCore {
    func means(at moment: Duration) -> AuthenticationMeans {
        let isTrusted = trust.isGiven(at: moment)
        let biometry = biometry?.state.map { $0.lockedOut($0.isLockedOut || !isTrusted) }
        return AuthenticationMeans(hasPasscode: keybag.body.hasPasscode, biometry: biometry)
    }

    /// What is left to be proved.
    private mutating func open(
        _ subject: AuthenticationCase.Subject, in session: AuthenticationSessionID, at moment: Duration
    ) throws(KeychainError) -> ([AccessConstraint], AgreementScope) {
        guard book.isOpen(session, at: moment) else { throw Self.invalidContext }
        guard keybag.lock == .unlocked else {
            throw KeychainError(
                .interactionNotAllowed, reason: .locked(class: ProtectionClass.whenUnlocked.rawValue))
        }
        let (constraints, scope) = try demands(of: subject)
        // Which it is shows in the items that it opens; without one there is nothing to agree to.
        if subject.takesApplicationPassword, book.applicationKey(in: session, at: moment) == nil {
            throw KeychainError(.authFailed, reason: .authenticationFailed)
        }
        let open = constraints.filter { !book.meets($0, in: scope, of: session, at: moment) }
        for constraint in open { try refuse(unprovable: constraint, at: moment) }
        return (open, scope)
    }

    mutating func isMet(
        _ subject: AuthenticationCase.Subject, in session: AuthenticationSessionID, reusing age: Duration,
        at moment: Duration
    ) throws(KeychainError) -> Bool {
        let (open, scope) = try open(subject, in: session, at: moment)
        if open.isEmpty { return true }
        guard case .context = scope, let proved = finger(within: age, at: moment),
            open.allSatisfy({ $0.isMet(by: proved) })
        else { return false }
        book.agree(in: session, by: proved, for: scope, at: moment)
        audit.witness.note(.agreed, at: moment)
        return true
    }

    /// - Returns: the question's name; nil where it is met already.
    mutating func ask(
        _ question: AuthenticationCase, in session: AuthenticationSessionID, at moment: Duration
    ) throws(KeychainError) -> [UInt8]? {
        let (open, scope) = try open(question.subject, in: session, at: moment)
        guard !open.isEmpty else { return nil }
        let seconds = max(1, min(question.question.secondsLeft, 60))
        let name = book.ask(
            PendingQuestion(
                session: session, shown: Self.shown(question), constraints: open, scope: scope,
                notAfter: moment + .seconds(seconds)), at: moment)
        guard let name else {
            throw KeychainError(.interactionNotAllowed, reason: .nobodyToAsk(why: "too many questions wait"))
        }
        return name
    }

    /// The question with what is known here in place of the daemon's word: which items,
    /// and what for. Rows that are bound to no names come last, with the daemon's names.
    private static func shown(_ question: AuthenticationCase) -> PersonQuestion {
        var shown = question.question
        guard case .rows(let rows, _) = question.subject else {
            (shown.items, shown.itemCount, shown.itemsAreBound) = ([], 0, false)
            switch shown.purpose {
            case .agree, .deputy, .deputyOnce: break
            case .useItem, .unlock: shown.purpose = .agree
            }
            return shown
        }
        var known = Set<[UInt8]>()
        let bindings = rows.map(\.binding).filter { known.insert($0.uuid).inserted }
        let names = bindings.compactMap(\.shown)
        shown.purpose = .useItem
        shown.itemCount = bindings.count
        shown.itemsAreBound = names.count == bindings.count
        let others = shown.itemsAreBound ? [] : shown.items.filter { !names.contains($0) }
        shown.items = Array((names + others).prefix(PersonQuestion.mostItems))
        return shown
    }

    /// The constraints that were stored with the rows, which each wrapped key proves.
    private mutating func demands(
        of subject: AuthenticationCase.Subject
    ) throws(KeychainError) -> ([AccessConstraint], AgreementScope) {
        switch subject {
        case .policy(.deviceOwner): return ([.deviceOwner], .context)
        case .policy(.biometry): return ([.biometry(currentSet: false)], .context)
        case .accessControl(let encoding, let operation):
            guard let access = AccessControl(encoded: encoding) else { throw Self.wrong }
            // Making an item or a key is what any of its operations would ask.
            let constraints =
                operation.isEmpty ? Array(access.constraints.values) : [access.constraint(for: operation)]
            return (constraints.filter { $0 != .allowed }, .context)
        case .rows(let rows, let operation):
            var constraints: [AccessConstraint] = []
            for row in rows {
                guard let access = row.binding.decodedAccessControl, isAsStored(row, access) else { throw Self.wrong }
                constraints.append(access.constraint(for: operation))
            }
            return (constraints.filter { $0 != .allowed }, .rows(Set(rows.map(\.binding.uuid))))
        }
    }

    /// Whether the row was stored with this binding, and so with this constraint.
    private func isAsStored(_ row: (binding: RowBinding, wrapped: WrappedKey), _ access: AccessControl) -> Bool {
        let outcome = open(
            row.wrapped, of: row.binding.protectionClass, isLayered: access.requiresApplicationPassword
        ) { WrapBinding.rowKey(store: store, row.binding, generation: row.wrapped.generation) }
        if case .key = outcome { return true }
        return false
    }

    /// - Throws: where everything that a person could prove now would not be enough.
    private func refuse(unprovable constraint: AccessConstraint, at moment: Duration) throws(KeychainError) {
        if let obstacle = means(at: moment).obstacle(to: constraint) {
            throw KeychainError(.authFailed, reason: obstacle)
        }
    }

    static let invalidContext = KeychainError(.authFailed, reason: .contextInvalid)

    // MARK: The person

    func question(_ name: [UInt8], at moment: Duration) -> PersonQuestion? {
        guard let pending = book[question: name], pending.outcome == nil, pending.notAfter > moment else { return nil }
        var shown = pending.shown
        shown.secondsLeft = Int((pending.notAfter - moment).components.seconds)
        shown.finger = finger(for: pending, at: moment)
        return shown
    }

    /// What a finger would be good for, beside what was proved.
    private func finger(for pending: PendingQuestion, at moment: Duration) -> PersonQuestion.Finger {
        guard let enrolment = means(at: moment).provable.biometry else { return .none }
        func isEnough(passcode: Bool, finger: Bool) -> Bool {
            let proved = ProvedFactors(
                passcode: passcode || pending.proved.passcode, biometry: finger ? enrolment : pending.proved.biometry)
            return pending.constraints.allSatisfy { $0.isMet(by: proved) }
        }
        switch (isEnough(passcode: true, finger: false), isEnough(passcode: false, finger: true)) {
        case (true, true): return .orPasscode
        case (false, true): return .alone
        case (true, false): return .none
        case (false, false): return isEnough(passcode: true, finger: true) ? .andPasscode : .none
        }
    }

    /// Whether the passcode would not be enough for what is left to be proved.
    func needsFinger(_ name: [UInt8]) -> Bool {
        guard let pending = book[question: name], pending.outcome == nil else { return false }
        let proved = ProvedFactors(passcode: true, biometry: pending.proved.biometry)
        return !pending.constraints.allSatisfy { $0.isMet(by: proved) }
    }

    /// A finger that is nobody's that the source of biometry knows.
    mutating func missFinger(at moment: Duration) {
        trust.miss()
        audit.witness.note(.attemptFailed, at: moment)
        if !trust.isGiven(at: moment) { forgetKept() }
    }

    /// What has to be derived before ``agree(to:with:at:)``.
    func derivation(
        agreeingTo name: [UInt8], with credential: PersonCredential, at moment: Duration
    ) throws(KeychainError) -> PersonDerivation {
        guard question(name, at: moment) != nil else { throw Self.nothingAsked }
        guard case .passcode = credential else { throw Self.wrong }
        return try derivation(for: .unlock(credential), at: moment)
    }

    mutating func agree(
        to name: [UInt8], with derived: DerivedSecrets, at moment: Duration
    ) throws(KeychainError) {
        guard let pending = book[question: name], pending.outcome == nil, pending.notAfter > moment else {
            forgetAttempt()
            throw Self.nothingAsked
        }
        try check(derived.credential, at: moment)
        try agree(to: name, pending, ProvedFactors(passcode: true), at: moment)
    }

    /// A finger or face that the source of biometry knows. Reached by that source alone.
    mutating func agreeByBiometry(to name: [UInt8], at moment: Duration) throws(KeychainError) {
        guard let pending = book[question: name], pending.outcome == nil, pending.notAfter > moment else {
            throw Self.nothingAsked
        }
        guard let enrolment = means(at: moment).provable.biometry else {
            throw KeychainError(.authFailed, reason: .biometryNotAvailable)
        }
        trust.recognize()
        try agree(to: name, pending, ProvedFactors(biometry: enrolment), at: moment)
    }

    private mutating func agree(
        to name: [UInt8], _ pending: PendingQuestion, _ proved: ProvedFactors, at moment: Duration
    ) throws(KeychainError) {
        // Where passcode and finger are asked for, one comes after the other.
        let together = book.prove(proved, for: name)
        guard pending.constraints.allSatisfy({ $0.isMet(by: together) }) else {
            // Nothing more than before: it will not be enough another time either.
            if together == pending.proved { throw Self.wrong }
            return
        }
        book.agree(to: name, by: together, at: moment)
        audit.witness.note(.agreed, at: moment)
    }

    static let nothingAsked = KeychainError(.param, reason: .notAllowedHere(key: "an answer"))
}
