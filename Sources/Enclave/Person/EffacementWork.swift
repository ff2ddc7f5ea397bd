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
    var defining: New?
    /// What is to be destroyed.
    var undefining: [TPMIndex] = []

    var isEmpty: Bool { reading == nil && defining == nil && undefining.isEmpty }

    struct Outcome: Sendable {
        /// nil: was not asked for.
        var reading: EffacementReading?
        /// With what the TPM added to its index.
        var defined: New?
        /// Why there is none.
        var refusal: HardwareError?
        /// Of which nothing is there any more.
        var undefined: [TPMIndex] = []
    }

    /// - Parameter patience: for reading, for each step of defining, and for all that is to be
    ///   destroyed together.
    func done(by hardware: any HardwareDoor, patience: Duration) -> Outcome {
        var outcome = Outcome()
        if let reading { outcome.reading = read(reading.index, reading.password, reading.name, hardware, patience) }
        if let defining {
            do throws(HardwareError) { try define(defining, hardware, patience, &outcome) } catch {
                outcome.refusal = error
                if error == .notInstalled { outcome.undefined.append(defining.index) }
            }
        }
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
            } catch { silent.insert(index.address) }
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
    ) throws(HardwareError) {
        let record = new.secret.withRecord { SharedSecret(SecretBytes(copying: $0)) }
        switch try hardware.define(new.index, password: new.password, record: record, patience: patience) {
        case .success(let index):
            outcome.defined = New(index: index, password: new.password, secret: new.secret)
        case .failure(let why):
            outcome.refusal = why
            outcome.undefined.append(new.index)
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

    var secret: EffacementSecret? { if case .there(let secret) = self { secret } else { nil } }
    var isUnreachable: Bool { if case .unreachable = self { true } else { false } }
}
