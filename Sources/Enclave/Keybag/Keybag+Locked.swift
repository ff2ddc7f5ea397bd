internal import KeychainCrypto
internal import KeychainModel
internal import KeychainPlatform

extension Keybag {
    /// A keybag before any slot has been opened.
    struct Locked: ~Copyable, Sendable {
        let body: KeybagBody
        let generation: UInt64
        /// 32 bytes; open from the start, so that rows match while locked.
        let indexKey: SharedSecret
        fileprivate let root: RootKey
        fileprivate let deviceKeys: [ClassKey]

        /// - Throws: ``KeybagError/Cause/malformed`` where an authentic keybag
        ///   holds what its own root key does not open: our bug, or a forgery by
        ///   whoever has the root key.
        static func open(
            _ body: KeybagBody, generation: UInt64, root: consuming RootKey
        ) throws(KeybagError) -> Locked {
            let wrapping = root.wrappingKey
            let index = try Keybag.unwrap(
                body.wrappedIndexKey, under: wrapping, bound: WrapBinding.indexKey(store: body.store))
            let deviceKeys = try Keybag.unwrapClassKeys(of: body, under: wrapping, .root)
            return Locked(
                body: body, generation: generation, indexKey: SharedSecret(index.secret.copy()), root: root,
                deviceKeys: deviceKeys)
        }

        var ring: KeyRing { KeyRing(existing: body.existingClasses, open: deviceKeys) }

        /// Opens the bag key with a slot's secret, and with it the class keys.
        ///
        /// - Throws: ``KeybagError/Cause/slotRefuses`` where no slot of that kind
        ///   takes the secret.
        consuming func unlock(with secret: consuming SlotSecret) throws(KeybagError) -> Unlocked {
            let bagKey = try openBagKey(with: secret)
            let bagKeys = try Keybag.unwrapClassKeys(of: body, under: bagKey, .bag)
            let ring = KeyRing(existing: body.existingClasses, open: deviceKeys + bagKeys)
            return Unlocked(locked: self, ring: ring)
        }

        private func openBagKey(with secret: borrowing SlotSecret) throws(KeybagError) -> SealingKey {
            let slotKey = root.slotKey(for: secret)
            for slot in body.slots where slot.kind == secret.kind {
                let binding = WrapBinding.bagKey(store: body.store, slot: slot.kind, slot.identifier)
                do throws(CryptoError) {
                    return SealingKey(try slotKey.open(slot.wrappedBagKey, bound: binding))
                } catch {
                    continue
                }
            }
            throw .unreadable(.slotRefuses)
        }
    }

    /// A keybag of which a slot is open.
    struct Unlocked: ~Copyable, Sendable {
        let locked: Locked
        let ring: KeyRing
    }
}

extension Keybag {
    fileprivate static func unwrap(
        _ box: [UInt8], under parent: borrowing SealingKey, bound: AssociatedData
    ) throws(KeybagError) -> SealingKey {
        do throws(CryptoError) {
            return SealingKey(try parent.open(box, bound: bound))
        } catch {
            throw .unreadable(.malformed)
        }
    }

    fileprivate static func unwrapClassKeys(
        of body: KeybagBody, under parent: borrowing SealingKey, _ kind: ClassKeyParent
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

extension KeybagBody {
    fileprivate var existingClasses: Set<ProtectionClass> { Set(classKeys.map(\.protectionClass)) }
}
