/// What a migration is to do; made of what is there, before anything is written.
struct MigrationPlan {
    struct Entry {
        let key: String
        let opened: OpenedItem
        /// What the vault has under the key: the same secret.
        var held: Item?
    }

    /// By rising order of their keys.
    private(set) var entries: [Entry] = []
    private(set) var leftAlone = 0
    private(set) var leftGuarded = false

    init(
        _ query: ItemQuery, _ source: SecretStore, _ vault: SecretStore, service: String,
        _ unusable: SecretVault.UnusableItems
    ) throws(MigrationRefusal) {
        let found = try find(query, source, unusable)
        let inVault = try Self.reading { () throws(KeychainError) in
            try vault.openedItems(.passwords(service: service), asking: .nobodySkippingGuarded)
        }
        // What lies in the vault is not to be migrated into it.
        let own = Set(inVault.map(\.item.reference))
        let candidates = found.filter { opened in
            !own.contains(opened.item.reference) && (query.namesPlace || !SecretVault.holds(opened.item))
        }
        guard !candidates.isEmpty else { throw .nothingToMigrate }
        entries = candidates.compactMap { opened in
            guard let key = opened.item.address.account.string, !key.isEmpty, opened.secret.byteCount > 0 else {
                return nil
            }
            return Entry(key: key, opened: opened)
        }
        leftAlone = candidates.count - entries.count
        if unusable == .refuse { try Self.refuseUnusable(candidates) }
        entries.sort { $0.key.comesBefore($1.key) }
        let repeated = Self.repeated(entries.map(\.key))
        guard repeated.isEmpty else { throw .severalForOneKey(repeated) }
        try settle(inVault)
    }

    /// Asks nobody.
    private mutating func find(
        _ query: ItemQuery, _ source: SecretStore, _ unusable: SecretVault.UnusableItems
    ) throws(MigrationRefusal) -> [OpenedItem] {
        var found: [OpenedItem] = []
        do throws(KeychainError) { found = try source.openedItems(query, asking: .nobody) } catch {
            guard error.reason == .interactionForbidden else { throw .keychain(error, leftInVault: []) }
            leftGuarded = true
        }
        // Some access controls let everybody read.
        if found.contains(where: \.item.isGuarded) { leftGuarded = true }
        guard leftGuarded else { return found }
        guard unusable == .leaveAlone else { throw .guardedItems }
        found = try Self.reading { () throws(KeychainError) in
            try source.openedItems(query, asking: .nobodySkippingGuarded)
        }
        return found.filter { !$0.item.isGuarded }
    }

    /// Those that are there more than once, each once. (A set of them would join what
    /// Unicode calls equivalent.)
    private static func repeated(_ sorted: [String]) -> [String] {
        var found: [String] = []
        for (key, next) in zip(sorted, sorted.dropFirst()) where key.hasSameBytes(as: next) {
            if found.last.map({ !$0.hasSameBytes(as: key) }) ?? true { found.append(key) }
        }
        return found
    }

    private static func refuseUnusable(_ candidates: [OpenedItem]) throws(MigrationRefusal) {
        let noKeys = candidates.count { ($0.item.address.account.string ?? "").isEmpty }
        guard noKeys == 0 else { throw .accountsThatAreNoKeys(count: noKeys) }
        let empty = candidates.count { $0.secret.byteCount == 0 }
        guard empty == 0 else { throw .itemsWithoutSecret(count: empty) }
    }

    /// Tells what the vault has already from what it has otherwise.
    private mutating func settle(_ inVault: [OpenedItem]) throws(MigrationRefusal) {
        let held = VaultContents(inVault)
        var conflicts: [String] = []
        for index in entries.indices {
            guard let item = held[entries[index].key] else { continue }
            if item.secret.isEqual(to: entries[index].opened.secret) {
                entries[index].held = item.item
            } else {
                conflicts.append(entries[index].key)
            }
        }
        guard conflicts.isEmpty else { throw .keysInTheVault(conflicts) }
    }

    private static func reading<R>(_ body: () throws(KeychainError) -> R) throws(MigrationRefusal) -> R {
        do throws(KeychainError) { return try body() } catch { throw .keychain(error, leftInVault: []) }
    }
}

/// What a vault holds, by key.
struct VaultContents {
    private let items: [[UInt8]: OpenedItem]

    init(_ items: [OpenedItem]) {
        self.items = Dictionary(items.map { ($0.item.address.account.bytes, $0) }) { first, _ in first }
    }

    subscript(key: String) -> OpenedItem? { items[Array(key.utf8)] }
}
