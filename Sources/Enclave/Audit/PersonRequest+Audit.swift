extension PersonRequest {
    /// What the audit record calls it once it was done; nil: it changes nothing.
    var auditKind: AuditEvent.Kind? {
        switch self {
        case .unlock, .unlockByLogin: .unlocked
        case .changeLogin: .slotChanged
        case .lock: .locked
        case .setPasscode: .passcodeSet
        case .changePasscode: .passcodeChanged
        case .resetPasscode: .passcodeReset
        case .removePasscode: .passcodeRemoved
        case .makeRecoveryCode: nil
        case .confirmRecoveryCode: .recoveryCodeMade
        case .removeRecoveryCode: .recoveryCodeRemoved
        case .protector(let request): request.auditKind
        case .slot(let request): request.auditKind
        case .unlockBySlot: .unlockedBySlot
        case .setLockPolicy: .lockPolicyChanged
        case .guardPasscode, .keepEffacement, .giveEffacementUp: .passcodeChanged
        case .count(let address, _, _): address == nil ? .counterEnded : .counterBegun
        case .acceptCopy(_, let givingUp): givingUp ? .counterEnded : .copyAccepted
        }
    }
}

extension SlotRequest {
    fileprivate var auditKind: AuditEvent.Kind? {
        switch self {
        case .list: nil
        case .add(.fingerprint, _): .fingerAdded
        case .add: .slotAdded
        case .removeFingerprint: .fingerRemoved
        case .remove: .slotRemoved
        }
    }
}

extension ProtectorRequest {
    fileprivate var auditKind: AuditEvent.Kind? {
        switch self {
        case .list, .test: nil
        case .add: .protectorAdded
        case .reseal: .protectorResealed
        case .remove: .protectorRemoved
        }
    }
}
