internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// A recovery code that was shown and not yet typed back: with the passcode's
/// secret, because a code before it then goes and what is below the slots is rolled.
struct PendingCode: Sendable {
    let code: DerivedSecret
    /// nil where there is none.
    let passcode: DerivedSecret?
}

extension EnclaveCore {
    // MARK: Before the slow part

    /// What has to be derived for a request; refuses what needs no derivation to
    /// be refused.
    ///
    /// - Throws: `errSecAuthFailed` (`attemptsDelayed`, `passcodeNotSet`),
    ///   `errSecParam` (`passcodeIsSet`, `passcodeRefused`).
    func derivation(for request: PersonRequest, at moment: Duration) throws(KeychainError) -> PersonDerivation {
        try refuse(request, at: moment)
        if case .slot(let request) = request { try refuse(request) }
        if case .keepEffacement(let address, _, let code) = request { try refuse(keepingIn: address, code: code) }
        if case .count(let address, _, let code) = request { try refuse(countingIn: address, code: code) }
        if case .removeRecoveryCode = request { try refuseLosingTheCode() }
        var typed: (kind: SlotKind, secret: SharedSecret, PasscodeSlotParameters)?
        var recovery: SharedSecret?
        switch request.credential {
        case .passcode(let passcode):
            guard let parameters = keybag.body.slot(.passcode)?.passcode else { throw Self.noPasscode }
            typed = (.passcode, passcode, parameters)
        case .login(let password): typed = (.login, password, PasscodeSlotParameters(try loginDerivation()))
        case .recoveryCode(let code):
            guard keybag.body.slot(.recovery) != nil else { throw Self.wrong }
            recovery = code
        case nil: break
        }
        var derivation = PersonDerivation(
            typed: typed, recovery: recovery, new: request.new, cost: cost, hardware: hardware)
        derivation.work = try deviceWork(for: request)
        if let guardian = guardian(for: request) {
            derivation.work = DeviceWork(jobs: [], hardware: hardware, guardian: guardian)
        }
        switch request {
        case .protector(.remove(_, _, .brought(let code))): derivation.code = code
        case .slot(.remove(_, _, let code)), .guardPasscode(_, _, let code), .keepEffacement(_, _, let code),
            .count(_, _, let code):
            derivation.code = code
        case .acceptCopy(let code, _): derivation.code = code
        default: break
        }
        return derivation
    }

    private func refuse(_ request: PersonRequest, at moment: Duration) throws(KeychainError) {
        if request.credential != nil {
            guard keybag.body.hasPasscode else { throw Self.noPasscode }
            let seconds = attempts.secondsToNext(at: moment)
            guard seconds == 0 else { throw KeychainError(.authFailed, reason: .attemptsDelayed(seconds: seconds)) }
        }
        if case .setPasscode = request, keybag.body.hasPasscode { throw .parameter(.passcodeIsSet) }
        if request.needsPasscode, request.credential == nil, keybag.body.hasPasscode { throw Self.wrong }
        if case .lock = request, !keybag.body.hasPasscode { throw Self.noPasscode }
        if case .guardPasscode(.some, _, nil) = request, keybag.body.slot(.recovery) != nil {
            throw .slot("the recovery code is needed as well")
        }
        if let new = request.new { try Self.refuse(passcode: new.typed) }
    }

    /// Which TPM is to guard the passcode afterwards. One that is reset with the recovery
    /// code is guarded by none: the TPM may be gone.
    private func guardian(for request: PersonRequest) -> TPMAddress? {
        switch request {
        case .changePasscode: keybag.body.slot(.passcode)?.passcode?.guardian?.address
        case .guardPasscode(let address, _, _): address
        default: nil
        }
    }

    private static func refuse(passcode: SharedSecret) throws(KeychainError) {
        let limits = PersonRequest.passcodeBytes
        guard passcode.bytes.count >= limits.lowerBound else {
            throw .parameter(.passcodeRefused(why: "it has fewer than \(limits.lowerBound) characters"))
        }
        guard passcode.bytes.count <= limits.upperBound else {
            throw .parameter(.passcodeRefused(why: "it has more than \(limits.upperBound) bytes"))
        }
    }

    // MARK: After it

    /// Does what was asked, with what was derived for it; nothing is changed where
    /// it throws.
    ///
    /// - Returns: a recovery code to be shown, where one was asked for.
    /// - Throws: as ``PersonDoor`` says.
    mutating func perform(
        _ request: PersonRequest, with derived: DerivedSecrets, at moment: Duration
    ) throws(KeychainError) -> PersonOutcome {
        if request.credential != nil { try check(derived.credential, at: moment) }
        reading = derived.devices?.effacement.reading
        defer { reading = nil }
        if case .protector(let request) = request { return try perform(request, with: derived, at: moment) }
        if case .slot(let request) = request { return try perform(request, with: derived, at: moment) }
        if case .giveEffacementUp = request { try refuseGivingUp() }
        if case .acceptCopy(_, let givingUp) = request { try acceptCopy(derived, givingUp: givingUp) }
        do throws(KeybagError) {
            switch request {
            case .unlock, .unlockByLogin: try open(derived.credential)
            case .changeLogin: try changeLogin(derived)
            case .lock: close(at: moment)
            case .setPasscode:
                try change(.rolled, [derived.new])
                trust.give(at: moment)
            case .changePasscode: try changePasscode(derived)
            case .resetPasscode:
                try open(derived.credential)
                try change(.effaced, [derived.new, derived.credential])
            case .removePasscode:
                try open(derived.credential)
                try change(.effaced, [])
            case .makeRecoveryCode: return makeRecoveryCode(derived)
            case .confirmRecoveryCode(let typed):
                guard let code = RecoveryCode.parse(typed.bytes) else { throw .unreadable(.slotRefuses) }
                try confirm(code, derived.devices)
            case .removeRecoveryCode: try removeRecoveryCode(derived)
            case .unlockBySlot(let typed): try unlockBySlot(typed)
            case .setLockPolicy(let policy, _): try set(policy)
            case .guardPasscode(let address, _, _): try guardPasscode(by: address, derived)
            case .keepEffacement(let address, _, _): try keepEffacement(in: address, derived, at: moment)
            case .giveEffacementUp: try giveEffacementUp(derived)
            case .count(nil, _, _):
                if derived.credential != nil { try open(derived.credential) }
                try endCounting()
            case .count: try beginCounting(derived, at: moment)
            case .protector, .slot, .acceptCopy: break
            }
        } catch {
            throw error == .unreadable(.slotRefuses) ? Self.wrong : error.asKeychainError
        }
        if let kind = request.auditKind { audit.witness.note(kind, at: moment) }
        lastUse = moment
        stateNumber += 1
        return .done
    }

    /// Whether what a person brought opens a slot; counts where it does not.
    mutating func check(_ credential: DerivedSecret?, at moment: Duration) throws(KeychainError) {
        guard let credential else { throw Self.wrong }
        guard isCounted(credential) else {
            throw KeybagError.device(.failed("the attempt was not counted, and not tried")).asKeychainError
        }
        guard keybag.accepts(credential.slotSecret) else {
            audit.witness.note(.attemptFailed, at: moment)
            let isLogin = credential.kind == .login
            if attempts.fail(with: credential.secret.bytes, isLogin: isLogin, at: moment) { rememberAttempts() }
            throw Self.wrong
        }
        lastUse = moment
        let isForgotten = credential.kind == .login ? attempts.succeedWithLogin() : attempts.succeed()
        if credential.kind != .login { trust.give(at: moment) }
        // What was counted before it was tried counts no more: nothing from before says less.
        let isCounted = counter.map { $0.writtenFailed != attempts.failed } ?? false
        if isForgotten || isCounted { rememberAttempts() }
    }

    /// A count that cannot be written holds as long as this process.
    mutating func rememberAttempts() {
        stateNumber += 1
        // The TPM counted it, and the file says so already.
        guard counter?.writtenFailed != attempts.failed else { return }
        do throws(KeybagError) {
            let body = AttemptsBody(store: store, failed: attempts.failed, anchor: counter?.anchor)
            note(unwrittenAttempts: try storage.write(body, root: keybag.root))
            counter?.writtenFailed = attempts.failed
        } catch {
            let file = AuthenticatedFile.Kind.attempts.fileName
            note(unwrittenAttempts: [RepairFailure(fileName: file, error: error)])
        }
    }

    mutating func note(unwrittenAttempts failures: [RepairFailure]) { note(unwritten: failures, of: .attempts) }

    /// Both copies of a file were to be written: what was not before is by now, but for `failures`.
    mutating func note(unwritten failures: [RepairFailure], of kind: AuthenticatedFile.Kind) {
        unrepaired = unrepaired.filter { !$0.fileName.hasPrefix(kind.fileName) } + failures
    }

    mutating func open(_ credential: DerivedSecret?) throws(KeybagError) {
        guard let credential else { throw .unreadable(.slotRefuses) }
        let found = try effacement()
        // What is open stays open, whether or not its TPM is still there.
        if found.isAwaited, ring.openClasses.contains(.whenPasscodeSetThisDeviceOnly) {
            guard keybag.accepts(credential.slotSecret) else { throw .unreadable(.slotRefuses) }
            return
        }
        let before = (keybag.lock, ring.openClasses)
        try keybag.unlock(with: credential.slotSecret, effacement: found.secret, isAwaited: found.isAwaited)
        kept = nil
        // Told also where what it was opened for then fails.
        if before != (keybag.lock, ring.openClasses) { stateNumber += 1 }
        note(found)
    }

    /// Whether what was to open akpu was there; where nobody asked, what the last one found
    /// stands.
    mutating func note(_ found: EffacementReading) {
        if case .notAsked = found { return }
        unrepaired.removeAll { $0.fileName == EffacementFile.fileName }
        let before = effacementFault
        effacementFault = nil
        // Told also where what it was looked for then fails.
        defer { if effacementFault != before { stateNumber += 1 } }
        guard keybag.body.hasPasscode else { return }
        switch found {
        case .there, .notAsked: break
        case .unreachable(let why): effacementFault = "\(why)"
        case .gone where keybag.body.tpm.place != nil: effacementFault = KeybagError.Cause.effacementMissing.rawValue
        case .gone:
            unrepaired.append(
                RepairFailure(fileName: EffacementFile.fileName, error: Self.effacementMissing))
        }
    }

    private static let effacementMissing = KeybagError.unreadable(.effacementMissing)

    /// Tells that a lock is about to come, where something is open that it closes.
    ///
    /// - Returns: the state in which that is said; nil: there is nothing to announce.
    mutating func announceLock() -> UInt64? {
        guard keybag.body.hasPasscode, keybag.lock == .unlocked, !isClosing else { return nil }
        isClosing = true
        stateNumber += 1
        return stateNumber
    }

    /// As the person chose; nothing where it is not open.
    mutating func lockByItself(at moment: Duration) {
        guard keybag.lock == .unlocked else { return }
        close(at: moment)
        audit.witness.note(.lockedByItself, at: moment)
        stateNumber += 1
    }

    private mutating func close(at moment: Duration) {
        isClosing = false
        closeBag(at: moment)
        book.forgetAgreements()
        pendingCode = nil
        audit.cursor = nil
    }

    /// As after a new start of the process; a keybag without a passcode stays open.
    mutating func forgetFirstUnlock() {
        guard keybag.body.hasPasscode else { return }
        isClosing = false
        forgetFinger()
        effacementFault = nil
        keybag.forgetFirstUnlock()
        trust = BiometryTrust()
        audit.cursor = nil
        book = AuthenticationBook()
        pendingCode = nil
        stateNumber += 1
    }

    /// Whoever was shown the code is gone.
    mutating func forgetPendingCode() { pendingCode = nil }

    private mutating func changePasscode(_ derived: DerivedSecrets) throws(KeybagError) {
        guard derived.new != nil else { throw Self.failure(of: derived.devices) }
        try open(derived.credential)
        try replaceSlot(derived.new)
    }

    private mutating func guardPasscode(by address: TPMAddress?, _ derived: DerivedSecrets) throws(KeybagError) {
        if let code = derived.code { try require(code) }
        guard derived.new != nil else { throw Self.failure(of: derived.devices) }
        try open(derived.credential)
        // What nothing guarded lies, or lay, on a disk; the other way nothing opens more
        // than it did.
        guard address != nil else { return try replaceSlot(derived.new) }
        try change(.rolled, [derived.new, derived.code])
    }

    /// - Throws: where it is not the recovery code.
    func require(_ code: DerivedSecret) throws(KeybagError) {
        guard keybag.body.slot(.recovery) != nil, keybag.accepts(code.slotSecret) else {
            throw .unreadable(.slotRefuses)
        }
    }

    /// One slot anew, the others as they are: nothing below the slots changes.
    mutating func replaceSlot(_ secret: DerivedSecret?, effacement: NewEffacement? = nil) throws(KeybagError) {
        guard let secret else { throw .unreadable(.slotRefuses) }
        let kept = keybag.body.slots.filter { $0.kind != secret.kind }
        try change(.kept, [secret], keeping: kept, effacement: effacement)
    }

    /// Makes, writes and adopts the next keybag: first the new effacement secret,
    /// then the keybag, then the old secret is effaced. After a crash at any point
    /// the old or the new credential opens, and the next opening goes on with the rest.
    mutating func change(
        _ keys: KeybagChange.Keys, _ secrets: [DerivedSecret?], keeping: [KeybagBody.Slot] = [],
        dropping dropped: [UInt8]? = nil, effacement new: NewEffacement? = nil, movingTo newRoot: NewRoot? = nil,
        counting counter: CounterWork.New? = nil
    ) throws(KeybagError) {
        var slots = secrets.isEmpty ? NewSlots.open : NewSlots()
        for case let secret? in secrets { slots.add(secret.slotSecret, parameters: secret.parameters) }
        // What is to be effaced need not be there.
        let present = keys == .effaced || new?.givesUp == true ? nil : try presentEffacement()
        let change = try KeybagChange(
            of: keybag, keys, slots: slots, keeping: keeping, dropping: dropped, effacement: present,
            replacedBy: new, movingTo: newRoot, counting: counter, recording: audit.held != nil)
        // nil where its head cannot be written: another chain begins then. What a person
        // takes away does not wait for the record.
        var record: AuditLedger.Held?
        let beginsRecord = change.audit != nil
        if let chain = change.audit {
            do throws(KeybagError) { record = try prepareAudit(chain) } catch { record = nil }
        }
        if let fresh = change.effacement { try storage.add(fresh, beside: keybag.body.fileEffacement) }
        let failures: [RepairFailure]
        if let newRoot {
            failures = try storage.write(change.body, generation: change.generation, root: newRoot.key)
        } else {
            failures = try storage.write(change.body, generation: change.generation, root: keybag.root)
        }
        keybag.adopt(change)
        if beginsRecord {
            audit.held = record
            audit.pending = nil
            audit.cursor = nil
        }
        // Who agreed may not be who agrees from now on.
        book.forgetAgreements()
        forgetFinger()
        effacementFault = nil
        // What only moves is needed by a copy that still says where it was; what is given
        // up waits for nothing.
        if new?.moves == true, !failures.isEmpty { sparesWhatWent = true }
        if keys == .effaced || new?.givesUp == true { sparesWhatWent = false }
        if !sparesWhatWent { settleEffacement() }
        note(unwritten: failures)
        pendingCode = nil
    }

    /// A keybag was written. What waited for both copies to say the same is done once they
    /// do.
    mutating func note(unwritten failures: [RepairFailure]) {
        note(unwritten: failures, of: .keybag)
        guard sparesWhatWent, failures.isEmpty else { return }
        sparesWhatWent = false
        settleEffacement()
    }

    private mutating func settleEffacement() {
        do throws(KeybagError) {
            try storage.settle(on: keybag.body.fileEffacement)
            unrepaired.removeAll { $0.fileName == EffacementFile.fileName && $0.error != Self.effacementMissing }
        } catch {
            unrepaired.append(RepairFailure(fileName: EffacementFile.fileName, error: error))
        }
    }

    // MARK: Recovery code

    private mutating func makeRecoveryCode(_ derived: DerivedSecrets) -> PersonOutcome {
        let secret = SharedSecret(.random(count: RecoveryCode.byteCount))
        pendingCode = PendingCode(
            code: DerivedSecret(.recovery, secret, parameters: []), passcode: derived.credential)
        return .code(SharedSecret(RecoveryCode.text(of: secret.bytes)))
    }

    /// A code before it lay on the disk, in a slot and as a protector: the wraps lose
    /// their worth, and so the root key is replaced.
    private mutating func confirm(
        _ typed: consuming SecretBytes, _ devices: DeviceWork.Outcome?
    ) throws(KeybagError) {
        guard let pending = pendingCode, pending.code.secret.bytes.isEqual(to: typed),
            (pending.passcode == nil) == !keybag.body.hasPasscode
        else { throw .unreadable(.slotRefuses) }
        if pending.passcode != nil {
            try open(pending.passcode)
            // Before anything is written that a TPM which does not answer would keep from
            // being finished.
            _ = try presentEffacement()
        }
        let hasOne = keybag.body.slot(.recovery) != nil || protectors?.body.contains(.recoveryCode) == true
        guard !hasOne else {
            return try replaceRoot(
                without: { $0.kind == .recoveryCode }, passcode: pending.passcode, code: pending.code, devices)
        }
        try addProtector(of: pending.code)
        if pending.passcode != nil { try replaceSlot(pending.code) }
        pendingCode = nil
    }

    private mutating func removeRecoveryCode(_ derived: DerivedSecrets) throws(KeybagError) {
        if derived.credential != nil { try open(derived.credential) }
        try replaceRoot(
            without: { $0.kind == .recoveryCode }, passcode: derived.credential, code: nil, derived.devices)
    }

    static let wrong = KeychainError(.authFailed, reason: .authenticationFailed)
    static let noPasscode = KeychainError(.authFailed, reason: .passcodeNotSet)

    // MARK: Locking by itself

    private mutating func set(_ policy: LockPolicy) throws(KeybagError) {
        var next = keybag.body
        next.lockPolicy = policy
        try write(next)
    }

    /// The keybag with nothing else than before below its slots.
    ///
    /// - Parameter sparing: whether a copy that could not be written may need what it says is
    ///   to go.
    mutating func write(_ next: KeybagBody, sparing: Bool = false) throws(KeybagError) {
        guard KeybagBody(parsing: next.encoded) == next else { throw .wouldNotOpen }
        let generation = keybag.generation + 1
        let failures = try storage.write(next, generation: generation, root: keybag.root)
        keybag.adopt(next, generation: generation)
        if sparing, !failures.isEmpty { sparesWhatWent = true }
        note(unwritten: failures)
    }

    /// When it has gone unused for as long as it may, by the time since boot; nil: it is
    /// not open, or stays so.
    var idleLockDue: Duration? {
        // Whoever writes down a recovery code has shown who they are.
        guard keybag.body.hasPasscode, keybag.lock == .unlocked, !isClosing, pendingCode == nil,
            let seconds = keybag.body.lockPolicy.idleSeconds
        else { return nil }
        return lastUse + .seconds(seconds)
    }

    // MARK: Old generations

    /// Forgets the class keys of a class below a generation: nothing in the
    /// database is wrapped under them any more.
    ///
    /// - Throws: where the keybag cannot be written; they stay then.
    mutating func retire(_ protectionClass: ProtectionClass, below generation: UInt32) throws(KeybagError) {
        guard case .key(let newest) = ring.current(protectionClass), generation <= newest.generation else { return }
        var slimmer = keybag.body
        slimmer.classKeys.removeAll {
            $0.protectionClass == protectionClass && $0.generation < generation
        }
        guard slimmer.classKeys.count < keybag.body.classKeys.count else { return }
        let next = keybag.generation + 1
        let failures = try storage.write(slimmer, generation: next, root: keybag.root)
        keybag.adopt(slimmer, generation: next)
        note(unwritten: failures)
    }
}
