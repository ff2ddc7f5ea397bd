internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform

extension EnclaveCore {
    /// A new key for each row, wrapped under the newest key of its class, and under
    /// the application password where the row asks for one.
    ///
    /// Per row: `key`; `locked` while the class is closed; `noClassKey` where
    /// there is none; `needsAuthentication` for a constraint that does not decode,
    /// because it could never be met, and for one that a person could not be told the
    /// item's name of; `wrongApplicationPassword` where none is set.
    mutating func makeRowKeys(
        for rows: [RowBinding], in session: AuthenticationSessionID? = nil, at moment: Duration
    ) -> [KeyOutcome] {
        noteUse(of: rows.lazy.map(\.protectionClass), at: moment)
        return rows.map { row in
            ring.current(row.protectionClass).outcome { classKey in
                guard let access = row.decodedAccessControl, access.isUnconstrained || row.shown != nil else {
                    return .needsAuthentication
                }
                let layer = book.applicationKey(in: session, at: moment)
                if access.requiresApplicationPassword, layer == nil { return .wrongApplicationPassword }
                return Self.makeKey(
                    under: classKey, bound: WrapBinding.rowKey(store: store, row, generation: classKey.generation),
                    layer: access.requiresApplicationPassword ? layer : nil)
            }
        }
    }

    /// The key of each row, opened with exactly what it was made with; anything
    /// else is `damaged`. Locked rows are told apart first; a constraint is looked at
    /// once the row is known to have been stored with it.
    mutating func openRowKeys(
        _ rows: [(binding: RowBinding, wrapped: WrappedKey)], in session: AuthenticationSessionID? = nil,
        at moment: Duration
    ) -> [KeyOutcome] {
        noteUse(of: rows.lazy.map(\.binding.protectionClass), at: moment)
        let outcomes = rows.map { row in open(row, for: "od", in: session, at: moment) }
        audit.witness.note(rowKeys: outcomes.count { if case .key = $0 { true } else { false } })
        return outcomes
    }

    /// Something that a lock closes is wanted (``LockPolicy``).
    private mutating func noteUse(of classes: some Sequence<ProtectionClass>, at moment: Duration) {
        if moment > lastUse, classes.contains(where: \.closesWithLock) { lastUse = moment }
    }

    /// Whether an operation is permitted; no key is told.
    mutating func permit(
        _ operation: String, on rows: [(binding: RowBinding, wrapped: WrappedKey)],
        in session: AuthenticationSessionID?, at moment: Duration
    ) -> [RewrapOutcome] {
        rows.map { row in
            switch open(row, for: operation, in: session, at: moment, needsPassword: false) {
            case .key(_, let wrapped): .wrapped(wrapped)
            case .locked: .locked
            case .needsAuthentication, .wrongApplicationPassword: .needsAuthentication
            case .damaged: .damaged
            case .noClassKey: .noClassKey
            case .effaced: .effaced
            }
        }
    }

    private mutating func open(
        _ row: (binding: RowBinding, wrapped: WrappedKey), for operation: String,
        in session: AuthenticationSessionID?, at moment: Duration, needsPassword: Bool = true
    ) -> KeyOutcome {
        guard let access = row.binding.decodedAccessControl else {
            // What does not decode denies, locked or not.
            return ring.key(row.binding.protectionClass, generation: row.wrapped.generation).outcome { _ in
                .needsAuthentication
            }
        }
        let isLayered = access.requiresApplicationPassword
        let opened = open(row.wrapped, of: row.binding.protectionClass, isLayered: isLayered) {
            WrapBinding.rowKey(store: store, row.binding, generation: row.wrapped.generation)
        }
        guard case .key(let secret, let wrapped) = opened else { return opened }
        let constraint = access.constraint(for: operation)
        guard book.meets(constraint, row: row.binding.uuid, in: session, at: moment) else {
            return .needsAuthentication
        }
        guard isLayered, needsPassword else { return .key(secret, wrapped) }
        guard let layer = book.applicationKey(in: session, at: moment),
            let inner = Self.peel(
                secret.bytes, under: layer,
                bound: WrapBinding.rowKey(store: store, row.binding, generation: row.wrapped.generation))
        else { return .wrongApplicationPassword }
        return .key(inner, wrapped)
    }

    /// What an application password wraps lies within what the class key wraps: so a
    /// wrong password is told from a damaged row.
    private static func peel(
        _ box: borrowing SecretBytes, under layer: SharedSecret, bound: AssociatedData
    ) -> SharedSecret? {
        do throws(CryptoError) {
            return SharedSecret(try layered(layer).open(box.insecureArray(), bound: bound))
        } catch { return nil }
    }

    private static func layered(_ layer: SharedSecret) -> SealingKey {
        SealingKey(KeyDerivation.derive(from: layer.bytes, purpose: "latchkey application password wrapping key 1"))
    }

    /// A new metadata key for a class.
    func makeMetadataKey(for protectionClass: ProtectionClass) -> KeyOutcome {
        ring.current(protectionClass).outcome { classKey in
            Self.makeKey(
                under: classKey,
                bound: WrapBinding.metadataKey(store: store, protectionClass, generation: classKey.generation))
        }
    }

    func openMetadataKey(_ wrapped: WrappedKey, of protectionClass: ProtectionClass) -> KeyOutcome {
        open(wrapped, of: protectionClass) {
            WrapBinding.metadataKey(store: store, protectionClass, generation: wrapped.generation)
        }
    }

    /// The same row keys under the newest key of their class. No constraint is asked
    /// for: nothing leaves, and the new wrap is bound to what the old one was.
    func rewrapRowKeys(_ rows: [(binding: RowBinding, wrapped: WrappedKey)]) -> [RewrapOutcome] {
        rows.map { row in
            let named = row.binding.protectionClass
            let isLayered = row.binding.decodedAccessControl?.requiresApplicationPassword ?? false
            let opened = open(row.wrapped, of: named, isLayered: isLayered) {
                WrapBinding.rowKey(store: store, row.binding, generation: row.wrapped.generation)
            }
            switch opened {
            case .key(let secret, _):
                guard case .key(let newest) = ring.current(named) else { return .locked }
                let binding = WrapBinding.rowKey(store: store, row.binding, generation: newest.generation)
                return .wrapped(
                    WrappedKey(generation: newest.generation, box: newest.key.seal(secret.bytes, bound: binding)))
            case .locked, .needsAuthentication, .wrongApplicationPassword: return .locked
            case .damaged: return .damaged
            case .noClassKey: return .noClassKey
            case .effaced: return .effaced
            }
        }
    }

    private static func makeKey(
        under classKey: ClassKey, bound: AssociatedData, layer: SharedSecret? = nil
    ) -> KeyOutcome {
        let fresh = SharedSecret(.random(count: SealingKey.byteCount))
        let inner = layer.map { layered($0).seal(fresh.bytes, bound: bound) }
        let box = inner.map { classKey.key.seal($0, bound: bound) } ?? classKey.key.seal(fresh.bytes, bound: bound)
        return .key(fresh, WrappedKey(generation: classKey.generation, box: box))
    }

    func open(
        _ wrapped: WrappedKey, of protectionClass: ProtectionClass, isLayered: Bool = false,
        bound: () -> AssociatedData
    ) -> KeyOutcome {
        ring.key(protectionClass, generation: wrapped.generation).outcome { classKey in
            let count = isLayered ? WrappedKey.layeredBoxByteCount : WrappedKey.boxByteCount
            guard wrapped.box.count == count else { return .damaged }
            do throws(CryptoError) {
                return .key(SharedSecret(try classKey.key.open(wrapped.box, bound: bound())), wrapped)
            } catch {
                return .damaged
            }
        }
    }
}

extension KeyRing.Found {
    /// What `use` makes of the key, or why there is none.
    fileprivate func outcome(_ use: (ClassKey) -> KeyOutcome) -> KeyOutcome {
        switch self {
        case .key(let classKey): use(classKey)
        case .locked: .locked
        case .noClassKey: .noClassKey
        // A keybag that never had this generation is not this row's: nothing to
        // call the row damaged for.
        case .unknownGeneration: .noClassKey
        case .effaced: .effaced
        }
    }
}

extension RowBinding {
    /// What was stored without an object has no constraint; nil for what does not
    /// decode: a constraint that nobody here can meet.
    var decodedAccessControl: AccessControl? {
        accessControl.isEmpty ? AccessControl(unconstrained: protectionClass) : AccessControl(encoded: accessControl)
    }
}
