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

    /// - Parameter patience: for each of them.
    func done(by hardware: any HardwareDoor, patience: Duration) -> Outcome {
        var outcome = Outcome()
        if let reading { outcome.reading = read(reading.index, reading.password, reading.name, hardware, patience) }
        if let defining {
            do throws(HardwareError) { outcome.defined = try define(defining, hardware, patience) } catch {
                outcome.refusal = error
            }
        }
        var silent: Set<TPMAddress> = []
        for index in undefining where !silent.contains(index.address) {
            do throws(HardwareError) {
                try hardware.undefine(index, patience: patience)
                outcome.undefined.append(index)
            } catch { silent.insert(index.address) }
        }
        return outcome
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
        _ new: New, _ hardware: any HardwareDoor, _ patience: Duration
    ) throws(HardwareError) -> New {
        let record = new.secret.withRecord { SharedSecret(SecretBytes(copying: $0)) }
        let index = try hardware.defined(new.index, password: new.password, record: record, patience: patience)
        return New(index: index, password: new.password, secret: new.secret)
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
