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
    /// The same TPM, or another at the same address, sealed anew.
    case reseal([UInt8], passcode: SharedSecret?)

    var passcode: SharedSecret? {
        switch self {
        case .list, .test: nil
        case .add(_, let passcode), .remove(_, let passcode, _), .reseal(_, let passcode): passcode
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
    }

    let jobs: [Job]
    let hardware: any HardwareDoor
    /// Of a sealing; what comes back has to come within the patience of an opening.
    static let patience: Duration = .seconds(5)
    /// How many devices a keychain may be bound to, so that all answer within a person's
    /// patience.
    static let mostDevices = 2

    /// What came of it, by the protector's identifier.
    struct Outcome: Sendable {
        var sealed: [[UInt8]: (key: SharedSecret, sealed: SealedByTPM)] = [:]
        var unsealed: [[UInt8]: SharedSecret] = [:]
        var refusals: [[UInt8]: HardwareError] = [:]
    }

    func done() -> Outcome {
        var outcome = Outcome()
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
            }
        }
        return outcome
    }
}
