internal import Enclave
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore
internal import Synchronization

/// A class's metadata key, unwrapped and verified, with the generation of the
/// class key under which its rows' keys are wrapped.
final class MetadataKey: Sendable {
    let generation: UInt32
    let key: SealingKey

    init(_ key: consuming SealingKey, generation: UInt32) {
        self.generation = generation
        self.key = key
    }
}

/// The metadata keys of open classes: made on first need, kept while the class
/// is open, dropped when it closes.
final class MetadataKeys: Sendable {
    private let store: Store
    private let enclave: EnclavePool
    private let storeID: [UInt8]
    private let brake: DamageBrake
    private let cached = Mutex(Cache())

    private struct Cache {
        var keys: [ProtectionClass: [UInt32: MetadataKey]] = [:]
        /// What the enclave wraps new keys under.
        var newest: [ProtectionClass: UInt32] = [:]
        /// Classes that the enclave would call locked.
        var closed: Set<ProtectionClass> = []
        /// Goes up whenever everything is forgotten: what a call asked the enclave for
        /// before that is not kept after it.
        var epoch: UInt64 = 0
    }

    /// Those that a lock closes and an unlocking opens, and nothing else does.
    private static let lockable: Set<ProtectionClass> = [
        .whenUnlocked, .afterFirstUnlock, .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly,
    ]

    init(_ store: Store, _ enclave: EnclavePool, _ brake: DamageBrake, storeID: [UInt8]) {
        self.brake = brake
        self.store = store
        self.enclave = enclave
        self.storeID = storeID
    }

    /// What became of a request for a key.
    enum Outcome {
        case key(MetadataKey)
        case locked
        case noClassKey
        /// The record does not open under a verified class key.
        case damaged
        /// No row of this class was ever written.
        case absent
        /// The class key is gone for good.
        case effaced
    }

    func forget() { cached.withLock { $0 = Cache(epoch: $0.epoch + 1) } }

    private var epoch: UInt64 { cached.withLock { $0.epoch } }

    /// Keeps what was asked for in an epoch, as long as that is the present one.
    private func keep(since epoch: UInt64, _ change: (inout Cache) -> Void) {
        cached.withLock { if $0.epoch == epoch { change(&$0) } }
    }

    /// The enclave need not be asked for what is closed, until ``forget()`` or
    /// ``assumeNothing()``: for whoever hears of the next state before anybody is told
    /// that the keychain was unlocked.
    func assume(_ state: DeviceState) {
        guard state.lock != .unlocked else { return }
        cached.withLock { $0.closed = Self.lockable.subtracting(state.openClasses) }
    }

    func assumeNothing() { cached.withLock { $0.closed = [] } }

    /// The key of a class for reading its rows of one generation.
    func find(
        _ protectionClass: ProtectionClass, generation: UInt32, using reader: StoreReader
    ) throws(KeychainError) -> Outcome {
        let (known, isClosed) = cached.withLock {
            ($0.keys[protectionClass]?[generation], $0.closed.contains(protectionClass))
        }
        if let known { return .key(known) }
        let records = try reader.metadataKeys(of: protectionClass, generation: generation)
        if records.isEmpty { return .absent }
        return isClosed ? .locked : try open(records, protectionClass)
    }

    /// The first copy of a record that opens; else what became of one of them.
    private func open(
        _ records: [MetadataKeyRecord], _ protectionClass: ProtectionClass, keeping: Bool = true
    ) throws(KeychainError) -> Outcome {
        var failure = Outcome.damaged
        for record in records {
            let outcome = try open(record, protectionClass, keeping: keeping)
            switch outcome {
            case .key: return outcome
            case .damaged: continue
            case .locked, .noClassKey, .absent, .effaced: failure = outcome
            }
        }
        return failure
    }

    /// The generation under which new keys of a class are wrapped; nil where the
    /// class has no key.
    private func newest(_ protectionClass: ProtectionClass) throws(KeychainError) -> UInt32? {
        if let known = cached.withLock({ $0.newest[protectionClass] }) { return known }
        return try newestNow(protectionClass)
    }

    private func newestNow(_ protectionClass: ProtectionClass) throws(KeychainError) -> UInt32? {
        let epoch = epoch
        let described = try enclave.use { enclave throws(KeychainError) in try enclave.describe() }
        keep(since: epoch) { $0.newest = described.generations }
        return described.generations[protectionClass]
    }

    /// Whether a row of the class can be of that generation at all.
    func mayHave(_ generation: UInt32, _ protectionClass: ProtectionClass) throws(KeychainError) -> Bool {
        try newest(protectionClass).map { generation <= $0 } ?? false
    }

    /// The class keys were renewed between two steps of one call, which is made again.
    static let renewed = KeychainError(.notAvailable, reason: .busy, underlying: "the class keys were renewed")

    func open(
        _ record: MetadataKeyRecord, _ protectionClass: ProtectionClass, keeping: Bool = true
    ) throws(KeychainError) -> Outcome {
        let wrapped = WrappedKey(generation: record.generation, box: record.wrapped)
        let epoch = epoch
        let outcome = try enclave.use { enclave throws(KeychainError) in
            try enclave.openMetadataKey(wrapped, of: protectionClass)
        }
        switch outcome {
        case .key(let secret, _):
            guard check(secret.bytes, protectionClass) == record.check else { return .damaged }
            return .key(
                keeping
                    ? keep(secret, protectionClass, record.generation, since: epoch)
                    : MetadataKey(SealingKey(secret.bytes.copy()), generation: record.generation))
        case .locked, .needsAuthentication, .wrongApplicationPassword: return .locked
        case .noClassKey: return .noClassKey
        case .damaged: return .damaged
        case .effaced: return .effaced
        }
    }

    private func keep(
        _ secret: SharedSecret, _ protectionClass: ProtectionClass, _ generation: UInt32, since epoch: UInt64
    ) -> MetadataKey {
        let key = MetadataKey(SealingKey(secret.bytes.copy()), generation: generation)
        keep(since: epoch) { $0.keys[protectionClass, default: [:]][generation] = key }
        return key
    }

    /// 16 bytes that only this key gives (FORMATS.md, "Metadata keys").
    private func check(_ key: borrowing SecretBytes, _ protectionClass: ProtectionClass) -> [UInt8] {
        let message = Array("latchkey metadata key check".utf8) + storeID + [protectionClass.number]
        // A key of its own: one key, one use (NIST SP 800-57 part 1, section 5.2).
        let checking = KeyDerivation.derive(from: key, purpose: "latchkey metadata key check 1")
        return Array(KeyDerivation.authenticationCode(message, key: checking).prefix(16))
    }

    /// The key of a class for writing; made and made durable where there is none.
    ///
    /// - Throws: -25308 while the class is locked, -25293 for a class that needs
    ///   a passcode where there is none.
    func forWriting(_ protectionClass: ProtectionClass, at moment: Double) throws(KeychainError) -> MetadataKey {
        guard let generation = try newest(protectionClass) else {
            throw KeychainError(.authFailed, reason: .passcodeNotSet)
        }
        if let key = cached.withLock({ $0.keys[protectionClass]?[generation] }) { return key }
        let found = try store.read { reader throws(KeychainError) in
            try self.find(protectionClass, generation: generation, using: reader)
        }
        switch found {
        case .key(let key): return key
        case .locked: throw Self.lockedError(protectionClass)
        case .noClassKey: throw KeychainError(.authFailed, reason: .passcodeNotSet)
        case .effaced: throw Self.renewed
        case .absent: return try make(protectionClass, at: moment, replacingDamaged: false)
        case .damaged: return try make(protectionClass, at: moment, replacingDamaged: true)
        }
    }

    /// Sets the rows of a damaged metadata key aside, with the key, as one event.
    func replaceDamaged(
        _ protectionClass: ProtectionClass, generation: UInt32, at moment: Double
    ) throws(KeychainError) {
        if try newest(protectionClass) == generation {
            _ = try make(protectionClass, at: moment, replacingDamaged: true)
        } else {
            // Nothing new is sealed under it: it goes, and its rows with it.
            try store.write { [self] transaction throws(KeychainError) in
                let present = try transaction.reader.metadataKeys(of: protectionClass, generation: generation)
                if !present.isEmpty {
                    switch try open(present, protectionClass, keeping: false) {
                    case .damaged: break
                    // Its class key has gone: of a generation that is past (RowOpener).
                    case .noClassKey:
                        guard try transaction.reader.hasMetadataKey(of: protectionClass, above: generation) else {
                            return
                        }
                    default: return
                    }
                }
                try admit(protectionClass)
                try transaction.setAsideMetadataKey(of: protectionClass, generation: generation, at: moment)
                for (itemClass, rowid) in try transaction.rowids(protectedBy: protectionClass, generation: generation) {
                    try transaction.setAside(rowid, in: itemClass, cause: .metadataKey, at: moment)
                }
            }
        }
    }

    private func make(
        _ protectionClass: ProtectionClass, at moment: Double, replacingDamaged: Bool
    ) throws(KeychainError) -> MetadataKey {
        let epoch = epoch
        let outcome = try enclave.use { enclave throws(KeychainError) in
            try enclave.makeMetadataKey(for: protectionClass)
        }
        guard case .key(let secret, let wrapped) = outcome else {
            if case .noClassKey = outcome { throw KeychainError(.authFailed, reason: .passcodeNotSet) }
            throw Self.lockedError(protectionClass)
        }
        keep(since: epoch) { $0.newest[protectionClass] = wrapped.generation }
        let record = MetadataKeyRecord(
            generation: wrapped.generation, wrapped: wrapped.box, check: check(secret.bytes, protectionClass))
        let isOurs: Bool
        do throws(KeychainError) {
            isOurs = try store.write { [self] transaction throws(KeychainError) in
                try put(record, protectionClass, transaction, at: moment, replacingDamaged: replacingDamaged)
            }
        } catch {
            if error == DamageBrake.refusal { try brake.remember() }
            throw error
        }
        if isOurs { return keep(secret, protectionClass, wrapped.generation, since: epoch) }
        // Another thread was first; its key is the one.
        return try forWriting(protectionClass, at: moment)
    }

    private func put(
        _ record: MetadataKeyRecord, _ protectionClass: ProtectionClass, _ transaction: StoreTransaction,
        at moment: Double, replacingDamaged: Bool
    ) throws(KeychainError) -> Bool {
        let generation = record.generation
        // What is written under a keybag from before opens with no other.
        guard try !transaction.reader.hasMetadataKey(of: protectionClass, above: generation) else {
            let isPast = try newestNow(protectionClass).map { $0 > generation } ?? false
            throw isPast ? Self.renewed : Self.mismatch
        }
        try refuseWhereLeftBehind(protectionClass, below: generation, transaction)
        let present = try transaction.reader.metadataKeys(of: protectionClass, generation: generation)
        if !present.isEmpty {
            // Not kept: what this transaction sees may yet be rolled back.
            guard replacingDamaged, case .damaged = try open(present, protectionClass, keeping: false) else {
                return false
            }
            try admit(protectionClass)
            try transaction.setAsideMetadataKey(of: protectionClass, generation: generation, at: moment)
        }
        let orphans = try transaction.rowids(protectedBy: protectionClass, generation: generation)
        // Rows without any key in the whole store: nothing is written over that.
        if !orphans.isEmpty {
            guard try transaction.reader.hasMetadataKeys() else { throw Self.mismatch }
            try admit(protectionClass)
        }
        for (itemClass, rowid) in orphans {
            try transaction.setAside(rowid, in: itemClass, cause: .metadataKey, at: moment)
        }
        try transaction.put(record, of: protectionClass)
        return true
    }

    /// A database from before the present keybag: what is written into it would part it from
    /// the keybag that its rows are under.
    private func refuseWhereLeftBehind(
        _ protectionClass: ProtectionClass, below generation: UInt32, _ transaction: StoreTransaction
    ) throws(KeychainError) {
        for record in try transaction.reader.metadataKeys(of: protectionClass) where record.generation < generation {
            guard try !transaction.rowids(protectedBy: protectionClass, generation: record.generation).isEmpty,
                case .noClassKey = try open(record, protectionClass, keeping: false)
            else { continue }
            throw Self.mismatch
        }
    }

    /// A key that is lost counts, with its rows, as one event.
    private func admit(_ protectionClass: ProtectionClass) throws(KeychainError) {
        guard brake.admit(CollectionOfOne(.metadataKey(protectionClass))) else { throw DamageBrake.refusal }
    }

    /// Database and keybag do not belong together; no row is to blame.
    static let mismatch = KeychainError(.notAvailable, reason: .storeMismatch)

    static func lockedError(_ protectionClass: ProtectionClass) -> KeychainError {
        KeychainError(.interactionNotAllowed, reason: .locked(class: protectionClass.rawValue))
    }
}

extension MetadataKeys {
    /// Writes the metadata keys again of which one of the two copies (``StoreCopies``) is gone or
    /// damaged, from the other. What is locked is left for later, and so is what opens in neither.
    ///
    /// - Returns: how many records were put right.
    func mendCopies(at moment: Double) throws(KeychainError) -> Int {
        let copies = try store.read { reader throws(KeychainError) in try reader.copiesOfKeys() }
        guard copies.first != copies.second else { return 0 }
        return try store.write { [self] transaction throws(KeychainError) in
            let (first, second) = try transaction.reader.copiesOfKeys()
            let mended = try mended(first, second)
            guard mended.first != first || mended.second != second else { return 0 }
            try transaction.keepDamaged(mended.strays, at: moment)
            try transaction.replaceKeys(first: mended.first, second: mended.second)
            return mended.count
        }
    }

    /// Both copies as they should be.
    private struct MendedCopies {
        var first: [NumberedKey] = []
        var second: [NumberedKey] = []
        /// What is in neither any more.
        var strays: [NumberedKey] = []
        /// How many records were put right.
        var count = 0
    }

    private func mended(_ first: [NumberedKey], _ second: [NumberedKey]) throws(KeychainError) -> MendedCopies {
        let copies = (first: first, second: second)
        var looks: [RecordPlace: Look] = [:]
        for place in Set((first + second).map { RecordPlace(of: $0) }) {
            let (here, there) = (first.filter(place.holds), second.filter(place.holds))
            looks[place] = here == there && here.count == 1 ? .same(here[0]) : try look(at: here + there, place)
        }
        var mended = MendedCopies()
        for (place, look) in looks.sorted(by: { $0.key < $1.key }) {
            let (here, there) = (first.filter(place.holds), second.filter(place.holds))
            let right: [NumberedKey]? =
                switch look {
                case .same(let key), .opens(let key): [key]
                case .unknown: nil
                // Both are written together: its number or its box is damaged, and its other copy is
                // under another number, or gone.
                case .damaged: here.isEmpty != there.isEmpty ? [] : nil
                case .elsewhere: here.isEmpty != there.isEmpty && isStray(place, among: copies, looks) ? [] : nil
                }
            if right == [] { mended.strays += here + there }
            if let right, right != here || right != there { mended.count += 1 }
            mended.first += right ?? here
            mended.second += right ?? there
        }
        return mended
    }

    /// Whether what stands in a place of which there is no class key is nobody's: no box at all, or
    /// one that stands in a better place as well. Of all else nobody knows what is the matter.
    private func isStray(
        _ place: RecordPlace, among copies: (first: [NumberedKey], second: [NumberedKey]), _ looks: [RecordPlace: Look]
    ) -> Bool {
        let all = copies.first + copies.second
        let own = all.filter(place.holds)
        if own.allSatisfy({ !$0.record.isWellFormed }) { return true }
        return all.contains { key in
            let other = RecordPlace(of: key)
            guard other != place, own.contains(where: { $0.record.wrapped == key.record.wrapped }) else { return false }
            switch looks[other] {
            case .same, .opens: return true
            case .unknown, .damaged, .elsewhere, nil:
                return place.protectionClass == nil && other.protectionClass != nil
            }
        }
    }

    /// What becomes of the records of one place.
    private enum Look {
        /// Both copies say it.
        case same(NumberedKey)
        case opens(NumberedKey)
        /// Locked: they may be whole.
        case unknown
        /// They do not open under the class key that they name.
        case damaged
        /// There is no such class key.
        case elsewhere
    }

    /// Decided by the same look: a class that is unlocked a moment later was locked in it.
    private func look(at keys: [NumberedKey], _ place: RecordPlace) throws(KeychainError) -> Look {
        guard let protectionClass = place.protectionClass else { return .elsewhere }
        var found = Look.damaged
        for key in keys {
            switch try open(key.record, protectionClass, keeping: false) {
            case .key: return .opens(key)
            case .locked: found = .unknown
            case .damaged: continue
            case .noClassKey, .absent, .effaced: if case .damaged = found { found = .elsewhere }
            }
        }
        return found
    }

    /// What names a metadata key.
    private struct RecordPlace: Hashable, Comparable {
        let number: Int64
        let generation: UInt32

        init(of key: NumberedKey) { (number, generation) = (key.number, key.record.generation) }

        /// nil where the number is damaged.
        var protectionClass: ProtectionClass? { UInt8(exactly: number).flatMap { ProtectionClass(number: $0) } }

        func holds(_ key: NumberedKey) -> Bool { key.number == number && key.record.generation == generation }

        static func < (left: RecordPlace, right: RecordPlace) -> Bool {
            (left.number, left.generation) < (right.number, right.generation)
        }
    }

    /// The key of a class inside a transaction, where none can be made: rows of
    /// the class exist, or ``forWriting(_:at:)`` came before.
    ///
    /// - Throws: ``renewed`` where there is none yet of the newest generation.
    func forWritingNow(_ protectionClass: ProtectionClass, _ reader: StoreReader) throws(KeychainError) -> MetadataKey {
        guard let generation = try newest(protectionClass) else {
            throw KeychainError(.authFailed, reason: .passcodeNotSet)
        }
        switch try find(protectionClass, generation: generation, using: reader) {
        case .key(let key): return key
        case .locked: throw Self.lockedError(protectionClass)
        case .noClassKey: throw KeychainError(.authFailed, reason: .passcodeNotSet)
        case .effaced: throw Self.renewed
        case .absent where try !reader.metadataKeys(of: protectionClass).isEmpty: throw Self.renewed
        case .absent, .damaged:
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "the metadata key of a class")
        }
    }

    /// Makes the newest metadata key of each class that has older ones and is open.
    func renew(at moment: Double) throws(KeychainError) {
        forget()
        for protectionClass in ProtectionClass.allCases {
            let records = try store.read { reader throws(KeychainError) in
                try reader.metadataKeys(of: protectionClass)
            }
            guard !records.isEmpty else { continue }
            do throws(KeychainError) { _ = try forWriting(protectionClass, at: moment) } catch {
                guard error.status == .interactionNotAllowed || error.status == .authFailed else { throw error }
            }
        }
    }
}
