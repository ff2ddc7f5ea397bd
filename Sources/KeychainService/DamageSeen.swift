internal import KeychainModel
internal import KeychainPlatform
internal import KeychainStore
internal import Synchronization

/// The damage that one change meets on its way: rows go aside within the same
/// transaction; a metadata key that does not open ends it, because it takes all
/// its rows along as one event in a transaction of its own.
final class DamageSeen: Sendable {
    private struct State {
        var brokenKey: MetadataKeyName?
        var isTooMuch = false
        var hidden: (itemClass: ItemClass, rowid: Int64)?
    }

    private let brake: DamageBrake
    private let moment: Double
    private let state = Mutex(State())

    /// Whether the change ends at a row that an index does not lead to.
    let looksForHidden: Bool

    init(_ brake: DamageBrake, at moment: Double, looksForHidden: Bool) {
        self.brake = brake
        self.moment = moment
        self.looksForHidden = looksForHidden
    }

    /// The class whose metadata key ended the transaction.
    var brokenKey: MetadataKeyName? { state.withLock { $0.brokenKey } }
    /// There was too much of it.
    var isTooMuch: Bool { state.withLock { $0.isTooMuch } }

    /// A row that has the place of what was to be inserted, and that its index does not lead to.
    var hidden: (itemClass: ItemClass, rowid: Int64)? { state.withLock { $0.hidden } }

    /// - Throws: always: the index is made anew first, in a transaction that lasts.
    func refuse(besideHidden rowid: Int64, in itemClass: ItemClass) throws(KeychainError) {
        state.withLock { $0.hidden = (itemClass, rowid) }
        throw KeychainError(.notAvailable, reason: .mayBeSetAside, underlying: "an index leads past an item")
    }

    /// - Throws: where the transaction cannot go on: see ``KeychainEngine/change(_:)``.
    func setAside(
        _ row: SealedRow, in itemClass: ItemClass, cause: StoreTransaction.DamageCause, _ transaction: StoreTransaction
    ) throws(KeychainError) {
        if cause == .metadataKey, let key = MetadataKeyName(row) {
            state.withLock { $0.brokenKey = key }
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "the metadata key of a class")
        }
        guard brake.admit(CollectionOfOne(.row(itemClass, row.rowid))) else {
            state.withLock { $0.isTooMuch = true }
            throw DamageBrake.refusal
        }
        try transaction.setAside(row.rowid, in: itemClass, cause: cause, at: moment)
    }
}

extension KeychainEngine {
    /// Runs a change of the store, which is refused while the brake is on. Where
    /// it meets a metadata key that does not open, that key and its rows are set
    /// aside as one event and the change begins anew. So it does where it meets a row
    /// that an index does not lead to, once that index is made anew.
    func change<R: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction, DamageSeen) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        var keysLeft = ProtectionClass.allCases.count
        // A search for each class that is stored: an index is made anew for all of its rows.
        var waysLeft = ItemClass.stored.count
        while true {
            try brake.refuseIfOn()
            let seen = DamageSeen(brake, at: clock.wallClock, looksForHidden: waysLeft > 0)
            do throws(KeychainError) {
                return try store.write { transaction throws(KeychainError) in try body(transaction, seen) }
            } catch {
                if seen.isTooMuch { try brake.remember() }
                if let (itemClass, rowid) = seen.hidden {
                    waysLeft = try openWays(to: rowid, itemClass) ? waysLeft - 1 : 0
                    continue
                }
                guard let broken = seen.brokenKey, keysLeft > 0 else { throw error }
                keysLeft -= 1
                try keys.replaceDamaged(broken.protectionClass, generation: broken.generation, at: clock.wallClock)
            }
        }
    }

    /// - Returns: false where the index stays as it is: another row has the place of one of its rows.
    private func openWays(to rowid: Int64, _ itemClass: ItemClass) throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            let isOpen = try store.write { transaction throws(KeychainError) in
                try transaction.openWays(to: rowid, in: itemClass)
            }
            if isOpen { tellOfMended() }
            return isOpen
        } catch {
            guard error.status == .duplicateItem else { throw error }
            return false
        }
    }
}
