internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainMessages
internal import KeychainModel
internal import KeychainProtocol

/// What a class key is wrapped under.
enum ClassKeyParent: String, Hashable, Sendable {
    /// The bag key: open while a slot is.
    case bag
    /// The root key alone: open always.
    case root
    /// What the slots that need a person wrap, with the effacement secret.
    case person

    /// Architecture, section 3.
    init(of protectionClass: ProtectionClass) {
        switch protectionClass {
        case .whenUnlocked, .afterFirstUnlock, .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly:
            self = .bag
        case .always, .alwaysThisDeviceOnly: self = .root
        case .whenPasscodeSetThisDeviceOnly: self = .person
        }
    }
}

/// A class key as it rests in the keybag.
struct WrappedClassKey: Hashable, Sendable {
    let protectionClass: ProtectionClass
    /// From 1; a new one where older wraps must lose their worth.
    let generation: UInt32
    let parent: ClassKeyParent
    let box: [UInt8]
}

/// What the file `keybag` says, every field checked.
struct KeybagBody: Hashable, Sendable {
    struct Slot: Hashable, Sendable {
        let kind: SlotKind
        let identifier: [UInt8]
        let wrappedBagKey: [UInt8]
        /// Empty in a slot that opens without a person.
        var wrappedPersonKey: [UInt8] = []
        /// ``PasscodeSlotParameters`` of a passcode, ``LoginParameters`` of a login password,
        /// ``SealedByTPM`` of a TPM; empty otherwise.
        var parameters: [UInt8] = []
        /// Of a slot that opens without a person: the bag key is boxed for it
        /// (``AutomaticSlot``). Empty in every other, and where a program that knows no
        /// such slots wrote the keybag: the slot goes then with the next bag key.
        var publicKey: [UInt8] = []

        /// Of `tpm2`.
        var sealed: SealedByTPM? { kind == .tpm2 ? SealedByTPM(encoded: parameters) : nil }
        /// Of `passcode`.
        var passcode: PasscodeSlotParameters? {
            kind == .passcode ? PasscodeSlotParameters(encoded: parameters) : nil
        }
    }

    let store: StoreID
    var slots: [Slot]
    var classKeys: [WrappedClassKey]
    var wrappedIndexKey: [UInt8]
    /// Names the effacement secret; empty without a passcode.
    var effacement: [UInt8] = []
    /// Keys of the class akpu below this generation were effaced: what was sealed
    /// under them is gone for good. None comes again.
    var effacedBelow: UInt32 = 1
    /// Chains of the audit record, newest last; none before the first block.
    var audit: [AuditChain] = []
    /// When it locks by itself; only where there is a passcode.
    var lockPolicy = LockPolicy.never
    /// Whether a finger opens it again after a lock (``KeptBag``); only where there is a
    /// passcode. Nothing in here opens for a finger.
    var fingerUnlocks = false
    /// Effacement secrets in TPMs.
    var tpm = TPMEffacement()
    /// The counter of a TPM that tells an older copy.
    var counter = TPMCounter()

    /// Names what the file `effacement` has; empty: nothing.
    var fileEffacement: [UInt8] { tpm.place == nil ? effacement : [] }
    var hasPasscode: Bool { slot(.passcode) != nil }
    /// Whether something opens it without a person, although there is a passcode.
    var opensByItself: Bool { slots.contains { $0.kind.isAutomatic } }

    func slot(_ kind: SlotKind) -> Slot? { slots.first { $0.kind == kind } }

    /// The newest of each class.
    var generations: [ProtectionClass: UInt32] {
        Dictionary(classKeys.map { ($0.protectionClass, $0.generation) }, uniquingKeysWith: max)
    }

    /// The version of the file that says all of it. An older program would take a passcode
    /// that a TPM guards for damage, an effacement secret in a TPM for one that is lost, and
    /// would write a folder that the counter speaks against.
    var leastVersion: UInt32 {
        guard counter.isEmpty else { return 5 }
        guard tpm.isEmpty else { return 4 }
        return slot(.passcode)?.passcode?.guardian == nil ? 2 : 3
    }

    static let mostSlots = 16
    static let mostClassKeys = 1024
    static let slotIdentifierCount = 16

    init(
        store: StoreID, slots: [Slot], classKeys: [WrappedClassKey], wrappedIndexKey: [UInt8],
        effacement: [UInt8] = [], effacedBelow: UInt32 = 1, audit: [AuditChain] = [], lockPolicy: LockPolicy = .never,
        fingerUnlocks: Bool = false, tpm: TPMEffacement = TPMEffacement(), counter: TPMCounter = TPMCounter()
    ) {
        self.store = store
        self.slots = slots
        self.classKeys = classKeys
        self.wrappedIndexKey = wrappedIndexKey
        self.effacement = effacement
        self.effacedBelow = effacedBelow
        self.audit = audit
        self.lockPolicy = lockPolicy
        self.fingerUnlocks = fingerUnlocks
        self.tpm = tpm
        self.counter = counter
    }
}

extension KeybagBody {
    /// nil for anything that a program of this version does not write: an
    /// unknown class or parent, a class without key, a key twice, two ways of one
    /// kind to open it, a passcode without what it is worth.
    init?(parsing bytes: [UInt8]) {
        guard let message = MessageCoding.decode(Latchkey_KeybagBody.self, bytes),
            let store = StoreID(Array(message.storeID)),
            message.slots.count <= Self.mostSlots, message.classKeys.count <= Self.mostClassKeys,
            message.wrappedIndexKey.count == WrappedKey.boxByteCount, message.audit.count <= AuditChain.most,
            let policy = LockPolicy(message.lockPolicy), let tpm = TPMEffacement(message.tpmEffacement),
            let counter = TPMCounter(message.tpmCounter)
        else { return nil }
        let slots = message.slots.compactMap(Slot.init)
        let classKeys = message.classKeys.compactMap(WrappedClassKey.init)
        let audit = message.audit.enumerated().compactMap { index, chain in
            AuditChain(chain, isNewest: index == message.audit.count - 1)
        }
        guard slots.count == message.slots.count, classKeys.count == message.classKeys.count,
            audit.count == message.audit.count, Set(audit.map(\.identifier)).count == audit.count,
            Self.isComplete(classKeys)
        else { return nil }
        self.init(
            store: store, slots: slots, classKeys: classKeys, wrappedIndexKey: Array(message.wrappedIndexKey),
            // Version 1 said nothing of either.
            effacement: Array(message.effacement), effacedBelow: max(1, message.effacedBelow), audit: audit,
            lockPolicy: policy, fingerUnlocks: message.fingerUnlocks, tpm: tpm, counter: counter)
        guard isConsistent else { return nil }
    }

    /// Whether what a person opens is there exactly as long as there is a passcode.
    private var isConsistent: Bool {
        let kinds = slots.map(\.kind).filter { $0 == .open || $0.needsPerson }
        let person = classKeys.filter { $0.parent == .person }
        return Set(kinds).count == kinds.count && !(kinds.contains(.open) && kinds.contains(where: \.needsPerson))
            && (hasPasscode || !(kinds.contains(.recovery) || kinds.contains(.login) || opensByItself))
            && (hasPasscode ? !person.isEmpty : person.isEmpty && lockPolicy == .never && !fingerUnlocks)
            && (hasPasscode || tpm.place == nil)
            && effacement.count == (hasPasscode ? EffacementSecret.identifierCount : 0)
            && person.allSatisfy { $0.generation >= effacedBelow }
    }

    private static func isComplete(_ keys: [WrappedClassKey]) -> Bool {
        let names = Set(keys.map { UInt64($0.protectionClass.number) << 32 | UInt64($0.generation) })
        let classes = Set(keys.map(\.protectionClass))
        let needed = ProtectionClass.allCases.filter { ClassKeyParent(of: $0) != .person }
        return names.count == keys.count && classes.isSuperset(of: needed)
    }

    var encoded: [UInt8] {
        var message = Latchkey_KeybagBody()
        message.storeID = Data(store.bytes)
        message.slots = slots.map(\.message)
        message.classKeys = classKeys.map(\.message)
        message.wrappedIndexKey = Data(wrappedIndexKey)
        message.effacement = Data(effacement)
        message.effacedBelow = effacedBelow
        message.audit = audit.map(\.message)
        if lockPolicy != .never { message.lockPolicy = lockPolicy.message }
        message.fingerUnlocks = fingerUnlocks
        if !tpm.isEmpty { message.tpmEffacement = tpm.message }
        if !counter.isEmpty { message.tpmCounter = counter.message }
        return MessageCoding.encode(message)
    }
}

extension KeybagBody.Slot {
    fileprivate init?(_ message: Latchkey_KeybagBody.Slot) {
        kind = SlotKind(name: message.kind)
        identifier = Array(message.identifier)
        wrappedBagKey = Array(message.wrappedBagKey)
        wrappedPersonKey = Array(message.wrappedPersonKey)
        parameters = Array(message.parameters)
        publicKey = Array(message.publicKey)
        guard identifier.count == KeybagBody.slotIdentifierCount, isOfKnownSize else { return nil }
    }

    /// What holds for the kinds that this program knows.
    private var isOfKnownSize: Bool {
        if case .unknown = kind { return true }
        let boxByteCount = kind.isBoxed ? AutomaticSlot.boxByteCount : WrappedKey.boxByteCount
        return wrappedBagKey.count == boxByteCount
            && wrappedPersonKey.count == (kind.needsPerson ? boxByteCount : 0)
            && hasKnownParameters && (publicKey.isEmpty || hasPublicKey)
    }

    private var hasKnownParameters: Bool {
        switch kind {
        case .passcode: passcode != nil
        case .login: LoginParameters(encoded: parameters) != nil
        case .tpm2: sealed != nil
        case .open, .recovery, .credential, .unknown: parameters.isEmpty
        }
    }

    private var hasPublicKey: Bool { kind.isAutomatic && publicKey.count == AnonymousBox.publicKeyByteCount }

    fileprivate var message: Latchkey_KeybagBody.Slot {
        var message = Latchkey_KeybagBody.Slot()
        message.kind = kind.name
        message.identifier = Data(identifier)
        message.wrappedBagKey = Data(wrappedBagKey)
        message.wrappedPersonKey = Data(wrappedPersonKey)
        message.parameters = Data(parameters)
        message.publicKey = Data(publicKey)
        return message
    }
}

extension AuditChain {
    fileprivate init?(_ message: Latchkey_KeybagBody.AuditChain, isNewest: Bool) {
        self.init(
            identifier: Array(message.identifier), wrappedFirstKey: Array(message.wrappedFirstKey),
            wrappedStateKey: Array(message.wrappedStateKey))
        guard identifier.count == AuditPlace.chainByteCount, wrappedFirstKey.count == WrappedKey.boxByteCount,
            wrappedStateKey.isEmpty || isNewest && wrappedStateKey.count == WrappedKey.boxByteCount
        else { return nil }
    }

    fileprivate var message: Latchkey_KeybagBody.AuditChain {
        var message = Latchkey_KeybagBody.AuditChain()
        message.identifier = Data(identifier)
        message.wrappedFirstKey = Data(wrappedFirstKey)
        message.wrappedStateKey = Data(wrappedStateKey)
        return message
    }
}

extension WrappedClassKey {
    fileprivate init?(_ message: Latchkey_KeybagBody.WrappedClassKey) {
        guard let number = UInt8(exactly: message.classNumber), let named = ProtectionClass(number: number),
            let parent = ClassKeyParent(rawValue: message.wrappedBy), parent == ClassKeyParent(of: named),
            message.generation > 0, message.wrapped.count == WrappedKey.boxByteCount
        else { return nil }
        self.init(
            protectionClass: named, generation: message.generation, parent: parent, box: Array(message.wrapped))
    }

    fileprivate var message: Latchkey_KeybagBody.WrappedClassKey {
        var message = Latchkey_KeybagBody.WrappedClassKey()
        message.classNumber = UInt32(protectionClass.number)
        message.generation = generation
        message.wrappedBy = parent.rawValue
        message.wrapped = Data(box)
        return message
    }
}
