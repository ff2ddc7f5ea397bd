internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The engine: an opened keybag that makes and opens keys, and changes what opens
/// it. It knows no clock and no wire; one thread uses it at a time.
struct EnclaveCore: ~Copyable, Sendable {
    var keybag: Keybag
    let storage: any KeybagStorage
    let cost: PasscodeCost
    var attempts: AttemptCounter
    var book = AuthenticationBook()
    /// Where biometry comes from; nil: there is none.
    let biometry: (any BiometrySource)?
    /// Whether biometry counts at the moment.
    var trust = BiometryTrust()
    /// What a finger opens the locked keychain with; nil: nothing is kept for one.
    var kept: KeptBag?
    /// When a finger opened what is open now; nil: something else did.
    var fingerOpenedAt: Duration?
    /// A recovery code that nobody has typed back yet.
    var pendingCode: PendingCode?
    /// Goes up with each change of what ``state(at:)`` tells.
    var stateNumber: UInt64 = 1
    /// A lock was announced; everything is open until it comes.
    var isClosing = false
    /// nil for a keychain that lives in memory alone.
    var protectors: HeldProtectors?
    let hardware: any HardwareDoor
    var unrepaired: [RepairFailure]
    /// When a class that a lock closes was last used, since boot (``LockPolicy``).
    var lastUse: Duration = .zero
    /// Why a slot that opens at the start did not; nil: it did, or there is none.
    var startRefusal: String?
    /// Of the effacement secret in a TPM, for the request that is being done alone.
    var reading: EffacementReading?
    /// Why that did not come at the last unlock; nil: it did, or there is none.
    var effacementFault: String?
    /// Indices that somebody may still be making who was not waited for, and until when
    /// (since boot): whoever makes one ends by then.
    var doubtful: [(index: TPMIndex, until: Duration)] = []
    /// Whether a copy of the keybag that could not be read or written may need what this
    /// keybag says is to be destroyed: nothing is then, until both say the same.
    var sparesWhatWent = false
    var audit: AuditLedger
    /// Tells an older copy of the folder from this one; nil: nothing does.
    var counter: FolderCounter?
    /// What the last look at the place of the files found (``keepFiles()``).
    var placeFault: PlaceFault?
    /// Whether the file with the effacement secret was not there when somebody asked last.
    var lacksEffacement = false
    /// Whether a person accepted the folder at its opening, because the counter spoke against it.
    var wasAccepted = false

    /// A keybag with a slot of kind "open" is unlocked at once; any other stays
    /// locked until somebody brings a secret.
    init(
        _ keybag: consuming Keybag, in storage: any KeybagStorage, protectors: HeldProtectors?,
        hardware: any HardwareDoor = NoHardware(), unrepaired: [RepairFailure], attempts: AttemptCounter,
        cost: PasscodeCost,
        biometry: (any BiometrySource)? = nil
    ) throws(KeybagError) {
        self.biometry = biometry
        var keybag = keybag
        if keybag.body.slot(.open) != nil { try keybag.unlock(with: .open, effacement: nil) }
        var unrepaired = unrepaired
        var heads: [[UInt8]] = []
        // Where it cannot be read the record begins anew, and says so: items do not depend
        // on it.
        do throws(KeybagError) { heads = try storage.auditHeads() } catch {
            unrepaired.append(RepairFailure(fileName: AuditHead.fileName, error: error))
        }
        audit = try AuditLedger(keybag.body.audit.last, places: heads, root: keybag.root, of: keybag.body.store)
        self.keybag = keybag
        self.storage = storage
        self.protectors = protectors
        self.hardware = hardware
        self.unrepaired = unrepaired
        self.attempts = attempts
        self.cost = cost
    }

    /// A keybag that exists in memory only, for a store that does not outlive
    /// its process.
    static func ephemeral(cost: PasscodeCost, biometry: (any BiometrySource)?) throws(KeybagError) -> EnclaveCore {
        let root = RootKey.random()
        let body = KeybagBody.new(for: .random(), root: root)
        return try EnclaveCore(
            Keybag(body, generation: 1, root: root), in: EphemeralStorage(), protectors: nil, unrepaired: [],
            attempts: AttemptCounter(failed: 0, at: .zero), cost: cost, biometry: biometry)
    }

    var store: StoreID { keybag.body.store }
    var indexKey: SharedSecret { keybag.indexKey }
    /// The class keys that are open now.
    var ring: KeyRing { keybag.ring }

    /// - Parameter process: the process that holds the keys.
    func describe(process: Int32, at moment: Duration) -> EnclaveDescription {
        var described = EnclaveDescription(
            protectors: protectors?.body.protectors.map(\.kind.name) ?? [], slots: keybag.body.slots.map(\.kind.name),
            state: state(at: moment),
            generations: keybag.body.generations, effacedBelow: keybag.body.effacedBelow,
            memoryLocked: SecretArena.shared.isLocked && SecretArena.shared.overflow.unlocked == 0,
            keybagGeneration: keybag.generation, processID: process,
            unrepairedFiles: unrepaired.map(\.fileName),
            startRefusal: keybag.body.slot(.tpm2) == nil ? nil : startRefusal)
        described.placeFault = placeFault
        if lacksEffacement, !described.unrepairedFiles.contains(EffacementFile.fileName) {
            described.unrepairedFiles.append(EffacementFile.fileName)
        }
        return described
    }

    func state(at moment: Duration) -> DeviceState {
        var state = DeviceState(
            number: stateNumber, lock: keybag.lock, hasPasscode: keybag.body.hasPasscode,
            hasRecoveryCode: keybag.body.slot(.recovery) != nil, openClasses: ring.openClasses,
            failedAttempts: attempts.failed, secondsToNextAttempt: attempts.secondsToNext(at: moment),
            isClosing: isClosing, opensByItself: keybag.body.opensByItself,
            lockPolicy: keybag.body.lockPolicy, fingerUnlocks: keybag.body.fingerUnlocks,
            fingerOpens: kept != nil && trust.isGiven(at: moment))
        let tpm = keybag.body.tpm
        state.effacement = EffacementState(
            tpm: tpm.place?.index.address, fault: tpm.place == nil ? nil : effacementFault,
            left: tpm.undefining.map(\.place))
        let counted = keybag.body.counter
        state.counter = CounterState(
            tpm: counted.place?.index.address, fault: counter?.fault, left: counted.undefining.map(\.place))
        return state
    }
}
