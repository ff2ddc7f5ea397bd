/// The steps of a migration after its plan.
///
/// Several may go on at once, in several programs, and each may end at any of its calls.
/// That no secret is lost rests on three things:
///
/// - An original is removed only while it is as it was read, and after the vault was
///   read again and had the very item that this migration added there or marked, not
///   another of the same secret that somebody put in its place.
/// - Marking gives the vault's item a later date, in one step with the look whether it
///   is there.
/// - What was added is taken back only while it has the date that it was added with, and
///   its original is there. So nobody takes back what another has marked, and nobody
///   marks what was taken back.
struct Migration {
    private typealias Entry = MigrationPlan.Entry

    /// Why it does not go on.
    private enum Failure: Error {
        case keychain(KeychainError)
        case conflict(String)
    }

    private let plan: MigrationPlan
    private let source: SecretStore
    private let vault: SecretVault
    private let store: SecretStore
    private let originals: SecretVault.Originals
    /// What was added, and how it was then; nil: no answer came, and it may have been.
    private var added: [(entry: Entry, version: ItemVersion?)] = []
    private var alreadyThere: Set<[UInt8]> = []
    /// The reference of the item that was added or marked, by key.
    private var reliedOn: [[UInt8]: [UInt8]] = [:]

    /// How often what others remove or add meanwhile is met anew.
    private static let mostRounds = 8

    init(
        of plan: MigrationPlan, from source: SecretStore, into vault: SecretVault, _ store: SecretStore,
        _ originals: SecretVault.Originals
    ) {
        self.plan = plan
        self.source = source
        self.vault = vault
        self.store = store
        self.originals = originals
    }

    mutating func run() throws(MigrationRefusal) -> MigrationReport {
        do throws(Failure) { try fill() } catch { throw refusal(error, leftInVault: takenBack()) }
        return MigrationReport(
            keys: plan.entries.map(\.key),
            alreadyThere: plan.entries.map(\.key).filter { alreadyThere.contains(Array($0.utf8)) },
            leftAlone: plan.leftAlone, leftGuarded: plan.leftGuarded,
            notRemoved: originals == .remove ? removeOriginals() : [])
    }

    private func refusal(_ failure: Failure, leftInVault: [String]) -> MigrationRefusal {
        switch failure {
        case .keychain(let error): .keychain(error, leftInVault: leftInVault)
        case .conflict(let key) where leftInVault.isEmpty: .keysInTheVault([key])
        case .conflict:
            .keychain(KeychainError(.duplicateItem, reason: .duplicate), leftInVault: leftInVault)
        }
    }

    // MARK: Filling

    /// The vault has every secret when this returns, and none that another migration may
    /// take back where originals are to be removed.
    private mutating func fill() throws(Failure) {
        var pending = plan.entries
        for _ in 0..<Self.mostRounds {
            for entry in pending { try admit(entry) }
            pending = try missing()
            if pending.isEmpty { return }
        }
        throw .keychain(KeychainError(.internalComponent, reason: .internalFault(what: "a secret was not kept")))
    }

    private mutating func admit(_ entry: Entry) throws(Failure) {
        var held = entry.held
        for _ in 0..<Self.mostRounds {
            if let item = held {
                if try rely(on: item) {
                    alreadyThere.insert(Array(entry.key.utf8))
                    reliedOn[Array(entry.key.utf8)] = Array(item.reference)
                    return
                }
            } else if try add(entry) {
                alreadyThere.remove(Array(entry.key.utf8))
                return
            }
            held = try look(for: entry)
        }
        // A guarded item, which does not show; or others add and remove without end.
        throw .conflict(entry.key)
    }

    /// False where it has been changed or taken back.
    private func rely(on item: Item) throws(Failure) -> Bool {
        guard originals == .remove else { return true }
        return try asking { () throws(KeychainError) in try store.touch(item) }
    }

    private mutating func add(_ entry: Entry) throws(Failure) -> Bool {
        do throws(KeychainError) {
            let version = try store.addVersion(
                entry.opened.secret, at: vault.address(entry.key), attributes: entry.opened.item.attributes,
                accessible: vault.accessible)
            guard let version else { return false }
            added.append((entry, version))
            reliedOn[Array(entry.key.utf8)] = version.reference
            return true
        } catch {
            if error.reason == .noAnswer(mayHaveHappened: true) { added.append((entry, nil)) }
            throw .keychain(error)
        }
    }

    /// What the vault has under the key by now, where it is the same secret.
    private func look(for entry: Entry) throws(Failure) -> Item? {
        let held = try asking { () throws(KeychainError) in try store.openedItem(at: vault.address(entry.key)) }
        guard let held else { return nil }
        guard held.secret.isEqual(to: entry.opened.secret) else { throw .conflict(entry.key) }
        return held.item
    }

    /// Reads the vault again: what it has not, or no longer.
    private func missing() throws(Failure) -> [Entry] {
        let contents = VaultContents(
            try asking { () throws(KeychainError) in
                try store.openedItems(.passwords(service: vault.service), asking: .nobodySkippingGuarded)
            })
        var missing: [Entry] = []
        for entry in plan.entries {
            guard let held = contents[entry.key] else {
                missing.append(Entry(key: entry.key, opened: entry.opened))
                continue
            }
            guard held.secret.isEqual(to: entry.opened.secret) else { throw .conflict(entry.key) }
            // Another's, which may take it back: it is to be marked first.
            if reliedOn[Array(entry.key.utf8)] != Array(held.item.reference) {
                missing.append(Entry(key: entry.key, opened: entry.opened, held: held.item))
            }
        }
        return missing
    }

    private func asking<R>(_ body: () throws(KeychainError) -> R) throws(Failure) -> R {
        do throws(KeychainError) { return try body() } catch { throw .keychain(error) }
    }

    // MARK: The end

    /// The keys of those that are still there.
    private func removeOriginals() -> [String] {
        var left: [String] = []
        for entry in plan.entries {
            let item = entry.opened.item
            do throws(KeychainError) {
                if try source.remove(ItemVersion(item)) { continue }
            } catch {
                // Whether it was removed shows the look.
            }
            // Where it is gone another migration was quicker.
            if isStillThere(item) { left.append(entry.key) }
        }
        return left
    }

    /// True also where that cannot be told.
    private func isStillThere(_ item: Item) -> Bool {
        do throws(KeychainError) { return try source.isThere(item) } catch { return true }
    }

    /// Takes back what this migration added; the keys where that failed.
    private func takenBack() -> [String] {
        var left: [String] = []
        for (entry, version) in added {
            do throws(KeychainError) {
                // Where it was changed it is somebody else's by now.
                if let version, try source.isThere(entry.opened.item), try store.remove(version) { continue }
                if try store.openedItem(at: vault.address(entry.key)) != nil {
                    left.append(entry.key)
                }
            } catch {
                left.append(entry.key)
            }
        }
        return left
    }
}
