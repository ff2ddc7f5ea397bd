internal import KeychainPlatform
internal import KeychainProtocol

/// What TPMs have to do for the effacement secret: never on the way of an item.
struct EffacementWork: Sendable {
    /// One that is to be written into an index of its own.
    struct New: Sendable {
        let index: TPMIndex
        let password: SharedSecret
        let secret: EffacementSecret
    }

    /// The present one, by its name.
    var reading: (index: TPMIndex, password: SharedSecret, name: [UInt8])?
    /// The TPM that is to get one: asked by what it will be known again.
    var meeting: TPMAddress?
    var defining: New?
    /// What is to be destroyed.
    var undefining: [TPMIndex] = []

    var isEmpty: Bool { reading == nil && meeting == nil && defining == nil && undefining.isEmpty }

    struct Outcome: Sendable {
        /// nil: was not asked for.
        var reading: EffacementReading?
        /// Of the TPM that is to get one.
        var storageKey: [UInt8]?
        var defined: New?
        /// Why there is none.
        var refusal: HardwareError?
        /// Nobody said what became of it: it may yet come to be there.
        var isInDoubt = false
        /// Of which nothing is there any more, as the TPMs say that had them.
        var undefined: [TPMIndex] = []
    }

    /// - Parameter patience: for each step but what is to be destroyed, and for all of that
    ///   together.
    func done(by hardware: any HardwareDoor, patience: Duration) -> Outcome {
        var outcome = Outcome()
        if let reading { outcome.reading = read(reading.index, reading.password, reading.name, hardware, patience) }
        if let meeting {
            do throws(HardwareError) {
                outcome.storageKey = try hardware.storageKey(of: meeting, patience: patience)
            } catch { outcome.refusal = error }
        }
        if let defining { define(defining, hardware, patience, &outcome) }
        destroy(hardware, patience, &outcome)
        return outcome
    }

    private func destroy(_ hardware: any HardwareDoor, _ patience: Duration, _ outcome: inout Outcome) {
        let deadline = Deadline(after: patience, on: SystemClock())
        var silent: Set<TPMAddress> = []
        for index in undefining where !silent.contains(index.address) && !deadline.hasPassed {
            do throws(HardwareError) {
                try hardware.undefine(index, patience: deadline.remaining)
                outcome.undefined.append(index)
            } catch {
                // Another TPM than one had may be the one that has the next.
                if case .silent = error { silent.insert(index.address) }
            }
        }
    }

    private func read(
        _ index: TPMIndex, _ password: SharedSecret, _ name: [UInt8], _ hardware: any HardwareDoor,
        _ patience: Duration
    ) -> EffacementReading {
        do throws(HardwareError) {
            let record = try hardware.record(in: index, password: password, patience: patience)
            guard let record, let secret = EffacementSecret(record: record.bytes), secret.identifier == name else {
                return .gone
            }
            return .there(secret)
        } catch { return .unreachable(error) }
    }

    private func define(
        _ new: New, _ hardware: any HardwareDoor, _ patience: Duration, _ outcome: inout Outcome
    ) {
        let record = new.secret.withRecord { SharedSecret(SecretBytes(copying: $0)) }
        switch hardware.define(new.index, password: new.password, record: record, patience: patience) {
        case .defined: outcome.defined = new
        case .refused(let why): outcome.refusal = why
        case .unknown(let why):
            outcome.refusal = why
            outcome.isInDoubt = true
        }
    }
}

/// What became of the effacement secret that the keybag names.
enum EffacementReading: Sendable {
    case there(EffacementSecret)
    /// Nobody has it any more.
    case gone
    /// It may come back with the TPM that has it.
    case unreachable(HardwareError)
    /// Nobody asked the TPM that has it: that takes a passcode.
    case notAsked

    var secret: EffacementSecret? { if case .there(let secret) = self { secret } else { nil } }
    /// Whether it may come yet.
    var isAwaited: Bool {
        switch self {
        case .unreachable, .notAsked: true
        case .there, .gone: false
        }
    }
}
