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
    /// With what a slot that opens without a person was given; opens nothing that takes one.
    case unlockBySlot(SharedSecret)

    /// What has to open a slot before anything is done.
    var credential: PersonCredential? {
        switch self {
        case .unlock(let credential), .removePasscode(let credential): credential
        case .changePasscode(let old, _): .passcode(old)
        case .resetPasscode(let code, _): .recoveryCode(code)
        case .makeRecoveryCode(let passcode), .removeRecoveryCode(let passcode): passcode.map { .passcode($0) }
        case .protector(let request): request.passcode.map { .passcode($0) }
        case .slot(let request): request.passcode.map { .passcode($0) }
        case .setLockPolicy(_, let passcode): .passcode(passcode)
        case .lock, .setPasscode, .confirmRecoveryCode, .unlockBySlot: nil
        }
    }

    /// Whether it takes the passcode, where there is one.
    var needsPasscode: Bool {
        switch self {
        case .makeRecoveryCode, .removeRecoveryCode: true
        case .protector(let request): request.needsPasscode
        default: false
        }
    }

    var newPasscode: SharedSecret? {
        switch self {
        case .setPasscode(let new), .changePasscode(_, let new), .resetPasscode(_, let new): new
        default: nil
        }
    }

    /// What a passcode may have, in bytes.
    static let passcodeBytes = 4...1024
}

/// The slow part of a request, which needs nothing but what is in here: it is
/// done on a thread of its own, so that others' keys are opened meanwhile.
struct PersonDerivation: Sendable {
    fileprivate let passcode: (SharedSecret, PasscodeParameters)?
    fileprivate let recovery: SharedSecret?
    fileprivate let new: SharedSecret?
    private let cost: PasscodeCost
    /// What devices have to do for it, once what was brought is known to be right.
    var work: DeviceWork?
    /// A recovery code that was brought beside the passcode.
    var code: SharedSecret?

    init(
        passcode: (SharedSecret, PasscodeParameters)?, recovery: SharedSecret?, new: SharedSecret?, cost: PasscodeCost
    ) {
        self.passcode = passcode
        self.recovery = recovery
        self.new = new
        self.cost = cost
    }

    /// - Throws: `errSecAllocate`, reason `busy`, where the memory for an attempt is
    ///   not there; `errSecParam`, reason `passcodeRefused`, for a new passcode.
    func derive() throws(KeychainError) -> DerivedSecrets {
        var derived = DerivedSecrets()
        if let (typed, parameters) = passcode {
            do throws(SystemCallError) {
                derived.credential = try Self.slotSecret(typed, parameters)
            } catch {
                throw KeychainError(
                    .allocate, reason: .busy, underlying: "an attempt takes \(parameters.cost.kibibytes / 1024) MiB")
            }
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

    private func newSecret(_ new: SharedSecret) throws(KeychainError) -> DerivedSecret {
        do throws(SystemCallError) {
            let salt = Random.bytes(PassphraseKey.saltByteCount)
            return try Self.slotSecret(new, PasscodeParameters(salt: salt, cost: try cost.chosen()))
        } catch {
            let needed = PasscodeCost.floorKibibytes / 1024
            throw .parameter(
                .passcodeRefused(why: "\(needed) MiB of memory, which make it costly to guess, are not available"))
        }
    }

    private static func slotSecret(
        _ passcode: SharedSecret, _ parameters: PasscodeParameters
    ) throws(SystemCallError) -> DerivedSecret {
        let secret = try PassphraseKey.derive(from: passcode.bytes, salt: parameters.salt, cost: parameters.cost)
        return DerivedSecret(.passcode, SharedSecret(secret), parameters: parameters.encoded)
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

    var slotSecret: SlotSecret { SlotSecret(kind: kind, bytes: secret.bytes.copy()) }
}

struct DerivedSecrets: Sendable {
    var credential: DerivedSecret?
    var new: DerivedSecret?
    var code: DerivedSecret?
    var devices: DeviceWork.Outcome?
}

/// What a person is told of a request that was done.
enum PersonOutcome: Sendable {
    case done
    /// To be shown once.
    case code(SharedSecret)
    case protectors([ProtectorState])
    case slots([SlotState])
}
