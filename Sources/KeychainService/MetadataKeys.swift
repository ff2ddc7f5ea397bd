internal import Enclave
internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainStore
internal import Synchronization

/// A class's metadata key, unwrapped and verified, with the generation of the
/// class key under which its rows' keys are wrapped.
final class MetadataKey: Sendable {
    let key: SealingKey

    init(_ key: consuming SealingKey) { self.key = key }
}

/// The metadata keys of open classes: made on first need, kept while the class
/// is open, dropped when it closes.
final class MetadataKeys: Sendable {
    private let store: Store
    private let enclave: EnclavePool
    private let storeID: [UInt8]
    private let brake: DamageBrake
    private let cached = Mutex<[ProtectionClass: MetadataKey]>([:])

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
    }

    func forget() { cached.withLock { $0 = [:] } }
    func forget(_ protectionClass: ProtectionClass) { cached.withLock { $0[protectionClass] = nil } }

    /// The key of a class for reading its rows.
    func find(_ protectionClass: ProtectionClass, using reader: StoreReader) throws(KeychainError) -> Outcome {
        if let key = cached.withLock({ $0[protectionClass] }) { return .key(key) }
        guard let record = try reader.metadataKey(of: protectionClass) else { return .absent }
        return try open(record, protectionClass)
    }

    func open(
        _ record: MetadataKeyRecord, _ protectionClass: ProtectionClass, keeping: Bool = true
    ) throws(KeychainError) -> Outcome {
        let wrapped = WrappedKey(generation: record.generation, box: record.wrapped)
        let outcome = try enclave.use { enclave throws(KeychainError) in
            try enclave.openMetadataKey(wrapped, of: protectionClass)
        }
        switch outcome {
        case .key(let secret, _):
            guard check(secret.bytes, protectionClass) == record.check else { return .damaged }
            return .key(keeping ? keep(secret, protectionClass) : MetadataKey(SealingKey(secret.bytes.copy())))
        case .locked, .needsAuthentication: return .locked
        case .noClassKey: return .noClassKey
        case .damaged: return .damaged
        }
    }

    private func keep(_ secret: SharedSecret, _ protectionClass: ProtectionClass) -> MetadataKey {
        let key = MetadataKey(SealingKey(secret.bytes.copy()))
        cached.withLock { $0[protectionClass] = key }
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
        if let key = cached.withLock({ $0[protectionClass] }) { return key }
        let found = try store.read { reader throws(KeychainError) in try self.find(protectionClass, using: reader) }
        switch found {
        case .key(let key): return key
        case .locked: throw Self.lockedError(protectionClass)
        case .noClassKey: throw KeychainError(.authFailed, reason: .passcodeNotSet)
        case .absent: return try make(protectionClass, at: moment, replacingDamaged: false)
        case .damaged: return try make(protectionClass, at: moment, replacingDamaged: true)
        }
    }

    /// Sets the rows of a damaged metadata key aside, with the key, as one event.
    func replaceDamaged(_ protectionClass: ProtectionClass, at moment: Double) throws(KeychainError) {
        _ = try make(protectionClass, at: moment, replacingDamaged: true)
    }

    private func make(
        _ protectionClass: ProtectionClass, at moment: Double, replacingDamaged: Bool
    ) throws(KeychainError) -> MetadataKey {
        let outcome = try enclave.use { enclave throws(KeychainError) in
            try enclave.makeMetadataKey(for: protectionClass)
        }
        guard case .key(let secret, let wrapped) = outcome else {
            if case .noClassKey = outcome { throw KeychainError(.authFailed, reason: .passcodeNotSet) }
            throw Self.lockedError(protectionClass)
        }
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
        if isOurs { return keep(secret, protectionClass) }
        // Another thread was first; its key is the one.
        return try forWriting(protectionClass, at: moment)
    }

    private func put(
        _ record: MetadataKeyRecord, _ protectionClass: ProtectionClass, _ transaction: StoreTransaction,
        at moment: Double, replacingDamaged: Bool
    ) throws(KeychainError) -> Bool {
        if let present = try transaction.reader.metadataKey(of: protectionClass) {
            // Not kept: what this transaction sees may yet be rolled back.
            guard replacingDamaged, case .damaged = try open(present, protectionClass, keeping: false) else { return false }
            try admit(protectionClass)
            try transaction.setAsideMetadataKey(of: protectionClass, at: moment)
        }
        let orphans = try transaction.rowids(protectedBy: protectionClass)
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
    /// The key of a class inside a transaction, where none can be made: rows of
    /// the class exist, or ``forWriting(_:at:)`` came before.
    func forWritingNow(_ protectionClass: ProtectionClass, _ reader: StoreReader) throws(KeychainError) -> MetadataKey {
        switch try find(protectionClass, using: reader) {
        case .key(let key): return key
        case .locked: throw Self.lockedError(protectionClass)
        case .noClassKey: throw KeychainError(.authFailed, reason: .passcodeNotSet)
        case .absent, .damaged:
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "the metadata key of a class")
        }
    }
}
