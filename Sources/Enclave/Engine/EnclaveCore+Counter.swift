internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The counter of a TPM that tells an older copy of the folder from the newest.
///
/// An attempt is counted before it is tried, so that who puts the folder back has no more of
/// them; a change once it is written. Between the two counts the daemon may have the keybag
/// written, which then is newer than what the count vouches for, and accepted.
extension EnclaveCore {
    /// Of the files that the count vouches for.
    var generations: FileGenerations {
        FileGenerations(keybag: keybag.generation, protectors: protectors?.written ?? 0)
    }

    private func work(_ counting: CounterWork) -> DeviceWork {
        var work = DeviceWork(jobs: [], hardware: hardware)
        work.counter = counting
        return work
    }

    // MARK: At an opening

    /// - Throws: where a folder that a person accepts cannot be written.
    mutating func take(_ standing: CounterStanding, at moment: Duration) throws(KeybagError) {
        switch standing {
        case .uncounted: break
        case .proved(let proved): counter = proved
        case .accepted(let next?):
            try accept(goingOnWith: next)
            wasAccepted = true
            audit.witness.note(.copyAccepted, at: moment)
            countAtOnce()
        case .accepted(nil):
            let didCount = keybag.body.counter.place != nil
            try endCounting()
            wasAccepted = true
            audit.witness.note(.copyAccepted, at: moment)
            if didCount { audit.witness.note(.counterEnded, at: moment) }
        }
    }

    /// What was written after this copy, elsewhere, passes for newer no more.
    private mutating func accept(goingOnWith next: FolderCounter) throws(KeybagError) {
        let generation = max(keybag.generation + 1, next.generation)
        let failures = try storage.write(keybag.body, generation: generation, root: keybag.root)
        keybag.adopt(keybag.body, generation: generation)
        note(unwritten: failures)
        var next = next
        next.anchor.least = generations
        try remember(failed: attempts.failed, next.anchor)
        next.writtenFailed = attempts.failed
        counter = next
    }

    /// Before that the copy which was the newest passes as well. Where the TPM does not answer
    /// now, it is told (``CounterState/fault``), and the next attempt does it.
    private mutating func countAtOnce() {
        guard let work = counter?.work else { return }
        do throws(KeybagError) {
            try take(work.done(by: hardware, patience: ProtectorKeys.patience))
        } catch { return }
    }

    /// What a counter left that never began to count, or that was ended when the file could not
    /// be written: a program that knows of no counter does not read it.
    mutating func forgetUnusedAnchor() {
        if counter == nil { rememberAttempts() }
    }

    // MARK: An attempt

    /// What has to be counted before a credential is tried, from one answer of the TPM to the
    /// next; nil: nothing any more.
    ///
    /// A recovery code is not counted: nobody guesses 128 random bits, and it has to open where
    /// the TPM is gone. A passcode that a TPM guards is counted by that as well.
    ///
    /// - Throws: where it cannot be counted. Then it was not tried, and does not count.
    mutating func counting(_ derived: DerivedSecrets) throws(KeychainError) -> DeviceWork? {
        guard counter != nil, let credential = derived.credential, credential.kind.isGuessed,
            !knows(credential)
        else { return nil }
        let mark = self.mark(of: credential)
        do throws(KeybagError) {
            if let counted = derived.counted { try take(counted) } else { counter?.attempt = .none }
            guard let counter else { return nil }
            guard counter.isEven else { return work(counter.work) }
            guard counter.attempt != .written(mark) else {
                self.counter?.attempt = .counted(mark)
                return nil
            }
            let next = try count(failed: attempts.failed + 1)
            self.counter?.attempt = .written(mark)
            return work(next)
        } catch {
            forgetAttempt()
            throw error.asKeychainError
        }
    }

    private func knows(_ credential: DerivedSecret) -> Bool {
        attempts.knows(credential.secret.bytes, isLogin: credential.kind == .login)
    }

    private func mark(of credential: DerivedSecret) -> [UInt8] {
        attempts.mark(of: credential.secret.bytes, isLogin: credential.kind == .login)
    }

    /// Whether it may be tried.
    func isCounted(_ credential: DerivedSecret) -> Bool {
        guard let counter, credential.kind.isGuessed, !knows(credential) else { return true }
        return counter.attempt == .counted(mark(of: credential))
    }

    /// What was never tried does not stay counted.
    mutating func forgetAttempt() {
        guard let counter, counter.attempt != .none else { return }
        self.counter?.attempt = .none
        if counter.writtenFailed != attempts.failed { rememberAttempts() }
    }

    // MARK: After a request

    /// What the TPM has to count of a request that was done; nil: nothing any more.
    mutating func countingChange(of request: PersonRequest) -> DeviceWork? {
        guard let counter else { return nil }
        let generations = generations
        if request.changesWhatOpens, counter.anchor.least.areOlder(than: generations) {
            self.counter?.owed = generations
        }
        guard request.changesWhatOpens || request.credential != nil else { return nil }
        return countingWhatIsOwed()
    }

    private mutating func countingWhatIsOwed() -> DeviceWork? {
        guard let counter else { return nil }
        guard counter.isEven else { return work(counter.work) }
        guard let owed = counter.owed, counter.anchor.least.areOlder(than: owed) else {
            self.counter?.owed = nil
            return nil
        }
        do throws(KeybagError) { return work(try count(failed: attempts.failed)) } catch {
            fault(error.asKeychainError.reason.explanation)
            return nil
        }
    }

    /// What came of it.
    ///
    /// - Returns: what is left to be counted.
    mutating func countedChange(_ outcome: CounterWork.Outcome) -> DeviceWork? {
        do throws(KeybagError) { try take(outcome) } catch { return nil }
        return countingWhatIsOwed()
    }

    // MARK: One count

    /// The file says it first.
    private mutating func count(failed: Int) throws(KeybagError) -> CounterWork {
        guard var next = counter, let anchor = next.anchor.next(least: generations) else {
            throw .notVouchedFor(.noCount)
        }
        try remember(failed: failed, anchor)
        (next.anchor, next.writtenFailed) = (anchor, failed)
        counter = next
        return next.work
    }

    /// - Throws: where neither copy of the file could be written.
    private mutating func remember(failed: Int, _ anchor: Anchor?) throws(KeybagError) {
        let body = AttemptsBody(store: store, failed: failed, anchor: anchor)
        note(unwrittenAttempts: try storage.write(body, root: keybag.root))
    }

    /// - Throws: where the TPM has not counted, or not so.
    private mutating func take(_ outcome: CounterWork.Outcome) throws(KeybagError) {
        guard let counter else { return }
        let why: HardwareError
        switch outcome {
        case .counted(let value) where value == counter.anchor.count:
            self.counter?.reached = value
            return fault(nil)
        case .counted(let value) where value > counter.anchor.count:
            why = .failed("it has counted further than this copy of the folder: \(Self.isAccepted)")
        case .counted, .met, .defined:
            why = .failed("it has counted less than this copy of the folder: \(Self.isAccepted)")
        case .refused(let refusal), .inDoubt(let refusal): why = refusal
        }
        // Whether it counted what it was asked for last, nobody knows.
        self.counter?.reached = nil
        fault("\(why)")
        throw .device(why)
    }

    private static let isAccepted =
        "another copy is used beside it, or the TPM's memory is another; `latchkey protector counter accept` goes on "
        + "with this one"

    private mutating func fault(_ why: String?) {
        guard counter?.fault != why else { return }
        counter?.fault = why
        stateNumber += 1
    }

    // MARK: On and off

    /// What needs no passcode and no device to be refused.
    func refuse(countingIn address: TPMAddress?, code: SharedSecret?) throws(KeychainError) {
        let body = keybag.body
        guard let address else {
            guard body.counter.place != nil else { throw .slot("no TPM counts") }
            return
        }
        guard body.counter.place == nil else { throw .slot("a TPM counts already") }
        guard let held = protectors?.body, held.protectors.contains(where: { $0.sealed?.address == address }) else {
            throw .slot("that TPM is no protector: the keychain has to be bound to the one that counts")
        }
        guard !held.contains(.softwareFile) else {
            throw .slot("the software file opens an older copy anywhere; remove it first")
        }
        guard body.hasPasscode else { throw .slot("without a passcode every copy opens; set one first") }
        guard body.slot(.recovery) != nil else {
            throw .slot("without a recovery code nothing would open once the TPM is gone; make one first")
        }
        guard code != nil else { throw .slot("the recovery code is needed as well") }
        guard body.counter.undefining.count < TPMCounter.mostBegun else {
            throw .slot(
                "TPMs that do not answer have \(body.counter.undefining.count) counters that are still to be removed")
        }
    }

    /// A new counter, which the keybag says is to go as long as it does not name it.
    mutating func announceCounter(
        in address: TPMAddress, _ storageKey: [UInt8]
    ) throws(KeybagError) -> CounterWork.New {
        guard let index = TPMIndex.random(in: address, storageKey) else { throw .wouldNotOpen }
        let protector = protectors?.body.protectors.first { $0.sealed?.address == address }?.sealed
        var next = keybag.body
        next.counter.undefining.append(index)
        try write(next)
        stateNumber += 1
        return CounterWork.New(
            index: index, password: SharedSecret(.random(count: HardwareProtocol.secretByteCount)),
            protector: protector)
    }

    mutating func beginCounting(_ derived: DerivedSecrets, at moment: Duration) throws(KeybagError) {
        try open(derived.credential)
        if keybag.body.tpm.place != nil { _ = try presentEffacement() }
        guard case .defined(let new, let value)? = derived.devices?.counter else {
            throw .device(refusal(of: derived.devices?.counter, at: moment))
        }
        guard let anchor = Anchor(label: new.index.label, count: value, least: generations) else {
            throw .device(.failed("it begins at a number that leaves no room"))
        }
        do throws(KeybagError) {
            // First the count, then the keybag that speaks of it: the first alone means nothing.
            try remember(failed: attempts.failed, anchor)
            // Copies from before know of no counter: what comes later has another key.
            try change(.rolled, [derived.credential, derived.code], counting: new)
        } catch {
            // Where that cannot be written either, the next opening does it.
            forgetUnusedAnchor()
            throw error
        }
        guard let place = keybag.body.counter.place else { throw .wouldNotOpen }
        counter = FolderCounter(place, new.password, anchor, writtenFailed: attempts.failed, reached: value)
    }

    private mutating func refusal(of outcome: CounterWork.Outcome?, at moment: Duration) -> HardwareError {
        switch outcome {
        case .inDoubt(let why):
            // What was announced last is what was asked for.
            if let announced = keybag.body.counter.undefining.last {
                doubtful.append((announced, moment + HardwareProtocol.longestOperation))
            }
            return why
        case .refused(let why): return why
        case .met, .defined, .counted, nil: return .failed("it was not asked")
        }
    }

    /// Nothing counts from then on; the TPM is asked to forget it once the keybag says so.
    mutating func endCounting() throws(KeybagError) {
        if keybag.body.counter.place != nil {
            var next = keybag.body
            next.counter.end()
            try write(next, sparing: true)
        }
        counter = nil
        rememberAttempts()
    }

    /// What the TPM has, for whoever has the recovery code of a folder that is open.
    ///
    /// - Throws: where it is not the code.
    func accepting(_ derived: DerivedSecrets) throws(KeybagError) -> CounterWork? {
        try requireCode(derived)
        return counter.map { .read($0.index, password: $0.password) }
    }

    /// Whoever has the recovery code, of a folder that is open: another copy has counted beside
    /// it, or the TPM does not come back.
    mutating func acceptCopy(_ derived: DerivedSecrets, givingUp: Bool) throws(KeychainError) {
        do throws(KeybagError) { try requireCode(derived) } catch { throw Self.wrong }
        guard let counter else { throw .slot("no TPM counts, and this copy is open") }
        let next = givingUp ? nil : try next(of: counter, after: derived.devices?.counter)
        do throws(KeybagError) {
            if let next { try accept(goingOnWith: next) } else { try endCounting() }
        } catch { throw error.asKeychainError }
    }

    private func requireCode(_ derived: DerivedSecrets) throws(KeybagError) {
        guard let code = derived.code, let held = protectors?.body, keybag.opens(code.secret, beside: held) else {
            throw .unreadable(.slotRefuses)
        }
    }

    private func next(
        of counter: FolderCounter, after outcome: CounterWork.Outcome?
    ) throws(KeychainError) -> FolderCounter {
        switch outcome {
        case .counted(let value):
            guard value > counter.anchor.count || value + 1 < counter.anchor.count else {
                throw .slot("the TPM has confirmed this copy; there is nothing to accept")
            }
            let next = FolderCounter(
                counter.place, counter.password, from: value, generations, writtenFailed: attempts.failed)
            guard let next else { throw KeybagError.notVouchedFor(.noCount).asKeychainError }
            return next
        case .refused(let why), .inDoubt(let why):
            throw KeybagError.device(.failed("\(why). \(Self.isGivenUp)")).asKeychainError
        case .met, .defined, nil: throw KeybagError.device(.failed("it was not asked")).asKeychainError
        }
    }

    private static let isGivenUp =
        "Where that TPM does not come back, `latchkey protector counter accept --give-up` goes on without it"

    /// What the counter needs as long as it counts.
    func refuseWhatCountingNeeds(removing protector: ProtectorsBody.Protector) throws(KeychainError) {
        guard let index = keybag.body.counter.place?.index else { return }
        if protector.sealed?.address == index.address {
            throw .slot("that TPM counts; `latchkey protector counter off` comes first")
        }
        if protector.kind == .recoveryCode { try refuseLosingTheCode() }
    }

    func refuseLosingTheCode() throws(KeychainError) {
        guard keybag.body.counter.place != nil else { return }
        throw .slot(
            "with a counter the recovery code is what opens the keychain once the TPM is gone; "
                + "`latchkey protector counter off` comes first")
    }
}

extension SlotKind {
    /// Whether somebody could guess what opens it.
    fileprivate var isGuessed: Bool { self == .passcode || self == .login }
}
