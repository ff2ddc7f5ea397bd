internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform

/// The engine: an opened keybag that makes and opens keys. It does no I/O and
/// knows no clock; one thread uses it at a time.
struct EnclaveCore: ~Copyable, Sendable {
    private let keybag: KeybagState
    private let protectors: [String]
    private let unrepaired: [RepairFailure]
    let store: StoreID
    let indexKey: SharedSecret
    /// The class keys that are open now.
    let ring: KeyRing

    init(_ keybag: consuming KeybagState, protectors: [String], unrepaired: [RepairFailure]) {
        store = keybag.body.store
        indexKey = keybag.indexKey
        ring = keybag.ring
        self.keybag = keybag
        self.protectors = protectors
        self.unrepaired = unrepaired
    }

    /// A keybag that exists in memory only, for a store that does not outlive
    /// its process.
    static func ephemeral() throws(KeybagError) -> EnclaveCore {
        let root = RootKey.random()
        let body = KeybagBody.new(for: .random(), root: root)
        let locked = try Keybag.Locked.open(body, generation: 1, root: root)
        return EnclaveCore(try KeybagState(unlockingOpenSlotOf: locked), protectors: [], unrepaired: [])
    }

    /// - Parameter process: the process that holds the keys.
    func describe(process: Int32) -> EnclaveDescription {
        EnclaveDescription(
            protectors: protectors, slots: keybag.body.slots.map(\.kind.name), openClasses: ring.openClasses,
            hasPasscode: keybag.body.slots.contains { $0.kind.name == "passcode" },
            memoryLocked: SecretArena.shared.isLocked && SecretArena.shared.overflow.unlocked == 0,
            keybagGeneration: keybag.generation, processID: process,
            unrepairedFiles: unrepaired.map(\.fileName))
    }
}
