internal import KeychainPlatform
internal import KeychainProtocol

/// What a TPM has to do for the counter that tells an older copy of the folder: never on the
/// way of an item.
enum CounterWork: Sendable {
    struct New: Sendable {
        let index: TPMIndex
        let password: SharedSecret
        /// What that TPM has to give back at an opening, before it is asked what it has counted.
        let protector: SealedByTPM?
    }

    /// The TPM that is to count: asked by what it will be known again.
    case meet(TPMAddress)
    case define(New)
    case read(TPMIndex, password: SharedSecret)
    case raise(TPMIndex, to: UInt64, password: SharedSecret)

    enum Outcome: Sendable {
        case met(storageKey: [UInt8])
        case defined(New, at: UInt64)
        case counted(UInt64)
        case refused(HardwareError)
        /// Nobody said what became of the index: it may yet come to be there.
        case inDoubt(HardwareError)
    }

    func done(by hardware: any HardwareDoor, patience: Duration) -> Outcome {
        do throws(HardwareError) {
            switch self {
            case .meet(let address): return .met(storageKey: try hardware.storageKey(of: address, patience: patience))
            case .define(let new):
                switch hardware.defineCounter(new.index, password: new.password, patience: patience) {
                case .defined(let value):
                    try new.tryOpening(hardware)
                    return .defined(new, at: value)
                case .refused(let why): return .refused(why)
                case .unknown(let why): return .inDoubt(why)
                }
            case .read(let index, let password):
                return .counted(try hardware.readCounter(index, password: password, patience: patience))
            case .raise(let index, let target, let password):
                return .counted(
                    try hardware.raiseCounter(index, to: target, password: password, patience: patience))
            }
        } catch { return .refused(error) }
    }
}

extension CounterWork.New {
    /// A TPM that takes longer for both than an opening waits for it would keep the folder shut.
    fileprivate func tryOpening(_ hardware: any HardwareDoor) throws(HardwareError) {
        let deadline = Deadline(after: ProtectorKeys.patience, on: SystemClock())
        do throws(HardwareError) {
            if let protector { _ = try hardware.unseal(protector, patience: deadline.remaining) }
            _ = try hardware.readCounter(index, password: password, patience: deadline.remaining)
        } catch {
            guard case .silent = error else { throw error }
            let seconds = ProtectorKeys.patience.components.seconds
            throw .failed("it takes longer than the \(seconds) seconds that an opening has for it")
        }
    }
}
