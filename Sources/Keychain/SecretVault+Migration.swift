/// Why a migration into a vault was not done. Nothing has changed then: what the
/// vault got is taken back, and no original was removed.
public enum MigrationRefusal: Error, Sendable, Hashable {
    /// Nothing matches the query.
    case nothingToMigrate
    /// Items whose account is bytes, a number or empty, which is no key; as many as
    /// these.
    case accountsThatAreNoKeys(count: Int)
    /// Items without a secret.
    case itemsWithoutSecret(count: Int)
    /// Several items would have these keys.
    case severalForOneKey([String])
    /// The vault holds another secret under these keys already.
    case keysInTheVault([String])
    /// The keychain failed; `leftInVault` could not be taken back, and are copies of
    /// what is still where it was.
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
    /// Originals that could not be removed; their secrets are in the vault as well.
    public var notRemoved: [String]
}

extension SecretVault {
    /// What to do with items that cannot be kept in a vault: those whose account is
    /// bytes or a number (another library's, often under the same service) or empty,
    /// and those without a secret.
    public enum UnusableItems: Sendable, Hashable {
        /// The migration is refused whole.
        case refuse
        /// They stay where they are, and are counted.
        case leaveAlone
    }

    /// What becomes of the originals.
    public enum Originals: Sendable, Hashable {
        /// They stay where they are: each secret is there twice.
        case keep
        /// Each is removed after all secrets are in the vault and were read back.
        case remove
    }

    /// Takes over existing passwords, their accounts as keys.
    ///
    /// Everything is looked at before anything is written. What was written is read
    /// back before anything is removed. Where it fails in between, what this call
    /// added is taken back; it never touches a secret that was in the vault before.
    /// At every moment, also if the program is killed, each secret is where it was,
    /// or in the vault, or in both; doing it again completes it.
    ///
    /// - Throws: ``MigrationRefusal``.
    public func migrate(
        _ query: ItemQuery, from source: SecretStore = SecretStore(), originals: Originals,
        unusable: UnusableItems = .refuse
    ) throws(MigrationRefusal) -> MigrationReport {
        let plan = try plan(query, source, unusable)
        // What may have been added, also by a call whose answer did not come.
        var added: [Entry] = []
        do throws(KeychainError) {
            for entry in plan.fresh { try add(entry, &added) }
            for (key, opened) in plan.fresh {
                guard try secret(forKey: key)?.isEqual(to: opened.secret) == true else {
                    throw KeychainError(.internalComponent, reason: .internalFault(what: "a secret was not kept"))
                }
            }
        } catch {
            throw .keychain(error, leftInVault: takenBack(added))
        }
        var report = MigrationReport(
            keys: plan.all.map(\.key), alreadyThere: plan.present, leftAlone: plan.leftAlone, notRemoved: [])
        guard originals == .remove else { return report }
        for (key, opened) in plan.all {
            do throws(KeychainError) { try source.remove(opened.item) } catch { report.notRemoved.append(key) }
        }
        return report
    }

    private typealias Entry = (key: String, opened: OpenedItem)

    private struct Plan {
        var fresh: [Entry] = []
        var all: [Entry] = []
        var present: [String] = []
        var leftAlone = 0
    }

    private func plan(
        _ query: ItemQuery, _ source: SecretStore, _ unusable: UnusableItems
    ) throws(MigrationRefusal) -> Plan {
        let (found, inVault) = try reading { () throws(KeychainError) in
            (try source.openedItems(query), try store.openedItems(.passwords(service: service)))
        }
        // What lies in the vault is not to be migrated into it.
        let own = Set(inVault.map(\.item.reference))
        let candidates = found.filter { !own.contains($0.item.reference) }
        guard !candidates.isEmpty else { throw .nothingToMigrate }
        var plan = Plan()
        for opened in candidates {
            guard let key = opened.item.address.account.string, !key.isEmpty, opened.secret.byteCount > 0 else {
                continue
            }
            plan.all.append((key, opened))
        }
        plan.leftAlone = candidates.count - plan.all.count
        if unusable == .refuse { try Self.refuseUnusable(candidates) }
        plan.all.sort { $0.key.comesBefore($1.key) }
        let repeated = Self.repeated(plan.all.map(\.key))
        guard repeated.isEmpty else { throw .severalForOneKey(repeated) }
        try settle(&plan, inVault)
        return plan
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
    private func settle(_ plan: inout Plan, _ inVault: [OpenedItem]) throws(MigrationRefusal) {
        var conflicts: [String] = []
        for entry in plan.all {
            let held = inVault.first { item in
                item.item.address.account.string?.hasSameBytes(as: entry.key) ?? false
            }
            switch held {
            case nil: plan.fresh.append(entry)
            case .some(let held) where held.secret.isEqual(to: entry.opened.secret): plan.present.append(entry.key)
            case .some: conflicts.append(entry.key)
            }
        }
        guard conflicts.isEmpty else { throw .keysInTheVault(conflicts) }
    }

    private func reading<R>(_ body: () throws(KeychainError) -> R) throws(MigrationRefusal) -> R {
        do throws(KeychainError) { return try body() } catch { throw .keychain(error, leftInVault: []) }
    }

    private func add(_ entry: Entry, _ added: inout [Entry]) throws(KeychainError) {
        do throws(KeychainError) {
            try store.add(
                entry.opened.secret, at: address(entry.key), attributes: entry.opened.item.attributes,
                accessible: accessible)
            added.append(entry)
        } catch {
            if error.reason == .noAnswer(mayHaveHappened: true) { added.append(entry) }
            throw error
        }
    }

    /// Takes back what this migration added; the keys where that failed.
    private func takenBack(_ added: [Entry]) -> [String] {
        var left: [String] = []
        for (key, opened) in added {
            do throws(KeychainError) {
                // Under this key another program may have stored something since.
                guard try secret(forKey: key)?.isEqual(to: opened.secret) == true else { continue }
                try removeSecret(forKey: key)
            } catch {
                left.append(key)
            }
        }
        return left
    }
}
