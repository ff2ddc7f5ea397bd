internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

/// The keybag as it is to be, made beside the one that is: nothing of it counts
/// before it is durable.
struct KeybagChange: ~Copyable {
    let body: KeybagBody
    let generation: UInt64
    /// A new effacement secret for the file, which has to be durable before the body is.
    let effacement: EffacementSecret?
    /// The audit record goes on under keys that nobody had before, where it is kept and
    /// the keys below the slots are new.
    let audit: NewAuditChain?
    private let bag: OpenBag
    private var move: RootMove?

    private static func chains(
        of keybag: borrowing Keybag, _ made: borrowing OpenBag, followedBy fresh: NewAuditChain?, _ newRoot: NewRoot?
    ) throws(KeybagError) -> [AuditChain] {
        let (old, store) = (keybag.body.audit, keybag.body.store)
        let root = newRoot?.key.copy() ?? keybag.root.copy()
        return try keybag.withOpenBag { bag throws(KeybagError) in
            old.followed(by: fresh, from: bag.key, to: made.key, root, of: store)
        }
    }

    /// The index that has the secret from now on, its password under the new bag's person key.
    private static func tpm(
        of keybag: borrowing Keybag, _ made: borrowing OpenBag, keepsSecret: Bool, _ new: NewEffacement?
    ) throws(KeybagError) -> TPMEffacement {
        var next = keybag.body.tpm
        let store = keybag.body.store
        guard keepsSecret else {
            if case .tpm(_, let index, let password)? = new {
                next.replacePlace(by: made.place(index, password.bytes, of: store))
            } else {
                next.replacePlace(by: nil)
            }
            return next
        }
        guard let place = next.place else { return next }
        let password = try keybag.withOpenBag { bag throws(KeybagError) in
            try bag.person.map { person throws(KeybagError) in
                try Keybag.effacementPassword(of: place, under: person, store: store)
            }
        }
        next.place = password.flatMap { made.place(place.index, $0.bytes, of: store) }
        return next
    }

    consuming func takeBag() -> OpenBag { bag }

    /// The new root key with what hangs on it alone, where there is one.
    mutating func takeMove() -> RootMove? { move.take() }

    /// What is done to the keys below the slots.
    enum Keys {
        /// Slots alone change: each wraps what the one before it wrapped.
        case kept
        /// A new bag key and a new generation of each class under it, because a
        /// slot goes whose wraps lie, or lay, on a disk.
        case rolled
        /// The same, and what a person opened begins anew: the class akpu with all
        /// that was sealed under it is gone once the old effacement secret is.
        case effaced
    }

    /// - Parameters:
    ///   - slots: slots that are to be there, with their secrets.
    ///   - kept: others that stay as they are; only where the keys below are kept.
    ///   - dropped: names a slot that goes of those that need no secret to be carried over
    ///     (``SlotKind/isBoxed``); the others of that sort stay as long as there is a
    ///     passcode.
    ///   - effacement: the present secret; needed where akpu goes on.
    ///   - newEffacement: where another one is to lie, under which akpu goes on; nil: a
    ///     present one stays where it is, and one that is needed is made in the file.
    ///   - newRoot: takes the present one's place, because a protector goes whose wrap
    ///     lies, or lay, on a disk; never where the keys below are kept.
    ///   - counter: one that was announced, which counts from then on; never with another root
    ///     key.
    ///   - recording: whether an audit record is being kept, which then goes on under
    ///     another chain of keys.
    init(
        of keybag: borrowing Keybag, _ keys: Keys, slots: borrowing NewSlots, keeping kept: [KeybagBody.Slot] = [],
        dropping dropped: [UInt8]? = nil, effacement present: EffacementSecret?,
        replacedBy newEffacement: NewEffacement? = nil, movingTo newRoot: NewRoot? = nil,
        counting counter: CounterWork.New? = nil, recording: Bool = false
    ) throws(KeybagError) {
        let old = keybag.body
        let needsPerson = slots.needPerson || kept.contains { $0.kind.needsPerson }
        var carried = NewSlots()
        if keys != .kept, needsPerson {
            for slot in old.slots where slot.identifier != dropped {
                try carried.carry(slot, root: keybag.root, store: old.store)
            }
        }
        var next = old
        // Without its other half, what a person opened is lost: it begins anew.
        let isEffaced = keys == .effaced || (old.hasPasscode && present == nil)
        let isFresh = needsPerson && (isEffaced || !old.hasPasscode || newEffacement != nil)
        let fresh = isFresh ? NewEffacement.secret(of: newEffacement) : nil
        if isEffaced || !needsPerson { next.effacedBelow = old.nextEffaceableGeneration }
        if !needsPerson { (next.lockPolicy, next.fingerUnlocks) = (.never, false) }
        next.effacement = needsPerson ? (fresh?.identifier ?? old.effacement) : []
        let maker = KeyMaker(
            store: old.store, effacement: needsPerson ? (fresh ?? present) : nil, isEffaced: isEffaced)
        let made = try keybag.withOpenBag { bag throws(KeybagError) in try maker.bag(from: bag, keys, old, next) }
        let inBag = try maker.wrapped(made)
        next.tpm = try Self.tpm(of: keybag, made, keepsSecret: needsPerson && !isFresh, newEffacement)
        let isRolled = keys != .kept || newRoot != nil
        let chain = isRolled && recording ? NewAuditChain() : nil
        next.audit = try isRolled ? Self.chains(of: keybag, made, followedBy: chain, newRoot) : old.audit
        if let counter {
            guard TPMCounter.bases.contains(keybag.generation) else { throw .wouldNotOpen }
            next.counter.begin(
                counter.index, password: counter.password.bytes, after: keybag.generation, under: keybag.root,
                of: old.store)
        }
        if let newRoot {
            next.counter = try next.counter.moved(from: keybag.root, to: newRoot.key, of: old.store)
            let move = RootMove(of: keybag, to: newRoot.key)
            next.classKeys = move.wrappedDeviceKeys + inBag
            next.wrappedIndexKey = move.wrappedIndexKey
            next.slots =
                kept + slots.wrapped(under: newRoot.key, made, store: old.store)
                + carried.wrapped(under: newRoot.key, made, store: old.store)
            self.move = .some(move)
        } else {
            next.classKeys = old.classKeys.filter { $0.parent == .root } + inBag
            next.slots =
                kept + slots.wrapped(under: keybag.root, made, store: old.store)
                + carried.wrapped(under: keybag.root, made, store: old.store)
            move = nil
        }
        guard next.classKeys.count <= KeybagBody.mostClassKeys else { throw .tooManyKeys }
        guard next.slots.count <= KeybagBody.mostSlots else { throw .tooManySlots }
        // What would not be read at the next start is not written now.
        guard KeybagBody(parsing: next.encoded) == next else { throw .wouldNotOpen }
        body = next
        generation = keybag.generation + 1
        effacement = next.tpm.place == nil ? fresh : nil
        audit = chain
        bag = made
    }
}

/// A root key that is to be. (A reference, because an optional parameter cannot lend a
/// noncopyable value.)
final class NewRoot: Sendable {
    let key: RootKey

    init(_ key: consuming RootKey = .random()) { self.key = key }
}

/// What hangs on the root key alone, under another one: the index key as it is, and a
/// new generation of the classes that are always open.
struct RootMove: ~Copyable {
    private let root: RootKey
    let deviceKeys: [ClassKey]
    let wrappedDeviceKeys: [WrappedClassKey]
    let wrappedIndexKey: [UInt8]

    consuming func takeRoot() -> RootKey { root }

    init(of keybag: borrowing Keybag, to newRoot: borrowing RootKey) {
        let body = keybag.body
        let wrapping = newRoot.wrappingKey
        let fresh = ProtectionClass.allCases.filter { ClassKeyParent(of: $0) == .root }.map { named in
            ClassKey(named, generation: body.nextGeneration(of: named), key: .random())
        }
        let keys = keybag.deviceKeys + fresh
        wrappedDeviceKeys = keys.map { key in
            let binding = WrapBinding.classKey(
                store: body.store, key.protectionClass, generation: key.generation, under: .root)
            return WrappedClassKey(
                protectionClass: key.protectionClass, generation: key.generation, parent: .root,
                box: wrapping.seal(key.key.secret, bound: binding))
        }
        wrappedIndexKey = wrapping.seal(keybag.indexKey.bytes, bound: WrapBinding.indexKey(store: body.store))
        deviceKeys = keys
        root = newRoot.copy()
    }
}

/// Slots that are to be there, each with what opens it.
struct NewSlots: ~Copyable {
    private enum Entry {
        case secret(SharedSecret, SlotKind, parameters: [UInt8])
        case automatic(SlotKind, name: [UInt8], publicKey: [UInt8], parameters: [UInt8])
        case login(LoginSlot.Place)
    }

    private var entries: [Entry] = []

    init() {}

    /// The slot of a keybag without a passcode.
    static var open: NewSlots {
        var slots = NewSlots()
        slots.add(.open, parameters: [])
        return slots
    }

    mutating func add(_ secret: borrowing SlotSecret, parameters: [UInt8]) {
        if secret.kind == .login, let derivation = PasscodeParameters(encoded: parameters) {
            return entries.append(.login(LoginSlot.place(for: secret, derivation)))
        }
        guard secret.kind.isAutomatic else {
            return entries.append(.secret(SharedSecret(secret.bytes.copy()), secret.kind, parameters: parameters))
        }
        entries.append(
            .automatic(
                secret.kind, name: Random.bytes(KeybagBody.slotIdentifierCount),
                publicKey: AutomaticSlot.publicKey(of: secret), parameters: parameters))
    }

    /// One that needs no secret for it, as it was; no other.
    ///
    /// - Parameter root: the key that it was made under.
    mutating func carry(
        _ slot: KeybagBody.Slot, root: borrowing RootKey, store: StoreID
    ) throws(KeybagError) {
        if slot.kind == .login {
            return entries.append(.login(try LoginSlot.place(of: slot, root: root, store: store)))
        }
        guard slot.kind.isAutomatic, !slot.publicKey.isEmpty else { return }
        entries.append(
            .automatic(slot.kind, name: slot.identifier, publicKey: slot.publicKey, parameters: slot.parameters))
    }

    var needPerson: Bool {
        entries.contains { entry in
            switch entry {
            case .secret(_, let kind, _): kind.needsPerson
            case .login: true
            case .automatic: false
            }
        }
    }

    func wrapped(under root: borrowing RootKey, _ bag: borrowing OpenBag, store: StoreID) -> [KeybagBody.Slot] {
        var slots: [KeybagBody.Slot] = []
        for entry in entries {
            switch entry {
            case .secret(let secret, let kind, let parameters):
                slots.append(Self.slot(secret, kind, parameters, root, bag, store))
            case .automatic(let kind, let name, let publicKey, let parameters):
                let box = AutomaticSlot.wrap(bag.key, for: publicKey, kind, name, root: root, store: store)
                slots.append(
                    KeybagBody.Slot(
                        kind: kind, identifier: name, wrappedBagKey: box, parameters: parameters,
                        publicKey: publicKey))
            case .login(let place):
                // There is one wherever anything needs a person.
                guard let person = bag.person else { continue }
                slots.append(
                    LoginSlot.slot(at: place, bag: bag.key.secret, person: person.bytes, root: root, store: store))
            }
        }
        return slots
    }

    private static func slot(
        _ secret: SharedSecret, _ kind: SlotKind, _ parameters: [UInt8], _ root: borrowing RootKey,
        _ bag: borrowing OpenBag, _ store: StoreID
    ) -> KeybagBody.Slot {
        let identifier = Random.bytes(KeybagBody.slotIdentifierCount)
        let key = root.slotKey(for: SlotSecret(kind: kind, bytes: secret.bytes.copy()))
        let person = bag.person.flatMap { person in
            kind.needsPerson
                ? key.seal(person.bytes, bound: WrapBinding.personKey(store: store, slot: kind, identifier)) : nil
        }
        return KeybagBody.Slot(
            kind: kind, identifier: identifier,
            wrappedBagKey: key.seal(
                bag.key.secret, bound: WrapBinding.bagKey(store: store, slot: kind, identifier)),
            wrappedPersonKey: person ?? [], parameters: parameters)
    }
}

extension OpenBag {
    /// nil without a person.
    fileprivate func place(
        _ index: TPMIndex, _ password: borrowing SecretBytes, of store: StoreID
    ) -> TPMEffacement.Place? {
        guard let person else { return nil }
        let binding = WrapBinding.effacementPassword(store: store, of: index)
        return TPMEffacement.Place(
            index, wrappedPassword: SealingKey(person.bytes.copy()).seal(password, bound: binding))
    }
}

/// Makes the keys below the slots, and wraps them.
private struct KeyMaker {
    let store: StoreID
    let effacement: EffacementSecret?
    /// What a person opened begins anew.
    let isEffaced: Bool

    func bag(
        from old: borrowing OpenBag, _ change: KeybagChange.Keys, _ before: KeybagBody, _ next: KeybagBody
    ) throws(KeybagError) -> OpenBag {
        var keys = old.keys.filter { $0.protectionClass != .whenPasscodeSetThisDeviceOnly }
        var effaceable = old.keys.filter { $0.protectionClass == .whenPasscodeSetThisDeviceOnly }
        if isEffaced || effacement == nil { effaceable = [] }
        if change != .kept {
            keys += ProtectionClass.allCases.filter { ClassKeyParent(of: $0) == .bag }.map { Self.fresh($0, before) }
        }
        let isNew = effaceable.isEmpty || change != .kept
        if effacement != nil && isNew { effaceable.append(Self.fresh(.whenPasscodeSetThisDeviceOnly, before)) }
        return OpenBag(
            key: change == .kept ? old.key.copy() : .random(), person: person(old, change),
            keys: keys + effaceable)
    }

    private func person(_ old: borrowing OpenBag, _ change: KeybagChange.Keys) -> SharedSecret? {
        guard effacement != nil else { return nil }
        if change == .kept, let kept = old.person { return kept }
        return SharedSecret(.random(count: SealingKey.byteCount))
    }

    /// A key of the generation after the last.
    private static func fresh(_ protectionClass: ProtectionClass, _ before: KeybagBody) -> ClassKey {
        ClassKey(protectionClass, generation: before.nextGeneration(of: protectionClass), key: .random())
    }

    func wrapped(_ bag: borrowing OpenBag) throws(KeybagError) -> [WrappedClassKey] {
        var boxes: [WrappedClassKey] = []
        for key in bag.keys {
            let parent = ClassKeyParent(of: key.protectionClass)
            let binding = WrapBinding.classKey(
                store: store, key.protectionClass, generation: key.generation, under: parent)
            boxes.append(
                WrappedClassKey(
                    protectionClass: key.protectionClass, generation: key.generation, parent: parent,
                    box: try seal(key.key.secret, parent, bag, binding)))
        }
        return boxes
    }

    private func seal(
        _ secret: borrowing SecretBytes, _ parent: ClassKeyParent, _ bag: borrowing OpenBag, _ binding: AssociatedData
    ) throws(KeybagError) -> [UInt8] {
        guard parent == .person else { return bag.key.seal(secret, bound: binding) }
        guard let person = bag.person, let effacement else { throw .unreadable(.effacementMissing) }
        return RootKey.effaceableKey(SealingKey(person.bytes.copy()), effacement.secret).seal(secret, bound: binding)
    }
}

extension KeybagBody {
    /// The generation of akpu from which on nothing is effaced once all there is now is.
    fileprivate var nextEffaceableGeneration: UInt32 { nextGeneration(of: .whenPasscodeSetThisDeviceOnly) }

    /// From 1, and for akpu never one that was effaced.
    fileprivate func nextGeneration(of protectionClass: ProtectionClass) -> UInt32 {
        let last = classKeys.filter { $0.protectionClass == protectionClass }.map(\.generation).max() ?? 0
        return protectionClass == .whenPasscodeSetThisDeviceOnly ? max(last + 1, effacedBelow) : last + 1
    }
}
