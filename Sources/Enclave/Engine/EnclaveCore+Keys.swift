internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform

extension EnclaveCore {
    /// A new key for each row, wrapped under the newest key of its class.
    ///
    /// Per row: `key`; `locked` while the class is closed; `noClassKey` where
    /// there is none; `needsAuthentication` for any constraint, because nothing
    /// here can enforce one yet.
    func makeRowKeys(for rows: [RowBinding]) -> [KeyOutcome] {
        rows.map { row in
            ring.current(row.protectionClass).outcome { classKey in
                guard row.isUnconstrained else { return .needsAuthentication }
                return Self.makeKey(
                    under: classKey, bound: WrapBinding.rowKey(store: store, row, generation: classKey.generation))
            }
        }
    }

    /// The key of each row, opened with exactly what it was made with; anything
    /// else is `damaged`. Locked and constrained rows are told apart first, and
    /// nothing is tried on them.
    func openRowKeys(_ rows: [(binding: RowBinding, wrapped: WrappedKey)]) -> [KeyOutcome] {
        rows.map { row in
            ring.key(row.binding.protectionClass, generation: row.wrapped.generation).outcome { _ in
                guard row.binding.isUnconstrained else { return .needsAuthentication }
                return open(row.wrapped, of: row.binding.protectionClass) {
                    WrapBinding.rowKey(store: store, row.binding, generation: row.wrapped.generation)
                }
            }
        }
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
            let opened = open(row.wrapped, of: named) {
                WrapBinding.rowKey(store: store, row.binding, generation: row.wrapped.generation)
            }
            switch opened {
            case .key(let secret, _):
                guard case .key(let newest) = ring.current(named) else { return .locked }
                let binding = WrapBinding.rowKey(store: store, row.binding, generation: newest.generation)
                return .wrapped(
                    WrappedKey(generation: newest.generation, box: newest.key.seal(secret.bytes, bound: binding)))
            case .locked, .needsAuthentication: return .locked
            case .damaged: return .damaged
            case .noClassKey: return .noClassKey
            case .effaced: return .effaced
            }
        }
    }

    private static func makeKey(under classKey: ClassKey, bound: AssociatedData) -> KeyOutcome {
        let fresh = SharedSecret(.random(count: SealingKey.byteCount))
        let box = classKey.key.seal(fresh.bytes, bound: bound)
        return .key(fresh, WrappedKey(generation: classKey.generation, box: box))
    }

    private func open(
        _ wrapped: WrappedKey, of protectionClass: ProtectionClass, bound: () -> AssociatedData
    ) -> KeyOutcome {
        ring.key(protectionClass, generation: wrapped.generation).outcome { classKey in
            guard wrapped.box.count == WrappedKey.boxByteCount else { return .damaged }
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
    /// Whether nobody has to agree. What does not decode, or asks for anything,
    /// is a constraint that nobody here can meet: it denies.
    var isUnconstrained: Bool {
        accessControl.isEmpty || AccessControl(encoded: accessControl)?.isUnconstrained == true
    }
}
