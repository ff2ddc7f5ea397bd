internal import KeychainCrypto
internal import KeychainPlatform

/// A chain of the audit record as it rests in the keybag.
struct AuditChain: Hashable, Sendable {
    let identifier: [UInt8]
    /// What everything in the chain can be read from: under the bag key, and so open
    /// while the keychain is.
    let wrappedFirstKey: [UInt8]
    /// What the file `audit` is sealed under: under the root key, so that the record
    /// goes on while locked. Empty of a chain that has ended.
    let wrappedStateKey: [UInt8]

    /// Of more the oldest is forgotten: each change of the bag key begins another.
    static let most = 16

    func firstKey(under bag: borrowing SealingKey, of store: StoreID) throws(KeybagError) -> SharedSecret {
        let binding = WrapBinding.auditFirstKey(store: store, identifier)
        return SharedSecret(try Keybag.unwrap(wrappedFirstKey, under: bag, bound: binding).secret.copy())
    }

    func stateKey(under root: borrowing RootKey, of store: StoreID) throws(KeybagError) -> SharedSecret {
        let binding = WrapBinding.auditStateKey(store: store, identifier)
        return SharedSecret(try Keybag.unwrap(wrappedStateKey, under: root.wrappingKey, bound: binding).secret.copy())
    }

    /// An ended one under another bag key; nil where it does not open.
    func ended(from old: borrowing SealingKey, to new: borrowing SealingKey, of store: StoreID) -> AuditChain? {
        do throws(KeybagError) {
            let key = try firstKey(under: old, of: store)
            return AuditChain(
                identifier: identifier,
                wrappedFirstKey: new.seal(key.bytes, bound: WrapBinding.auditFirstKey(store: store, identifier)),
                wrappedStateKey: [])
        } catch { return nil }
    }
}

/// The keys of a chain that begins.
final class NewAuditChain: Sendable {
    let identifier = Random.bytes(AuditPlace.chainByteCount)
    let firstKey = SharedSecret(.random(count: SealingKey.byteCount))
    let stateKey = SharedSecret(.random(count: SealingKey.byteCount))

    init() {}

    func wrapped(
        under bag: borrowing SealingKey, _ root: borrowing RootKey, of store: StoreID
    ) -> AuditChain {
        AuditChain(
            identifier: identifier,
            wrappedFirstKey: bag.seal(firstKey.bytes, bound: WrapBinding.auditFirstKey(store: store, identifier)),
            wrappedStateKey: root.wrappingKey.seal(
                stateKey.bytes, bound: WrapBinding.auditStateKey(store: store, identifier)))
    }
}

extension [AuditChain] {
    /// Those that were there, ended, under the new bag key; then the one that begins.
    ///
    /// - Parameter fresh: nil: nothing says where the last one ended, so that the next
    ///   begins with its first block (``EnclaveCore/sealAudit(_:fromFile:at:wallClock:)``).
    func followed(
        by fresh: NewAuditChain?, from old: borrowing SealingKey, to new: borrowing SealingKey,
        _ root: borrowing RootKey, of store: StoreID
    ) -> [AuditChain] {
        var chains: [AuditChain] = []
        for chain in suffix(AuditChain.most - 1) {
            if let ended = chain.ended(from: old, to: new, of: store) { chains.append(ended) }
        }
        guard let fresh else { return chains }
        return chains + [fresh.wrapped(under: new, root, of: store)]
    }
}
