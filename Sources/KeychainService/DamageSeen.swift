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
    }

    private let brake: DamageBrake
    private let moment: Double
    private let state = Mutex(State())

    init(_ brake: DamageBrake, at moment: Double) {
        self.brake = brake
        self.moment = moment
    }

    /// The class whose metadata key ended the transaction.
    var brokenKey: MetadataKeyName? { state.withLock { $0.brokenKey } }
    /// There was too much of it.
    var isTooMuch: Bool { state.withLock { $0.isTooMuch } }

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
    /// aside as one event and the change begins anew.
    func change<R: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction, DamageSeen) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        var keysLeft = ProtectionClass.allCases.count
        while true {
            try brake.refuseIfOn()
            let seen = DamageSeen(brake, at: clock.wallClock)
            do throws(KeychainError) {
                return try store.write { transaction throws(KeychainError) in try body(transaction, seen) }
            } catch {
                if seen.isTooMuch { try brake.remember() }
                guard let broken = seen.brokenKey, keysLeft > 0 else { throw error }
                keysLeft -= 1
                try keys.replaceDamaged(broken.protectionClass, generation: broken.generation, at: clock.wallClock)
            }
        }
    }
}
