internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The effacement secret, where a TPM has it.
///
/// The keybag names an index that is to be made before it is made, and one that is to go
/// until it is gone: what a crash leaves is destroyed at the next start, or after the next
/// request of a person that brings a credential.
extension EnclaveCore {
    // MARK: Before devices are asked

    /// Whether a TPM has a part in a request, whatever else has.
    func asksTPM(for request: PersonRequest) -> Bool {
        switch request {
        case .keepEffacement(.some, _, _), .count(.some, _, _): return true
        case .acceptCopy(_, let givingUp): return !givingUp && counter != nil
        default: break
        }
        return keybag.body.tpm.place != nil && request.usesEffacement
    }

    /// What devices have to do for a request whose credential is right; nil: nothing.
    ///
    /// - Parameter work: what the request takes besides.
    /// - Throws: `errSecAuthFailed` for a recovery code that is not right; where a new index
    ///   cannot be announced.
    mutating func devices(
        for request: PersonRequest, _ work: DeviceWork?, _ derived: DerivedSecrets
    ) throws(KeychainError) -> DeviceWork? {
        var effacement = EffacementWork()
        var counting: CounterWork?
        do throws(KeybagError) {
            if request.usesEffacement { effacement.reading = try reading(for: derived.credential ?? pending(request)) }
            if case .keepEffacement(let address?, _, _) = request {
                if let code = derived.code { try require(code) }
                effacement.meeting = address
            }
            if case .count(let address?, _, _) = request {
                if let code = derived.code { try require(code) }
                counting = .meet(address)
            }
            if case .acceptCopy = request { counting = try accepting(derived) }
        } catch { throw error == .unreadable(.slotRefuses) ? Self.wrong : error.asKeychainError }
        guard !effacement.isEmpty || counting != nil else { return work }
        var work = work ?? DeviceWork(jobs: [], hardware: hardware)
        if !effacement.isEmpty { work.effacement = effacement }
        work.counter = counting
        return work
    }

    /// What they have to do once they have done that; nil: nothing.
    ///
    /// - Throws: where a new index cannot be announced.
    mutating func devices(
        for request: PersonRequest, after derived: DerivedSecrets
    ) throws(KeychainError) -> DeviceWork? {
        if case .count(let address?, _, _) = request { return try counter(in: address, after: derived) }
        guard case .keepEffacement(let address?, _, _) = request, let outcome = derived.devices?.effacement,
            let storageKey = outcome.storageKey, outcome.reading?.isAwaited != true
        else { return nil }
        var work = DeviceWork(jobs: [], hardware: hardware)
        var effacement = EffacementWork()
        do throws(KeybagError) { effacement.defining = try announceIndex(in: address, storageKey) } catch {
            throw error.asKeychainError
        }
        work.effacement = effacement
        return work
    }

    private mutating func counter(
        in address: TPMAddress, after derived: DerivedSecrets
    ) throws(KeychainError) -> DeviceWork? {
        guard case .met(let storageKey)? = derived.devices?.counter,
            derived.devices?.effacement.reading?.isAwaited != true
        else { return nil }
        var work = DeviceWork(jobs: [], hardware: hardware)
        do throws(KeybagError) { work.counter = .define(try announceCounter(in: address, storageKey)) } catch {
            throw error.asKeychainError
        }
        return work
    }

    /// The passcode that was brought when the code was made that is confirmed now.
    private func pending(_ request: PersonRequest) -> DerivedSecret? {
        if case .confirmRecoveryCode = request { pendingCode?.passcode } else { nil }
    }

    private func reading(
        for credential: DerivedSecret?
    ) throws(KeybagError) -> (index: TPMIndex, password: SharedSecret, name: [UInt8])? {
        guard let credential, let place = keybag.body.tpm.place,
            let password = try keybag.effacementPassword(with: credential.slotSecret)
        else { return nil }
        return (place.index, password, keybag.body.effacement)
    }

    /// A new index, which the keybag says is to go as long as it does not name it.
    private mutating func announceIndex(
        in address: TPMAddress, _ storageKey: [UInt8]
    ) throws(KeybagError) -> EffacementWork.New {
        guard let index = TPMIndex.random(in: address, storageKey) else { throw .wouldNotOpen }
        var next = keybag.body
        next.tpm.undefining.append(index)
        try write(next)
        stateNumber += 1
        return EffacementWork.New(
            index: index, password: SharedSecret(.random(count: HardwareProtocol.secretByteCount)), secret: .random())
    }

    /// What needs no passcode and no device to be refused.
    func refuse(keepingIn address: TPMAddress?, code: SharedSecret?) throws(KeychainError) {
        let tpm = keybag.body.tpm
        guard tpm.place?.index.address != address else {
            throw .slot(
                address == nil
                    ? "the file has it already"
                    : "that TPM has it already; where it was cleared, give that up first "
                        + "(`latchkey passcode effacement file --give-up`)")
        }
        guard address != nil else { return }
        guard code != nil || keybag.body.slot(.recovery) == nil else {
            throw .slot("the recovery code is needed as well")
        }
        guard tpm.undefining.count < TPMEffacement.mostBegun else {
            throw .slot("TPMs that do not answer have \(tpm.undefining.count) secrets that are still to be destroyed")
        }
    }

    // MARK: After it

    /// What became of the present secret.
    ///
    /// - Throws: what says nothing about the file (no memory, no permission).
    func effacement() throws(KeybagError) -> EffacementReading {
        guard keybag.body.tpm.place == nil else {
            return reading ?? .notAsked
        }
        let name = keybag.body.effacement
        guard !name.isEmpty, let secret = try storage.effacement(named: name) else { return .gone }
        return .there(secret)
    }

    /// For a change of the keybag, which would give up what it cannot read.
    ///
    /// - Returns: nil where nobody has it any more.
    func presentEffacement() throws(KeybagError) -> EffacementSecret? {
        switch try effacement() {
        case .there(let secret): return secret
        case .gone: return nil
        case .unreachable(let why): throw .device(.failed("\(why). \(Self.keptBack)"))
        case .notAsked: throw .device(.failed("no TPM was asked. \(Self.keptBack)"))
        }
    }

    private static let keptBack =
        "The TPM has what opens items that last as long as the passcode, so nothing was changed; where it does not come "
        + "back, `latchkey passcode effacement file --give-up` gives them up"

    mutating func keepEffacement(
        in address: TPMAddress?, _ derived: DerivedSecrets, at moment: Duration
    ) throws(KeybagError) {
        try open(derived.credential)
        guard address != nil else { return try replaceSlot(derived.credential, effacement: .file) }
        if keybag.body.tpm.place != nil { _ = try presentEffacement() }
        let outcome = derived.devices?.effacement
        guard let new = outcome?.defined else {
            // What was announced last is what was asked for.
            if outcome?.isInDoubt == true, let announced = keybag.body.tpm.undefining.last {
                doubtful.append((announced, moment + HardwareProtocol.longestOperation))
            }
            throw .device(outcome?.refusal ?? .failed("it was not asked"))
        }
        // Copies of the file have the secret from before: what comes later has another key.
        try change(
            .rolled, [derived.credential, derived.code],
            effacement: .tpm(new.secret, new.index, password: new.password))
    }

    /// Whoever has the passcode says that nobody is to wait any longer for a TPM that does
    /// not come back.
    mutating func giveEffacementUp(_ derived: DerivedSecrets) throws(KeybagError) {
        try open(derived.credential)
        guard keybag.body.tpm.place != nil else {
            var next = keybag.body
            next.tpm.undefining = []
            return try write(next)
        }
        try replaceSlot(derived.credential, effacement: .fileInPlaceOfLost)
    }

    /// What it is not needed for.
    func refuseGivingUp() throws(KeychainError) {
        let tpm = keybag.body.tpm
        if case .there? = reading { throw .slot("the TPM gives it out; without --give-up nothing is lost") }
        guard !tpm.isEmpty else { throw .slot("no TPM has anything of it") }
    }

    // MARK: What is to be destroyed

    /// What TPMs still have to do of a request that was done; nil: nothing.
    mutating func remainder(of request: PersonRequest, at moment: Duration) -> DeviceWork? {
        var work = request.credential == nil ? nil : undefining(at: moment)
        guard let counting = countingChange(of: request) else { return work }
        work = work ?? counting
        work?.counter = counting.counter
        return work
    }

    /// But for what may come to be there yet: not finding that would say nothing. And
    /// nothing on the word of one copy of the keybag, where the other may need it.
    ///
    /// - Returns: nil: nothing.
    mutating func undefining(at moment: Duration) -> DeviceWork? {
        guard !sparesWhatWent else { return nil }
        doubtful.removeAll { $0.until <= moment }
        let all = keybag.body.tpm.undefining + keybag.body.counter.undefining
        let left = all.filter { index in !doubtful.contains { $0.index.isSame(as: index) } }
        guard !left.isEmpty else { return nil }
        var work = DeviceWork(jobs: [], hardware: hardware)
        work.effacement = EffacementWork(undefining: left)
        return work
    }

    /// Forgets what is gone. Where that cannot be written it is looked for once more.
    mutating func forget(_ undefined: [TPMIndex]) {
        var next = keybag.body
        next.tpm.undefining.removeAll { index in undefined.contains { $0.isSame(as: index) } }
        next.counter.undefining.removeAll { index in undefined.contains { $0.isSame(as: index) } }
        guard next != keybag.body else { return }
        stateNumber += 1
        do throws(KeybagError) { try write(next) } catch {
            unrepaired.append(RepairFailure(fileName: AuthenticatedFile.Kind.keybag.fileName, error: error))
        }
    }

    /// At a start nobody else asks anything yet, and somebody waits for it.
    ///
    /// - Parameter patience: what devices have not taken of an opening's.
    mutating func undefineAtStart(within patience: Duration) {
        guard patience > .zero, let work = undefining(at: .zero)?.effacement else { return }
        forget(work.done(by: hardware, patience: patience).undefined)
    }
}

extension PersonRequest {
    /// Whether it opens the class akpu or wraps its keys anew. What destroys them needs no
    /// TPM that answers, and for what does neither nobody waits for one.
    fileprivate var usesEffacement: Bool {
        switch self {
        case .resetPasscode, .removePasscode, .setLockPolicy, .changeLogin, .makeRecoveryCode, .lock, .setPasscode,
            .unlockBySlot, .acceptCopy, .count(nil, _, _):
            false
        case .protector(.list), .protector(.test), .protector(.add), .protector(.reseal): false
        case .slot(.list), .slot(.add(.fingerprint, _)), .slot(.removeFingerprint): false
        case .unlock, .unlockByLogin, .changePasscode, .confirmRecoveryCode, .removeRecoveryCode, .guardPasscode,
            .keepEffacement, .giveEffacementUp, .count(.some, _, _), .protector(.remove), .slot(.add), .slot(.remove):
            true
        }
    }
}

extension TPMIndex {
    /// A new one; nil for a storage key that is none.
    static func random(in address: TPMAddress, _ storageKey: [UInt8]) -> TPMIndex? {
        let number = Random.bytes(4).reduce(0) { $0 << 8 | UInt32($1) }
        let handle = handles.lowerBound + number % UInt32(handles.count)
        return TPMIndex(
            address: address, handle: handle, label: Random.bytes(labelByteCount), storageKey: storageKey)
    }
}
