internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainMessages
internal import KeychainPlatform
internal import KeychainProtocol

/// The counter of a TPM that tells an older copy of the folder from the newest, as the keybag
/// says it.
///
/// The password of its index is wrapped under the root key: whoever may use the TPM and has
/// no copy of the folder cannot count for us.
struct TPMCounter: Hashable, Sendable {
    struct Place: Hashable, Sendable {
        let index: TPMIndex
        let wrappedPassword: [UInt8]
        /// Generation of the keybag before it counted. Counters of several TPMs come one after
        /// the other, and the next may have counted less than the one before.
        let base: UInt64

        init(_ index: TPMIndex, wrappedPassword: [UInt8], base: UInt64) {
            self.index = index
            self.wrappedPassword = wrappedPassword
            self.base = base
        }
    }

    /// Which one counts; nil: none.
    var place: Place?
    /// What is to be removed, until it is: counters that are not used any more, and one that
    /// was to be made and that the keybag does not name yet.
    var undefining: [TPMIndex] = []

    /// No more are begun; and a keybag has no more than ``most``.
    static let mostBegun = 8
    private static let most = 16
    /// No keybag has a ``Place/base`` that leaves no room above it.
    static let bases: Range<UInt64> = 1..<(1 << 63)

    init() {}

    var isEmpty: Bool { place == nil && undefining.isEmpty }

    /// nil for what no program of ours writes.
    init?(_ message: Latchkey_KeybagBody.TPMCounter) {
        undefining = message.undefining.compactMap { TPMIndex($0) }
        guard undefining.count == message.undefining.count, undefining.count <= Self.most else { return nil }
        guard message.hasIndex else {
            guard message.wrappedPassword.isEmpty, message.base == 0 else { return nil }
            return
        }
        guard let index = TPMIndex(message.index),
            message.wrappedPassword.count == WrappedKey.boxByteCount, Self.bases.contains(message.base),
            !undefining.contains(where: { $0.isSame(as: index) })
        else { return nil }
        place = Place(index, wrappedPassword: Array(message.wrappedPassword), base: message.base)
    }

    var message: Latchkey_KeybagBody.TPMCounter {
        var message = Latchkey_KeybagBody.TPMCounter()
        if let place {
            message.index = place.index.message
            message.wrappedPassword = Data(place.wrappedPassword)
            message.base = place.base
        }
        message.undefining = undefining.map(\.message)
        return message
    }

    /// One that was announced counts from now on.
    mutating func begin(
        _ index: TPMIndex, password: borrowing SecretBytes, after base: UInt64, under root: borrowing RootKey,
        of store: StoreID
    ) {
        undefining.removeAll { $0.isSame(as: index) }
        place = Place(
            index, wrappedPassword: root.wrappingKey.seal(password, bound: Self.binding(of: index, store)),
            base: base)
    }

    /// None counts from now on.
    mutating func end() {
        if let place { undefining.append(place.index) }
        place = nil
    }

    /// nil where none counts.
    ///
    /// - Throws: ``KeybagError/Cause/malformed``.
    func password(under root: borrowing RootKey, of store: StoreID) throws(KeybagError) -> SharedSecret? {
        guard let place else { return nil }
        let password = try Keybag.unwrap(
            place.wrappedPassword, under: root.wrappingKey, bound: Self.binding(of: place.index, store))
        return SharedSecret(password.secret.copy())
    }

    /// The same under another root key.
    func moved(
        from root: borrowing RootKey, to new: borrowing RootKey, of store: StoreID
    ) throws(KeybagError) -> TPMCounter {
        guard let place, let password = try password(under: root, of: store) else { return self }
        var moved = self
        moved.begin(place.index, password: password.bytes, after: place.base, under: new, of: store)
        return moved
    }

    private static func binding(of index: TPMIndex, _ store: StoreID) -> AssociatedData {
        WrapBinding.counterPassword(store: store, of: index)
    }
}
