package import KeychainMessages
internal import KeychainModel

extension Latchkey_DeviceState {
    package init(_ state: DeviceState) {
        self.init()
        number = state.number
        lock = Lock(rawValue: Int(state.lock.rawValue)) ?? .unspecified
        hasPasscode_p = state.hasPasscode
        hasRecoveryCode_p = state.hasRecoveryCode
        openClasses = state.openClasses.map { UInt32($0.number) }.sorted()
        failedAttempts = UInt32(clamping: state.failedAttempts)
        secondsToNextAttempt = UInt32(clamping: state.secondsToNextAttempt)
        closing = state.isClosing
        opensByItself = state.opensByItself
        if state.lockPolicy != .never { lockPolicy = state.lockPolicy.message }
        fingerUnlocks = state.fingerUnlocks
        fingerOpens = state.fingerOpens
        effacementTpm = state.effacement.tpm?.description ?? ""
        effacementFault = state.effacement.fault ?? ""
        effacementsLeft = state.effacement.left.map(TPMPlace.init)
        counterTpm = state.counter.tpm?.description ?? ""
        counterFault = state.counter.fault ?? ""
        countersLeft = state.counter.left.map(TPMPlace.init)
    }
}

extension Latchkey_DeviceState.TPMPlace {
    fileprivate init(_ place: TPMPlace) {
        self.init()
        address = place.address.description
        handle = place.handle
    }
}

extension TPMPlace {
    fileprivate init?(_ message: Latchkey_DeviceState.TPMPlace) {
        guard let address = TPMAddress(message.address) else { return nil }
        self.init(address: address, handle: message.handle)
    }
}

extension DeviceState {
    /// nil for a lock, a class, a policy or a TPM's address that this program does not know.
    package init?(_ message: Latchkey_DeviceState) {
        guard let number = UInt8(exactly: message.lock.rawValue), let lock = Lock(rawValue: number) else { return nil }
        var classes: Set<ProtectionClass> = []
        for number in message.openClasses {
            guard let known = UInt8(exactly: number).flatMap(ProtectionClass.init(number:)) else { return nil }
            classes.insert(known)
        }
        let tpm = TPMAddress(message.effacementTpm)
        let left = message.effacementsLeft.compactMap { TPMPlace($0) }
        guard let policy = LockPolicy(message.lockPolicy), message.effacementTpm.isEmpty || tpm != nil,
            left.count == message.effacementsLeft.count
        else { return nil }
        self.init(
            number: message.number, lock: lock, hasPasscode: message.hasPasscode_p,
            hasRecoveryCode: message.hasRecoveryCode_p, openClasses: classes,
            failedAttempts: Int(message.failedAttempts), secondsToNextAttempt: Int(message.secondsToNextAttempt),
            isClosing: message.closing, opensByItself: message.opensByItself, lockPolicy: policy,
            fingerUnlocks: message.fingerUnlocks, fingerOpens: message.fingerOpens)
        effacement = EffacementState(
            tpm: tpm, fault: message.effacementFault.isEmpty ? nil : message.effacementFault,
            left: left)
        guard let counter = CounterState(message) else { return nil }
        self.counter = counter
    }
}

extension CounterState {
    fileprivate init?(_ message: Latchkey_DeviceState) {
        let tpm = TPMAddress(message.counterTpm)
        let left = message.countersLeft.compactMap { TPMPlace($0) }
        guard message.counterTpm.isEmpty || tpm != nil, left.count == message.countersLeft.count else { return nil }
        self.init(tpm: tpm, fault: message.counterFault.isEmpty ? nil : message.counterFault, left: left)
    }
}
