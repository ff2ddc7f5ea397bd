internal import KeychainProtocol

/// A box of secrets by key, for programs that want no more than that.
///
/// ```swift
/// let vault = SecretVault("com.example.app", accessible: .afterFirstUnlock)
/// try vault.set("s3cret", forKey: "token")
/// let token = try vault.text(forKey: "token")
/// ```
///
/// A vault is named by its identifier, its accessibility and its group together:
/// two that differ in one of them share nothing. Its secrets are generic passwords
/// of a service that begins with "latchkey.vault", so that they never meet what a
/// library stores under the program's own identifier.
public struct SecretVault: Sendable, Hashable {
    /// Not empty.
    public let identifier: String
    /// When the vault's secrets can be read.
    public let accessible: ProtectionClass
    private let reach: SecretStore.Reach

    /// Whether both were made alike; identifiers are compared byte by byte.
    ///
    /// One that is shared in a group and one that is not are unequal, also where that
    /// group is the program's first, so that both hold the same: which is the first only
    /// the keychain knows.
    public static func == (a: SecretVault, b: SecretVault) -> Bool {
        a.identifier.hasSameBytes(as: b.identifier) && a.accessible == b.accessible && a.reach == b.reach
    }

    /// Hashes what makes it one vault.
    public func hash(into hasher: inout Hasher) {
        identifier.hashBytes(into: &hasher)
        hasher.combine(accessible)
        hasher.combine(reach)
    }

    /// A vault of this program.
    public init(_ identifier: String, accessible: ProtectionClass) {
        // In one group: a vault that is shared in another one is another vault.
        self.init(identifier, accessible, .firstGroup)
    }

    /// A vault that every program of an access group shares.
    public init(_ identifier: String, accessible: ProtectionClass, sharedIn group: AccessGroup) {
        self.init(identifier, accessible, .group(group))
    }

    private init(_ identifier: String, _ accessible: ProtectionClass, _ reach: SecretStore.Reach) {
        precondition(!identifier.isEmpty, "a vault has a name")
        self.identifier = identifier
        self.accessible = accessible
        self.reach = reach
    }

    var store: SecretStore { SecretStore(reach) }
    /// FORMATS.md, "Vaults".
    var service: String { "\(Self.servicePrefix)\(accessible.rawValue)/\(identifier)" }
    private static let servicePrefix = "latchkey.vault/"

    /// Whether some vault holds it.
    static func holds(_ item: Item) -> Bool {
        if case .generic(let address) = item.address.form {
            address.service.bytes.starts(with: servicePrefix.utf8)
        } else {
            false
        }
    }

    func address(_ key: String) -> ItemAddress { .password(service: service, account: key) }

    // MARK: Secrets

    /// The secret under a key; nil where there is none. Throws
    /// `errSecInteractionNotAllowed` while the vault's class is locked.
    public func secret(forKey key: String) throws(KeychainError) -> Secret? { try store.secret(for: address(key)) }

    /// The secret as text; nil where there is none or it is no UTF-8.
    ///
    /// - Warning: The text is ordinary memory: it is not wiped.
    public func text(forKey key: String) throws(KeychainError) -> String? { try secret(forKey: key)?.insecureText }

    /// Stores a secret, in place of what is there; it is durable on disk when
    /// this returns. At most 64 MiB.
    public func set(_ secret: Secret, forKey key: String) throws(KeychainError) {
        try store.set(secret, for: address(key), accessible: accessible)
    }

    /// Stores text as UTF-8, in place of what is there.
    public func set(_ text: String, forKey key: String) throws(KeychainError) { try set(Secret(text), forKey: key) }

    /// Removes the secret under a key, also while the vault's class is locked.
    ///
    /// - Returns: false where there was none.
    @discardableResult
    public func removeSecret(forKey key: String) throws(KeychainError) -> Bool { try store.remove(address(key)) }

    /// Whether there is a secret under a key.
    ///
    /// Nobody is asked for anything, also where another program has put a guarded item
    /// (``Item/isGuarded``) into its place, which counts. Throws
    /// `errSecInteractionNotAllowed` while the vault's class is locked.
    public func contains(_ key: String) throws(KeychainError) -> Bool {
        do throws(KeychainError) { return try store.item(at: address(key), asking: .nobody) != nil } catch {
            return try Self.isThere(error)
        }
    }

    /// A search that would have to ask has found something.
    private static func isThere(_ error: KeychainError) throws(KeychainError) -> Bool {
        guard error.reason == .interactionForbidden else { throw error }
        return true
    }

    /// By rising order of their UTF-8 bytes.
    ///
    /// A list, because a set of `String` would join "é" with "e" and an accent, which
    /// are two keys here. Nobody is asked for anything: a guarded item, which another
    /// program must have put there, is left out. Throws `errSecInteractionNotAllowed` while
    /// the vault's class is locked.
    public func keys() throws(KeychainError) -> [String] {
        Self.keys(of: try store.items(contents, asking: .nobodySkippingGuarded))
    }

    private var contents: ItemQuery { .passwords(service: service) }

    private static func keys(of items: [Item]) -> [String] {
        // One that was stored as bytes is found under the key of these bytes.
        items.compactMap { String(validating: $0.address.account.bytes, as: UTF8.self) }
            .sorted { $0.comesBefore($1) }
    }

    /// Removes every secret of the vault, also while its class is locked.
    public func removeAll() throws(KeychainError) { try store.removeAll(contents) }

    // MARK: Access

    /// Whether the vault can be used now, and why not.
    public enum Access: Sendable, Hashable {
        /// Its secrets can be read and changed.
        case open
        /// The class is locked: later, after the device is unlocked.
        case locked
        /// The vault is of ``ProtectionClass/whenPasscodeSetThisDeviceOnly``, and no
        /// passcode is set: unlocking does not help, `latchkey passcode set` does.
        case passcodeMissing
        /// This program is not in the vault's group, or in none at all, or may only read
        /// there (the group of tokens).
        case groupDenied
        /// No keychain answers, or it refuses this program whatever it asks for
        /// (``Reason/keychainDenied``).
        case unreachable(KeychainError)
    }

    /// Asks the keychain how it is, and writes nothing: neither a canary item that
    /// somebody else may meet, nor anything else. Waits five seconds at the most for a
    /// keychain that does not answer.
    public func access() -> Access { access(store) }

    private func access(_ store: SecretStore) -> Access {
        do throws(KeychainError) {
            // The keychain decides about rights; whatever is there is not looked at.
            try store.probe(service: service)
            if try store.storesIn(.token) { return .groupDenied }
            let status = try store.transport().perform(KeychainRequest(.status)).status
            if status?.openClasses.contains(accessible) == true { return .open }
            let needsPasscode = accessible == .whenPasscodeSetThisDeviceOnly && status?.hasPasscode == false
            return needsPasscode ? .passcodeMissing : .locked
        } catch {
            return error.status == .missingEntitlement ? .groupDenied : .unreachable(error)
        }
    }
}

// MARK: The same to await

extension SecretVault {
    /// The secret under a key; nil where there is none. Throws
    /// `errSecInteractionNotAllowed` while the vault's class is locked.
    public func secret(forKey key: String) async throws(KeychainError) -> Secret? {
        try await store.secret(for: address(key))
    }

    /// The secret as text; nil where there is none or it is no UTF-8.
    ///
    /// - Warning: The text is ordinary memory: it is not wiped.
    public func text(forKey key: String) async throws(KeychainError) -> String? {
        try await secret(forKey: key)?.insecureText
    }

    /// Stores a secret, in place of what is there; it is durable on disk when
    /// this returns. At most 64 MiB.
    public func set(_ secret: Secret, forKey key: String) async throws(KeychainError) {
        try await store.set(secret, for: address(key), accessible: accessible)
    }

    /// Stores text as UTF-8, in place of what is there.
    public func set(_ text: String, forKey key: String) async throws(KeychainError) {
        try await set(Secret(text), forKey: key)
    }

    /// Removes the secret under a key, also while the vault's class is locked.
    ///
    /// - Returns: false where there was none.
    @discardableResult
    public func removeSecret(forKey key: String) async throws(KeychainError) -> Bool {
        try await store.remove(address(key))
    }

    /// Whether there is a secret under a key. Nobody is asked for anything.
    public func contains(_ key: String) async throws(KeychainError) -> Bool {
        do throws(KeychainError) { return try await store.item(at: address(key), asking: .nobody) != nil } catch {
            return try Self.isThere(error)
        }
    }

    /// Whether the vault can be used now, and why not; writes nothing.
    public func access() async -> Access {
        let store: SecretStore
        do throws(KeychainError) { store = try self.store.carryingKeychain() } catch { return .unreachable(error) }
        return await SecretStore.onAnotherThread { access(store) }
    }

    /// The keys, by rising order of their UTF-8 bytes.
    public func keys() async throws(KeychainError) -> [String] {
        Self.keys(of: try await store.items(contents, asking: .nobodySkippingGuarded))
    }

    /// Removes every secret of the vault.
    public func removeAll() async throws(KeychainError) { try await store.removeAll(contents) }
}
