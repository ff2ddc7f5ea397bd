internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// One request of a person to the enclave.
enum PersonRequest: Sendable {
    case unlock(PersonCredential)
    case lock
    case setPasscode(SharedSecret)
    case changePasscode(from: SharedSecret, to: SharedSecret)
    case resetPasscode(code: SharedSecret, to: SharedSecret)
    case removePasscode(PersonCredential)
    /// - Parameter passcode: nil where there is none: the code then opens what the keychain
    ///   is bound to, and nothing else needs opening.
    case makeRecoveryCode(passcode: SharedSecret?)
    case confirmRecoveryCode(SharedSecret)
    case removeRecoveryCode(passcode: SharedSecret?)
    case protector(ProtectorRequest)
    case slot(SlotRequest)
    case setLockPolicy(LockPolicy, passcode: SharedSecret)
    /// A TPM is to look at the passcode, or none any more.
    ///
    /// - Parameter code: the recovery code, needed where there is one: the keys below get a
    ///   new generation, because the passcode that nothing guarded lies on a disk.
    case guardPasscode(TPMAddress?, passcode: SharedSecret, code: SharedSecret?)
    /// A TPM is to keep the effacement secret, or the file again.
    ///
    /// - Parameter code: the recovery code, needed where there is one and a TPM is named: the
    ///   keys below get a new generation, because the secret that the file had lies on a disk.
    case keepEffacement(TPMAddress?, passcode: SharedSecret, code: SharedSecret?)
    /// The TPM that has the effacement secret does not come back: the file gets another, and
    /// what the one before opened is lost.
    case giveEffacementUp(passcode: SharedSecret)
    /// A TPM is to count changes and attempts, so that an older copy of the folder is told, or
    /// none any more.
    ///
    /// - Parameters:
    ///   - passcode: where there is one.
    ///   - code: the recovery code, needed where a TPM is named: the keys below get a new
    ///     generation, because copies from before know of no counter.
    case count(TPMAddress?, passcode: SharedSecret?, code: SharedSecret?)
    /// The counter does not confirm the folder, or the TPM that counts does not come back.
    ///
    /// - Parameter givingUp: nothing counts from then on.
    case acceptCopy(code: SharedSecret, givingUp: Bool)
    /// With what a slot that opens without a person was given; opens nothing that takes one.
    case unlockBySlot(SharedSecret)
    /// With the login password, which takes nothing but this and the next.
    case unlockByLogin(SharedSecret)
    case changeLogin(from: SharedSecret, to: SharedSecret)

    /// What has to open a slot before anything is done.
    var credential: SlotAttempt? {
        switch self {
        case .unlock(let credential), .removePasscode(let credential): SlotAttempt(credential)
        case .changePasscode(let old, _): .passcode(old)
        case .resetPasscode(let code, _): .recoveryCode(code)
        case .makeRecoveryCode(let passcode), .removeRecoveryCode(let passcode): passcode.map { .passcode($0) }
        case .protector(let request): request.passcode.map { .passcode($0) }
        case .slot(let request): request.passcode.map { .passcode($0) }
        case .setLockPolicy(_, let passcode), .guardPasscode(_, let passcode, _), .keepEffacement(_, let passcode, _),
            .giveEffacementUp(let passcode):
            .passcode(passcode)
        case .unlockByLogin(let password), .changeLogin(let password, _): .login(password)
        case .count(_, let passcode, _): passcode.map { .passcode($0) }
        case .lock, .setPasscode, .confirmRecoveryCode, .unlockBySlot, .acceptCopy: nil
        }
    }

    /// Whether it takes the passcode, where there is one.
    var needsPasscode: Bool {
        switch self {
        case .makeRecoveryCode, .removeRecoveryCode, .count: true
        case .protector(let request): request.needsPasscode
        default: false
        }
    }

    /// Whether a copy of the folder from before it may open with what it takes away, or does not
    /// know what it adds.
    var changesWhatOpens: Bool {
        switch self {
        case .unlock, .unlockByLogin, .unlockBySlot, .lock, .makeRecoveryCode, .protector(.list), .protector(.test),
            .slot(.list):
            false
        case .setPasscode, .changePasscode, .resetPasscode, .removePasscode, .confirmRecoveryCode,
            .removeRecoveryCode, .protector, .slot, .setLockPolicy, .guardPasscode, .keepEffacement,
            .giveEffacementUp, .count, .changeLogin, .acceptCopy:
            true
        }
    }

    /// What gets a slot, and which.
    var new: (kind: SlotKind, typed: SharedSecret)? {
        switch self {
        case .setPasscode(let new), .changePasscode(_, let new), .resetPasscode(_, let new): (.passcode, new)
        case .guardPasscode(_, let passcode, _): (.passcode, passcode)
        case .slot(.add(.login(let new), _)), .changeLogin(_, let new): (.login, new)
        default: nil
        }
    }

    /// What a passcode or a login password may have, in bytes.
    static let passcodeBytes = 4...1024
}

/// What somebody opens a slot with, as it was typed.
enum SlotAttempt: Sendable {
    case passcode(SharedSecret)
    case recoveryCode(SharedSecret)
    case login(SharedSecret)

    init(_ credential: PersonCredential) {
        switch credential {
        case .passcode(let typed): self = .passcode(typed)
        case .recoveryCode(let typed): self = .recoveryCode(typed)
        }
    }
}

/// The slow part of a request, which needs nothing but what is in here: it is
/// done on a thread of its own, so that others' keys are opened meanwhile.
struct PersonDerivation: Sendable {
    /// What Argon2id is asked for, and for which slot.
    fileprivate let typed: (kind: SlotKind, secret: SharedSecret, PasscodeSlotParameters)?
    fileprivate let recovery: SharedSecret?
    fileprivate let new: (kind: SlotKind, typed: SharedSecret)?
    private let cost: PasscodeCost
    private let hardware: any HardwareDoor
    /// What devices have to do for it, once what was brought is known to be right.
    var work: DeviceWork?
    /// A recovery code that was brought beside the passcode.
    var code: SharedSecret?

    init(
        typed: (kind: SlotKind, secret: SharedSecret, PasscodeSlotParameters)?, recovery: SharedSecret?,
        new: (kind: SlotKind, typed: SharedSecret)?, cost: PasscodeCost, hardware: any HardwareDoor
    ) {
        self.typed = typed
        self.recovery = recovery
        self.new = new
        self.cost = cost
        self.hardware = hardware
    }

    /// - Throws: `errSecAllocate`, reason `busy`, where the memory for an attempt is
    ///   not there; `errSecParam`, reason `passcodeRefused`, for a new passcode;
    ///   `errSecNotAvailable`, reason `deviceFailed`, where the TPM that guards it does not
    ///   look at it.
    func derive() throws(KeychainError) -> DerivedSecrets {
        var derived = DerivedSecrets()
        if let (kind, typed, parameters) = typed {
            derived.credential = try existingSecret(kind, typed, parameters)
        } else if let recovery {
            guard let code = RecoveryCode.parse(recovery.bytes) else {
                throw .parameter(.malformed(key: "recovery code"))
            }
            derived.credential = DerivedSecret(.recovery, SharedSecret(code), parameters: [])
        }
        if let new { derived.new = try newSecret(new) }
        if let code {
            guard let parsed = RecoveryCode.parse(code.bytes) else {
                throw .parameter(.malformed(key: "recovery code"))
            }
            derived.code = DerivedSecret(.recovery, SharedSecret(parsed), parameters: [])
        }
        return derived
    }

    private func existingSecret(
        _ kind: SlotKind, _ typed: SharedSecret, _ parameters: PasscodeSlotParameters
    ) throws(KeychainError) -> DerivedSecret {
        let derived: SharedSecret
        do throws(SystemCallError) { derived = try Self.derived(typed, parameters.derivation) } catch {
            let needed = parameters.derivation.cost.kibibytes / 1024
            throw KeychainError(.allocate, reason: .busy, underlying: "an attempt takes \(needed) MiB")
        }
        let guarded = try parameters.guardian.map { sealed throws(KeychainError) in try unsealed(sealed, derived) }
        return DerivedSecret(kind, guarded ?? derived, parameters: parameters.encoded)
    }

    /// - Returns: where the TPM takes another password, that one: it opens nothing, and the
    ///   attempt counts.
    private func unsealed(_ sealed: SealedByTPM, _ password: SharedSecret) throws(KeychainError) -> SharedSecret {
        do throws(HardwareError) {
            return try hardware.unseal(sealed, password: password, patience: DeviceWork.patience)
        } catch {
            guard error == .wrongPassword else { throw KeybagError.device(error).asKeychainError }
            return password
        }
    }

    private func newSecret(_ new: (kind: SlotKind, typed: SharedSecret)) throws(KeychainError) -> DerivedSecret {
        let (derivation, secret) = try newDerivation(new.typed)
        return DerivedSecret(new.kind, secret, parameters: derivation.encoded)
    }

    private func newDerivation(_ new: SharedSecret) throws(KeychainError) -> (PasscodeParameters, SharedSecret) {
        do throws(SystemCallError) {
            let salt = Random.bytes(PassphraseKey.saltByteCount)
            let parameters = PasscodeParameters(salt: salt, cost: try cost.chosen())
            return (parameters, try Self.derived(new, parameters))
        } catch {
            let needed = PasscodeCost.floorKibibytes / 1024
            throw .parameter(
                .passcodeRefused(why: "\(needed) MiB of memory, which make it costly to guess, are not available"))
        }
    }

    private static func derived(
        _ passcode: SharedSecret, _ parameters: PasscodeParameters
    ) throws(SystemCallError) -> SharedSecret {
        SharedSecret(try PassphraseKey.derive(from: passcode.bytes, salt: parameters.salt, cost: parameters.cost))
    }
}

/// A slot's secret as it was derived, with what the slot has to say about it.
struct DerivedSecret: Sendable {
    let kind: SlotKind
    let secret: SharedSecret
    let parameters: [UInt8]

    init(_ kind: SlotKind, _ secret: SharedSecret, parameters: [UInt8]) {
        self.kind = kind
        self.secret = secret
        self.parameters = parameters
    }

    /// The same where it is a password that a TPM looks at, and the secret is another.
    fileprivate func guarded(
        by address: TPMAddress, _ hardware: any HardwareDoor
    ) throws(HardwareError) -> DerivedSecret? {
        guard let derivation = PasscodeParameters(encoded: parameters) else { return nil }
        let (key, sealed) = try hardware.sealed(in: address, password: secret)
        return DerivedSecret(
            kind, key, parameters: PasscodeSlotParameters(derivation, guardian: sealed).encoded)
    }

    var slotSecret: SlotSecret { SlotSecret(kind: kind, bytes: secret.bytes.copy()) }
}

struct DerivedSecrets: Sendable {
    var credential: DerivedSecret?
    var new: DerivedSecret?
    var code: DerivedSecret?
    var devices: DeviceWork.Outcome?
    /// What the TPM said that was to count the attempt; nil: it was not asked.
    var counted: CounterWork.Outcome?
}

extension DeviceWork {
    /// What was derived, with what devices did for it.
    func done(for derived: DerivedSecrets) -> DerivedSecrets {
        var derived = derived
        var outcome = done()
        outcome.effacement.reading = outcome.effacement.reading ?? derived.devices?.effacement.reading
        if let guardian, let new = derived.new {
            derived.new = nil
            do throws(HardwareError) { derived.new = try new.guarded(by: guardian, hardware) } catch {
                outcome.refusals[Array(guardian.description.utf8)] = error
            }
        }
        derived.devices = outcome
        return derived
    }
}

/// What a person is told of a request that was done.
enum PersonOutcome: Sendable {
    case done
    /// To be shown once.
    case code(SharedSecret)
    case protectors([ProtectorState])
    case slots([SlotState])
}
