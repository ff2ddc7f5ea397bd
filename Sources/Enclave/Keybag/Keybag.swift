internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// A keybag as a running enclave has it: what the file says, the root key, and
/// the keys that are open now.
///
/// It knows no file. What changes the keybag makes the next one beside it
/// (``KeybagChange``), which is adopted once it is durable.
struct Keybag: ~Copyable, Sendable {
    private(set) var body: KeybagBody
    private(set) var generation: UInt64
    /// 32 bytes; open from the start, so that rows match while locked.
    let indexKey: SharedSecret
    private(set) var root: RootKey
    /// Of the classes that hang on the root key alone.
    private(set) var deviceKeys: [ClassKey]
    /// Of the classes that stay open from the first unlock on.
    private var lastingKeys: [ClassKey] = []
    private var bag: OpenBag?
    /// The class keys that are open now.
    private(set) var ring: KeyRing

    /// - Parameter effacement: what the keybag names so, where it is there.
    /// - Throws: ``KeybagError/Cause/malformed`` where an authentic keybag holds
    ///   what its own root key does not open: our bug, or a forgery by whoever has
    ///   the root key.
    init(_ body: KeybagBody, generation: UInt64, root: consuming RootKey) throws(KeybagError) {
        let wrapping = root.wrappingKey
        let index = try Self.unwrap(
            body.wrappedIndexKey, under: wrapping, bound: WrapBinding.indexKey(store: body.store))
        let deviceKeys = try Self.classKeys(of: body, .root, under: wrapping)
        self.body = body
        self.generation = generation
        indexKey = SharedSecret(index.secret.copy())
        self.deviceKeys = deviceKeys
        self.root = root
        ring = KeyRing(of: body, open: deviceKeys, isUnlocked: false)
    }

    var lock: DeviceState.Lock {
        if bag != nil { return .unlocked }
        return lastingKeys.isEmpty ? .beforeFirstUnlock : .locked
    }

    // MARK: Opening and closing

    /// Opens the bag with a slot's secret, and with it the class keys.
    ///
    /// - Parameters:
    ///   - effacement: without it the class akpu stays closed,
    ///   - isAwaited: and counts as locked, not as lost.
    /// - Throws: ``KeybagError/Cause/slotRefuses`` where no slot of that kind takes
    ///   the secret; nothing is changed then.
    mutating func unlock(
        with secret: borrowing SlotSecret, effacement: EffacementSecret?, isAwaited: Bool = false
    ) throws(KeybagError) {
        let (slot, bagKey) = try openBagKey(with: secret)
        var opened = try OpenBag(body, bagKey, try personKey(in: slot, with: secret), effacement)
        opened.awaitsEffacement = isAwaited
        adopt(opened)
    }

    /// The password of the index that has the effacement secret; nil where none does, or
    /// the slot takes no person.
    ///
    /// - Throws: as ``unlock(with:effacement:isAwaited:)``; opens nothing.
    func effacementPassword(with secret: borrowing SlotSecret) throws(KeybagError) -> SharedSecret? {
        let (slot, _) = try openBagKey(with: secret)
        guard let place = body.tpm.place, let person = try personKey(in: slot, with: secret) else { return nil }
        return try Self.effacementPassword(of: place, under: person, store: body.store)
    }

    static func effacementPassword(
        of place: TPMEffacement.Place, under person: SharedSecret, store: StoreID
    ) throws(KeybagError) -> SharedSecret {
        let binding = WrapBinding.effacementPassword(store: store, of: place.index)
        let password = try unwrap(place.wrappedPassword, under: SealingKey(person.bytes.copy()), bound: binding)
        return SharedSecret(password.secret.copy())
    }

    /// Opens what ``close(leaving:)`` closed, as the person had opened it.
    ///
    /// - Throws: ``KeybagError/Cause/malformed`` where it is another keybag's; nothing is
    ///   changed then.
    mutating func unlock(
        with kept: borrowing KeptBag, effacement: EffacementSecret?, isAwaited: Bool = false
    ) throws(KeybagError) {
        var opened = try OpenBag(body, SharedSecret(kept.key.secret.copy()), kept.person, effacement)
        opened.awaitsEffacement = isAwaited
        adopt(opened)
    }

    /// nil in a slot that opens without a person.
    private func personKey(
        in slot: KeybagBody.Slot, with secret: borrowing SlotSecret
    ) throws(KeybagError) -> SharedSecret? {
        guard slot.kind.needsPerson else { return nil }
        guard slot.kind != .login else {
            do throws(CryptoError) {
                return SharedSecret(try LoginSlot.personKey(in: slot, with: secret, root: root, store: body.store))
            } catch { throw .unreadable(.malformed) }
        }
        let binding = WrapBinding.personKey(store: body.store, slot: slot.kind, slot.identifier)
        let key = try Self.unwrap(slot.wrappedPersonKey, under: root.slotKey(for: secret), bound: binding)
        return SharedSecret(key.secret.copy())
    }

    /// The body with the slot of another login password in the place of this one's; what
    /// is open stays as it is, and so does everything below the slots.
    ///
    /// - Throws: ``KeybagError/Cause/slotRefuses`` where the slot has another secret.
    func rewrappingLogin(
        from secret: borrowing SlotSecret, to place: LoginSlot.Place
    ) throws(KeybagError) -> KeybagBody {
        let (slot, bagKey) = try openBagKey(with: secret)
        guard slot.kind == .login, let person = try personKey(in: slot, with: secret) else {
            throw .unreadable(.slotRefuses)
        }
        var next = body
        next.slots.removeAll { $0.kind == .login }
        next.slots.append(
            LoginSlot.slot(at: place, bag: bagKey.bytes, person: person.bytes, root: root, store: body.store))
        return next
    }

    /// Whether a slot takes the secret; opens nothing.
    func accepts(_ secret: borrowing SlotSecret) -> Bool {
        do throws(KeybagError) {
            _ = try openBagKey(with: secret)
            return true
        } catch { return false }
    }

    /// Closes what is open while unlocked; the keys are wiped.
    mutating func close() {
        bag = nil
        ring = KeyRing(of: body, open: deviceKeys + lastingKeys, isUnlocked: false)
    }

    /// As ``close()``, but for what opens it again, where a person had opened it; `kept`
    /// stays where nothing was open.
    mutating func close(leaving kept: inout KeptBag?) {
        switch bag.take() {
        case .some(let open): kept = open.kept()
        case .none: break
        }
        close()
    }

    /// As after a new start of the process.
    mutating func forgetFirstUnlock() {
        lastingKeys = []
        close()
    }

    private mutating func adopt(_ opened: consuming OpenBag) {
        lastingKeys = opened.keys.filter { $0.protectionClass.isOpenAfterFirstUnlock }
        // What takes a person stays closed where no person opened the rest.
        let isComplete = opened.isComplete || !body.hasPasscode
        ring = KeyRing(of: body, open: deviceKeys + opened.keys, isUnlocked: isComplete)
        bag = consume opened
    }

    private func openBagKey(
        with secret: borrowing SlotSecret
    ) throws(KeybagError) -> (slot: KeybagBody.Slot, key: SharedSecret) {
        let slotKey = root.slotKey(for: secret)
        for slot in body.slots where slot.kind == secret.kind {
            let binding = WrapBinding.bagKey(store: body.store, slot: slot.kind, slot.identifier)
            do throws(CryptoError) {
                if slot.kind.isBoxed {
                    return (
                        slot, SharedSecret(try AutomaticSlot.open(slot, with: secret, root: root, store: body.store))
                    )
                }
                return (slot, SharedSecret(try slotKey.open(slot.wrappedBagKey, bound: binding)))
            } catch { continue }
        }
        throw .unreadable(.slotRefuses)
    }

    // MARK: Changing

    /// Lends what a change is made from.
    ///
    /// - Throws: ``KeybagError/Cause/slotRefuses`` while the bag is closed.
    func withOpenBag<R: ~Copyable>(_ body: (borrowing OpenBag) throws(KeybagError) -> R) throws(KeybagError) -> R {
        switch bag {
        case .some(let open): return try body(open)
        case .none: throw .unreadable(.slotRefuses)
        }
    }

    /// Takes what a change made, once it is durable.
    mutating func adopt(_ change: consuming KeybagChange) {
        body = change.body
        generation = change.generation
        if let moved = change.takeMove() {
            deviceKeys = moved.deviceKeys
            root = moved.takeRoot()
        }
        adopt(change.takeBag())
    }

    /// Forgets class keys that nothing is wrapped under any more.
    mutating func adopt(_ slimmer: KeybagBody, generation: UInt64) {
        func stays(_ key: ClassKey) -> Bool {
            slimmer.classKeys.contains { $0.protectionClass == key.protectionClass && $0.generation == key.generation }
        }
        body = slimmer
        self.generation = generation
        lastingKeys = lastingKeys.filter(stays)
        deviceKeys = deviceKeys.filter(stays)
        bag?.keys.removeAll { !stays($0) }
        let (whileOpen, isComplete): ([ClassKey], Bool)
        switch bag {
        case .some(let open): (whileOpen, isComplete) = (open.keys, open.isComplete || !body.hasPasscode)
        case .none: (whileOpen, isComplete) = (lastingKeys, false)
        }
        ring = KeyRing(of: body, open: deviceKeys + whileOpen, isUnlocked: isComplete)
    }
}

/// The open bag: its own key, what a person opens, and the class keys in it.
struct OpenBag: ~Copyable, Sendable {
    let key: SealingKey
    /// nil without a passcode.
    let person: SharedSecret?
    var keys: [ClassKey]
    /// The TPM that has the effacement secret did not answer: akpu opens when it does.
    var awaitsEffacement = false

    /// Whether everything is open that will ever be.
    fileprivate var isComplete: Bool { person != nil && !awaitsEffacement }

    init(key: consuming SealingKey, person: SharedSecret?, keys: [ClassKey]) {
        self.key = key
        self.person = person
        self.keys = keys
    }

    fileprivate init(
        _ body: KeybagBody, _ bagKey: SharedSecret, _ person: SharedSecret?, _ effacement: EffacementSecret?
    ) throws(KeybagError) {
        key = SealingKey(bagKey.bytes.copy())
        var keys = try Keybag.classKeys(of: body, .bag, under: key)
        if let person, let effacement {
            let under = RootKey.effaceableKey(SealingKey(person.bytes.copy()), effacement.secret)
            keys += try Keybag.classKeys(of: body, .person, under: under)
        }
        self.person = person
        self.keys = keys
    }

    /// nil where no person opened it. The class keys go.
    fileprivate consuming func kept() -> KeptBag? {
        guard let person else { return nil }
        return KeptBag(key: key, person: person)
    }
}

extension Keybag {
    static func unwrap(
        _ box: [UInt8], under parent: borrowing SealingKey, bound: AssociatedData
    ) throws(KeybagError) -> SealingKey {
        do throws(CryptoError) {
            return SealingKey(try parent.open(box, bound: bound))
        } catch {
            throw .unreadable(.malformed)
        }
    }

    static func classKeys(
        of body: KeybagBody, _ kind: ClassKeyParent, under parent: borrowing SealingKey
    ) throws(KeybagError) -> [ClassKey] {
        var keys: [ClassKey] = []
        for wrapped in body.classKeys where wrapped.parent == kind {
            let binding = WrapBinding.classKey(
                store: body.store, wrapped.protectionClass, generation: wrapped.generation, under: kind)
            let key = try unwrap(wrapped.box, under: parent, bound: binding)
            keys.append(ClassKey(wrapped.protectionClass, generation: wrapped.generation, key: key))
        }
        return keys
    }
}

extension ProtectionClass {
    /// Whether its key stays open when the keychain is locked again.
    fileprivate var isOpenAfterFirstUnlock: Bool {
        self == .afterFirstUnlock || self == .afterFirstUnlockThisDeviceOnly
    }

    /// Whether it is open only while the keychain is unlocked.
    var closesWithLock: Bool { ClassKeyParent(of: self) != .root && !isOpenAfterFirstUnlock }
}
