internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// What a person wants of the protectors: what the root key is bound to.
enum ProtectorRequest: Sendable {
    case list
    /// Tries each but the one of that name; nil: all.
    case test(pretendingGone: [UInt8]?)
    case add(NewProtector, passcode: SharedSecret?)
    /// The root key is replaced, so that what the protector wrapped opens nothing that is
    /// written from then on.
    case remove([UInt8], passcode: SharedSecret?, code: CodeOnRemoval)
    /// The same TPM, or another at the same address, sealed anew; or the security key that
    /// is plugged in, which may take its PIN.
    case reseal([UInt8], pin: SharedSecret?, passcode: SharedSecret?)

    var passcode: SharedSecret? {
        switch self {
        case .list, .test: nil
        case .add(_, let passcode), .remove(_, let passcode, _), .reseal(_, _, let passcode): passcode
        }
    }

    /// Whether it needs the passcode, where there is one.
    var needsPasscode: Bool {
        switch self {
        case .list, .test: false
        case .add, .remove, .reseal: true
        }
    }
}

enum NewProtector: Sendable {
    case softwareFile
    case tpm2(TPMAddress)
    /// With its PIN, where it makes nothing new without.
    case fido2(FIDO2Address, pin: SharedSecret?)
}

/// The enclave does not know the recovery code: where the root key is replaced, it goes
/// or whoever has it brings it.
enum CodeOnRemoval: Sendable {
    case brought(SharedSecret)
    case goes
    case none
}

/// The slow part of such a request: what devices have to do for it.
struct DeviceWork: Sendable {
    enum Job: Sendable {
        /// A new secret, sealed at that address, and tried.
        case seal([UInt8], TPMAddress)
        case unseal([UInt8], SealedByTPM)
        /// A new credential of a security key, and what it makes of a salt: two touches.
        case make([UInt8], FIDO2Address, pin: SharedSecret?)
        /// What a security key makes of its salt, and of a new one: one touch. So what it
        /// says of the new one counts only where it says the same as ever of the old.
        case renew([UInt8], SealedByFIDO2)
    }

    let jobs: [Job]
    let hardware: any HardwareDoor
    /// Which TPM is to guard the new passcode.
    var guardian: TPMAddress?
    /// What TPMs have to do for the effacement secret.
    var effacement: EffacementWork?
    /// What a TPM has to do for the counter.
    var counter: CounterWork?
    /// Of a sealing; what comes back has to come within the patience of an opening.
    static let patience: Duration = .seconds(5)
    /// How long a person may take for a touch who has just been told to.
    static let touchPatience: Duration = .seconds(12)
    /// How many devices a keychain may be bound to, so that all answer within a person's
    /// patience.
    static let mostDevices = 2

    /// What came of it, by the protector's identifier.
    struct Outcome: Sendable {
        var sealed: [[UInt8]: (key: SharedSecret, sealed: SealedByTPM)] = [:]
        var unsealed: [[UInt8]: SharedSecret] = [:]
        var made: [[UInt8]: (key: SharedSecret, sealed: SealedByFIDO2)] = [:]
        var refusals: [[UInt8]: HardwareError] = [:]
        var effacement = EffacementWork.Outcome()
        /// nil: was not asked for.
        var counter: CounterWork.Outcome?
    }

    func done() -> Outcome {
        var outcome = Outcome()
        if let effacement { outcome.effacement = effacement.done(by: hardware, patience: Self.patience) }
        outcome.counter = counter?.done(by: hardware, patience: Self.patience)
        for job in jobs {
            switch job {
            case .seal(let name, let address):
                do throws(HardwareError) { outcome.sealed[name] = try hardware.sealed(in: address) } catch {
                    outcome.refusals[name] = error
                }
            case .unseal(let name, let sealed):
                do throws(HardwareError) {
                    outcome.unsealed[name] = try hardware.unseal(sealed, patience: ProtectorKeys.patience)
                } catch { outcome.refusals[name] = error }
            case .make(let name, let address, let pin):
                do throws(HardwareError) { outcome.made[name] = try make(at: address, pin) } catch {
                    outcome.refusals[name] = error
                }
            case .renew(let name, let sealed):
                do throws(HardwareError) {
                    let (now, next) = try renewed(sealed)
                    outcome.unsealed[name] = now
                    outcome.made[name] = next
                } catch { outcome.refusals[name] = error }
            }
        }
        return outcome
    }

    private func make(
        at address: FIDO2Address, _ pin: SharedSecret?
    ) throws(HardwareError) -> (key: SharedSecret, sealed: SealedByFIDO2) {
        let credential = try hardware.makeCredential(at: address, pin: pin, patience: Self.touchPatience)
        let sealed = SealedByFIDO2(credential, salt: .random())
        // In the form in which it will be asked when something else is removed.
        return (try renewed(sealed).now, sealed)
    }

    private func renewed(
        _ sealed: SealedByFIDO2
    ) throws(HardwareError) -> (now: SharedSecret, next: (key: SharedSecret, sealed: SealedByFIDO2)) {
        let next = SealedByFIDO2(sealed.credential, salt: .random())
        let secrets = try hardware.secrets(of: sealed, next: next.salt, patience: Self.touchPatience)
        guard !secrets.now.bytes.isEqual(to: secrets.next.bytes) else {
            throw .failed("the security key makes the same secret of whatever it is given")
        }
        return (secrets.now, (secrets.next, next))
    }
}

extension FIDO2Salt {
    static func random() -> FIDO2Salt {
        guard let salt = FIDO2Salt(Random.bytes(byteCount)) else { preconditionFailure("a salt of another length") }
        return salt
    }
}
