internal import KeychainMessages
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// What one message of a person asks for.
enum PersonCall: Sendable {
    case state
    case awaitState(UInt64)
    case change(PersonRequest)
    case question([UInt8])
    case awaitNews([UInt8], known: UInt64)
    case agree([UInt8], PersonCredential)
    case decline([UInt8], Reason)
    case unlockByFinger

    /// nil for what no prompt of ours sends: a credential that is missing or that
    /// nothing asked for.
    init?(_ message: PersonMessage) {
        let (passcode, new) = (message.passcode, message.new)
        if let login = message.login {
            guard let request = PersonRequest(message.operation, login: login, new) else { return nil }
            self = .change(request)
            return
        }
        switch (message.operation, message.credential) {
        case (.state, nil): self = .state
        case (.awaitState, nil): self = .awaitState(message.state)
        case (.lock, nil): self = .change(.lock)
        case (.question, nil): self = .question(message.question)
        case (.awaitQuestion, nil): self = .awaitNews(message.question, known: message.state)
        case (.decline, nil): self = .decline(message.question, message.reason ?? .userCanceled)
        case (.unlockByFinger, nil): self = .unlockByFinger
        case (.unlock, let credential?): self = .change(.unlock(credential))
        case (.removePasscode, let credential?): self = .change(.removePasscode(credential))
        case (.agree, let credential?): self = .agree(message.question, credential)
        case (.listProtectors, _), (.testProtectors, _), (.addProtector, _), (.removeProtector, _),
            (.resealProtector, _):
            guard message.recoveryCode == nil, let request = ProtectorRequest(message, passcode) else { return nil }
            self = .change(.protector(request))
        case (.listSlots, _), (.addSlot, _), (.addLoginSlot, _), (.addFingerSlot, _), (.removeSlot, _):
            guard message.recoveryCode == nil, let request = SlotRequest(message, passcode) else { return nil }
            self = .change(.slot(request))
        case (.setLockPolicy, .passcode(let passcode)?):
            guard new == nil, let policy = message.lockPolicy else { return nil }
            self = .change(.setLockPolicy(policy, passcode: passcode))
        case (.guardPasscode, .passcode(let passcode)?):
            let address = TPMAddress(message.protectorAddress)
            guard message.protectorAddress.isEmpty || address != nil else { return nil }
            self = .change(.guardPasscode(address, passcode: passcode, code: new))
        case (.keepEffacement, .passcode(let passcode)?):
            let address = TPMAddress(message.protectorAddress)
            guard message.protectorAddress.isEmpty || address != nil else { return nil }
            guard !message.givingUp else {
                guard address == nil, new == nil else { return nil }
                self = .change(.giveEffacementUp(passcode: passcode))
                return
            }
            self = .change(.keepEffacement(address, passcode: passcode, code: new))
        case (.count, _):
            let address = TPMAddress(message.protectorAddress)
            guard message.recoveryCode == nil, message.protectorAddress.isEmpty ? new == nil : address != nil
            else { return nil }
            self = .change(.count(address, passcode: passcode, code: new))
        case (.acceptCopy, nil):
            guard let new else { return nil }
            self = .change(.acceptCopy(code: new, givingUp: message.givingUp))
        case (.unlockBySlot, nil):
            guard let new else { return nil }
            self = .change(.unlockBySlot(new))
        default:
            guard let request = PersonRequest(message.operation, passcode, message.recoveryCode, new) else {
                return nil
            }
            self = .change(request)
        }
    }
}

extension PersonRequest {
    /// The two things that a login password is good for.
    fileprivate init?(
        _ operation: Latchkey_PersonRequest.Operation, login: SharedSecret, _ new: SharedSecret?
    ) {
        switch (operation, new) {
        case (.unlock, nil): self = .unlockByLogin(login)
        case (.changeLogin, let new?): self = .changeLogin(from: login, to: new)
        default: return nil
        }
    }

    fileprivate init?(
        _ operation: Latchkey_PersonRequest.Operation, _ passcode: SharedSecret?, _ code: SharedSecret?,
        _ new: SharedSecret?
    ) {
        switch (operation, passcode, code, new) {
        case (.setPasscode, nil, nil, let new?): self = .setPasscode(new)
        case (.changePasscode, let old?, nil, let new?): self = .changePasscode(from: old, to: new)
        case (.resetPasscode, nil, let code?, let new?): self = .resetPasscode(code: code, to: new)
        case (.makeRecoveryCode, let passcode, nil, nil): self = .makeRecoveryCode(passcode: passcode)
        case (.confirmRecoveryCode, nil, nil, let typed?): self = .confirmRecoveryCode(typed)
        case (.removeRecoveryCode, let passcode, nil, nil): self = .removeRecoveryCode(passcode: passcode)
        default: return nil
        }
    }
}

extension ProtectorRequest {
    /// nil for what no program of ours sends.
    fileprivate init?(_ message: PersonMessage, _ passcode: SharedSecret?) {
        let name = message.protector
        let isNamed = name.count == ProtectorsBody.Protector.identifierCount
        guard isNamed || name.isEmpty, message.new == nil || Self.takeASecond.contains(message.operation)
        else { return nil }
        switch message.operation {
        case .listProtectors where name.isEmpty && passcode == nil: self = .list
        case .testProtectors where passcode == nil: self = .test(pretendingGone: isNamed ? name : nil)
        case .addProtector where name.isEmpty:
            guard let new = NewProtector(message.protectorAddress, pin: message.new) else { return nil }
            self = .add(new, passcode: passcode)
        case .removeProtector where isNamed:
            let code = message.new.map(CodeOnRemoval.brought) ?? (message.withoutCode ? .goes : .none)
            self = .remove(name, passcode: passcode, code: code)
        case .resealProtector where isNamed: self = .reseal(name, pin: message.new, passcode: passcode)
        default: return nil
        }
    }

    /// A recovery code, or the PIN of a security key.
    private static let takeASecond: [Latchkey_PersonRequest.Operation] = [
        .removeProtector, .addProtector, .resealProtector,
    ]
}

extension NewProtector {
    /// - Parameter pin: of a security key alone.
    fileprivate init?(_ address: String, pin: SharedSecret?) {
        if let key = FIDO2Address(address) {
            guard pin?.bytes.count ?? 0 <= FIDO2Credential.longestPIN else { return nil }
            self = .fido2(key, pin: pin)
        } else if address.isEmpty, pin == nil {
            self = .softwareFile
        } else if pin == nil, let tpm = TPMAddress(address) {
            self = .tpm2(tpm)
        } else {
            return nil
        }
    }
}

extension SlotRequest {
    /// nil for what no program of ours sends.
    fileprivate init?(_ message: PersonMessage, _ passcode: SharedSecret?) {
        let name = message.protector
        switch (message.operation, passcode) {
        case (.listSlots, nil) where name.isEmpty && message.new == nil: self = .list
        case (.addSlot, let passcode?) where name.isEmpty && message.new == nil:
            guard !message.protectorAddress.isEmpty else {
                self = .add(.credential, passcode: passcode)
                return
            }
            guard let address = TPMAddress(message.protectorAddress) else { return nil }
            self = .add(.tpm2(address), passcode: passcode)
        case (.addLoginSlot, let passcode?) where name.isEmpty && message.protectorAddress.isEmpty:
            guard let password = message.new else { return nil }
            self = .add(.login(password), passcode: passcode)
        case (.addFingerSlot, let passcode?)
        where name.isEmpty && message.protectorAddress.isEmpty && message.new == nil:
            self = .add(.fingerprint, passcode: passcode)
        case (.removeSlot, let passcode?) where name == SlotState.fingerprintName:
            guard message.new == nil else { return nil }
            self = .removeFingerprint(passcode: passcode)
        case (.removeSlot, let passcode?) where name.count == KeybagBody.slotIdentifierCount:
            self = .remove(name, passcode: passcode, code: message.new)
        default: return nil
        }
    }
}

extension PersonMessage {
    fileprivate var passcode: SharedSecret? {
        if case .passcode(let secret) = credential { secret } else { nil }
    }

    fileprivate var recoveryCode: SharedSecret? {
        if case .recoveryCode(let secret) = credential { secret } else { nil }
    }
}

/// An answer to a person: a recovery code that is to be shown is the tail.
struct PersonAnswer: ~Copyable {
    let reply: Latchkey_PersonReply
    let tail: SecretBytes

    init(to number: UInt64, _ outcome: Result<PersonOutcome, KeychainError>) {
        var reply = Latchkey_PersonReply()
        reply.number = number
        switch outcome {
        case .success(.code(let code)): tail = code.bytes.copy()
        case .success(.protectors(let protectors)):
            reply.protectors = protectors.map(Latchkey_PersonReply.Protector.init)
            tail = SecretBytes(count: 0)
        case .success(.slots(let slots)):
            reply.slots = slots.map(Latchkey_PersonReply.Slot.init)
            tail = SecretBytes(count: 0)
        case .success(.done): tail = SecretBytes(count: 0)
        case .failure(let error):
            reply.failure = Latchkey_Failure(error)
            tail = SecretBytes(count: 0)
        }
        self.reply = reply
    }

    init(to number: UInt64, _ state: DeviceState) {
        var reply = Latchkey_PersonReply()
        reply.number = number
        reply.state = Latchkey_DeviceState(state)
        self.reply = reply
        tail = SecretBytes(count: 0)
    }

    init(to number: UInt64, _ news: QuestionNews) {
        var reply = Latchkey_PersonReply()
        reply.number = number
        reply.news = Latchkey_PersonReply.QuestionNews(news)
        self.reply = reply
        tail = SecretBytes(count: 0)
    }

    /// nil: nothing is asked.
    init(to number: UInt64, _ question: PersonQuestion?) {
        var reply = Latchkey_PersonReply()
        reply.number = number
        if let question { reply.question = Latchkey_PersonQuestion(question) }
        self.reply = reply
        tail = SecretBytes(count: 0)
    }
}
