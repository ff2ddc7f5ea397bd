/// Why a migration into a vault was not done. No original was removed then, and what the
/// vault got is taken back.
public enum MigrationRefusal: Error, Sendable, Hashable {
    /// Nothing matches the query.
    case nothingToMigrate
    /// Guarded items (``Item/isGuarded``): a vault would give their secrets without asking
    /// anybody. How many there are nobody learns who was not agreed to, so it is not said.
    case guardedItems
    /// Items whose account is bytes, a number or empty, which is no key; as many as
    /// these.
    case accountsThatAreNoKeys(count: Int)
    /// Items without a secret.
    case itemsWithoutSecret(count: Int)
    /// Several items would have these keys.
    case severalForOneKey([String])
    /// The vault holds something else under these keys, or got it meanwhile: another
    /// secret, or a guarded item.
    case keysInTheVault([String])
    /// The keychain failed. Under `leftInVault` there may be secrets that were not taken
    /// back: copies of what is still where it was or, where somebody removed that
    /// meanwhile, the last of it.
    case keychain(KeychainError, leftInVault: [String])
}

/// What a migration did.
public struct MigrationReport: Sendable, Hashable {
    /// The keys of the vault that hold what was found, by rising order.
    public var keys: [String]
    /// Of these, the keys that held the same secret already.
    public var alreadyThere: [String]
    /// Items that no key could be made of, where those were to be left alone.
    public var leftAlone: Int
    /// Whether guarded items (``Item/isGuarded``) were left alone as well; they are not
    /// counted.
    public var leftGuarded: Bool
    /// Originals that are still there: they could not be removed, or were changed while
    /// the migration went on. The secrets that were found are in the vault as well.
    public var notRemoved: [String]
}

extension SecretVault {
    /// What to do with items that cannot be kept in a vault: those whose account is
    /// bytes or a number (another library's, often under the same service) or empty,
    /// those without a secret, and guarded ones.
    public enum UnusableItems: Sendable, Hashable {
        /// The migration is refused whole.
        case refuse
        /// They stay where they are, and are counted but for guarded ones.
        case leaveAlone
    }

    /// What becomes of the originals.
    public enum Originals: Sendable, Hashable {
        /// They stay where they are: each secret is there twice.
        ///
        /// - Warning: What another migration has just put into the vault counts as there,
        ///   and that one may still take it back. Do not remove the originals by hand on
        ///   the word of this report; migrate once more with `remove`.
        case keep
        /// Each is removed after all secrets are in the vault and were read back.
        case remove
    }

    /// Takes over existing passwords, their accounts as keys.
    ///
    /// Everything is looked at before anything is written. What was written is read
    /// back before anything is removed. Where it fails in between, what this call
    /// added is taken back; it never changes a secret that was in the vault before.
    /// At every moment, also if the program is killed, each secret is where it was,
    /// or in the vault, or in both; doing it again completes it. That holds as well
    /// where several programs migrate the same items at once: where originals are to be
    /// removed, a secret that the vault has already is marked, by a later date of change,
    /// and nobody takes back what was marked. An original that is
    /// changed while the migration goes on stays where it is
    /// (``MigrationReport/notRemoved``). Where originals are kept nothing is marked: what
    /// another migration has added, and takes back, is not in the vault for long.
    ///
    /// Nobody is asked for anything: guarded items (``Item/isGuarded``) are refused or
    /// left alone.
    ///
    /// What vaults hold is left out of a query that names no service, but for guarded items:
    /// those are guarded items of the query like any others. Label, kind, comment and tag
    /// are taken along, where they are text. The vault's protection class takes the place of
    /// the item's own, be it stricter or not. Of an internet password the key is the account
    /// alone; server, port, protocol and the rest of its address are lost where the
    /// original is removed.
    ///
    /// - Parameters:
    ///   - query: which passwords.
    ///   - source: where they are looked for. By default the first group alone, which
    ///     is where this program stores: in the others there may be items of other
    ///     programs.
    ///   - originals: whether they are removed.
    ///   - unusable: what becomes of items that cannot be kept in a vault.
    /// - Throws: ``MigrationRefusal``; `keychain` with `errSecInteractionNotAllowed`
    ///   while the class of an item or of the vault is locked.
    public func migrate(
        _ query: ItemQuery, from source: SecretStore = SecretStore(.firstGroup), originals: Originals,
        unusable: UnusableItems = .refuse
    ) throws(MigrationRefusal) -> MigrationReport {
        try migrate(query, from: source, into: store, originals, unusable)
    }

    /// As the other, on a thread of its own.
    public func migrate(
        _ query: ItemQuery, from source: SecretStore = SecretStore(.firstGroup), originals: Originals,
        unusable: UnusableItems = .refuse
    ) async throws(MigrationRefusal) -> MigrationReport {
        let stores: (source: SecretStore, vault: SecretStore)
        do throws(KeychainError) { stores = (try source.carryingKeychain(), try store.carryingKeychain()) } catch {
            throw .keychain(error, leftInVault: [])
        }
        return try await SecretStore.onAnotherThread { () throws(MigrationRefusal) in
            try migrate(query, from: stores.source, into: stores.vault, originals, unusable)
        }
    }

    private func migrate(
        _ query: ItemQuery, from source: SecretStore, into store: SecretStore, _ originals: Originals,
        _ unusable: UnusableItems
    ) throws(MigrationRefusal) -> MigrationReport {
        let plan = try MigrationPlan(query, source, store, service: service, unusable)
        var migration = Migration(of: plan, from: source, into: self, store, originals)
        return try migration.run()
    }
}
