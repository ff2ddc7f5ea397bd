internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// What opens the keychain beside a passcode: without a person, or with the password
/// that a person logs in with (EnclaveCore+Login.swift).
///
/// A slot that takes no person opens the bag, never the class akpu, which is wrapped by what a person
/// brings; and it is no person who agrees to anything.
extension EnclaveCore {
    /// Opens what the machine's TPM opens. What keeps it from that is told of
    /// (``startRefusal``), and the keychain stays locked until a person comes.
    mutating func unlockAtStart(
        at moment: Duration, asking device: (SealedByTPM) -> Result<SharedSecret, HardwareError>
    ) {
        for slot in keybag.body.slots {
            guard keybag.lock != .unlocked, let sealed = slot.sealed else { continue }
            do throws(HardwareError) {
                let secret = try device(sealed).get()
                try unlock(by: SlotSecret(kind: .tpm2, bytes: secret.bytes.copy()))
                startRefusal = nil
                lastUse = moment
                audit.witness.note(.unlockedBySlot, at: moment)
            } catch { startRefusal = "\(error)" }
        }
    }

    private mutating func unlock(by secret: borrowing SlotSecret) throws(HardwareError) {
        do throws(KeybagError) { try keybag.unlock(with: secret, effacement: nil) } catch {
            throw .failed("it gives back another secret than it was given")
        }
        kept = nil
        stateNumber += 1
    }

    /// What is open stays as open as it is.
    ///
    /// - Throws: ``KeybagError/Cause/slotRefuses``. Nothing counts such an attempt: it has
    ///   to hit 256 random bits.
    mutating func unlockBySlot(_ typed: SharedSecret) throws(KeybagError) {
        guard let secret = SlotCredential.parse(typed.bytes) else { throw .unreadable(.slotRefuses) }
        let slotSecret = SlotSecret(kind: .credential, bytes: secret)
        guard keybag.accepts(slotSecret) else { throw .unreadable(.slotRefuses) }
        guard keybag.lock != .unlocked else { return }
        try keybag.unlock(with: slotSecret, effacement: nil)
        kept = nil
    }

    /// What no passcode and no device could help.
    func refuse(_ request: SlotRequest) throws(KeychainError) {
        switch request {
        case .list: return
        case .add(.fingerprint, _): try refuseFingerprint()
        case .add(let new, _):
            let present = keybag.body.slots
            // One place each stays for passcode, recovery code and login password.
            let others = present.count(where: \.kind.isAutomatic)
            let most = KeybagBody.mostSlots - 3
            guard others < most || new.isLogin && others == most else {
                throw .slot("there are as many as there may be; remove one")
            }
            if case .tpm2 = new, present.contains(where: { $0.kind == .tpm2 }) {
                throw .slot("a TPM opens it already; remove that first")
            }
        case .removeFingerprint:
            guard keybag.body.fingerUnlocks else { throw .slot("there is none of that name") }
        case .remove(let name, _, let code):
            guard let slot = keybag.body.slots.first(where: { $0.identifier == name }) else {
                throw .slot("there is none of that name")
            }
            guard slot.kind.isBoxed else { throw .slot("it takes a person: `latchkey passcode`, `recovery`") }
            if code == nil, keybag.body.slot(.recovery) != nil { throw .slot("the recovery code is needed as well") }
        }
    }

    /// The jobs of a device for one; by the name that the slot gets.
    func jobs(for request: SlotRequest) -> [DeviceWork.Job] {
        guard case .add(.tpm2(let address), _) = request else { return [] }
        return [.seal(Random.bytes(KeybagBody.slotIdentifierCount), address)]
    }

    mutating func perform(
        _ request: SlotRequest, with derived: DerivedSecrets, at moment: Duration
    ) throws(KeychainError) -> PersonOutcome {
        let outcome: PersonOutcome
        do throws(KeybagError) {
            switch request {
            case .list: return .slots(slotStates)
            case .add(let new, _): outcome = try add(new, derived)
            case .removeFingerprint:
                try letFingerUnlock(false)
                outcome = .slots(slotStates)
            case .remove(let name, _, _):
                try remove(name, derived)
                outcome = .slots(slotStates)
            }
        } catch { throw error == .unreadable(.slotRefuses) ? Self.wrong : error.asKeychainError }
        if let kind = PersonRequest.slot(request).auditKind { audit.witness.note(kind, at: moment) }
        stateNumber += 1
        return outcome
    }

    private var slotStates: [SlotState] {
        keybag.body.slots.map { slot in
            SlotState(
                kind: slot.kind.name, identifier: slot.identifier,
                address: (slot.sealed ?? slot.passcode?.guardian)?.address)
        } + (keybag.body.fingerUnlocks ? [.fingerprint] : [])
    }

    private mutating func add(_ new: NewSlot, _ derived: DerivedSecrets) throws(KeybagError) -> PersonOutcome {
        switch new {
        case .tpm2:
            let devices = derived.devices ?? DeviceWork.Outcome()
            guard let (key, sealed) = devices.sealed.values.first else { throw Self.failure(of: devices) }
            try open(derived.credential)
            try change(
                .kept, [DerivedSecret(.tpm2, key, parameters: sealed.encoded)], keeping: keybag.body.slots)
            startRefusal = nil
            return .slots(slotStates)
        case .credential:
            let secret = SharedSecret(.random(count: SlotKind.automaticSecretByteCount))
            try open(derived.credential)
            try change(.kept, [DerivedSecret(.credential, secret, parameters: [])], keeping: keybag.body.slots)
            return .code(SharedSecret(SlotCredential.text(of: secret.bytes)))
        case .login:
            try open(derived.credential)
            try change(.kept, [derived.new], keeping: keybag.body.slots.filter { $0.kind != .login })
            return .slots(slotStates)
        case .fingerprint:
            try letFingerUnlock(true)
            return .slots(slotStates)
        }
    }

    private mutating func remove(_ name: [UInt8], _ derived: DerivedSecrets) throws(KeybagError) {
        if let code = derived.code { try require(code) }
        try open(derived.credential)
        try change(.rolled, [derived.credential, derived.code], dropping: name)
    }
}

extension NewSlot {
    fileprivate var isLogin: Bool { if case .login = self { true } else { false } }
}

extension KeychainError {
    static func slot(_ why: String) -> KeychainError { .parameter(.protectorRefused(why: why)) }
}
