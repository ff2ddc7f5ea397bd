internal import KeychainModel
internal import KeychainPlatform
internal import KeychainStore
internal import Synchronization

/// Stops writing, and moving rows aside, once more than 16 damage events came
/// within a minute: that is no failing row but a wrong key or a failing disk,
/// and going on would tear the whole store apart (decisions.md).
///
/// It stays on, across restarts, until a person has looked: `latchkey doctor`.
final class DamageBrake: Sendable {
    static let mostEvents = 16
    static let window: Duration = .seconds(60)

    /// What counts once, however often it is met.
    enum Event: Hashable, Sendable {
        case row(ItemClass, Int64)
        /// The metadata key of a class with all rows sealed under it.
        case metadataKey(ProtectionClass)
    }

    private struct State {
        var isOn: Bool
        /// Whether the table `damaged` may hold rows.
        var hasMetDamage: Bool
        /// Whether some of it was not accepted.
        var knowsOpenDamage: Bool
        var seen: [Event: Duration] = [:]
    }

    private let store: Store
    private let clock: any KeychainClock
    private let state: Mutex<State>

    init(_ store: Store, clock: any KeychainClock) throws(KeychainError) {
        self.store = store
        self.clock = clock
        state = try Mutex(
            store.read { reader throws(KeychainError) in
                State(
                    isOn: try reader.record(.brake) != nil, hasMetDamage: try reader.damagedCount() > 0,
                    knowsOpenDamage: try reader.hasOpenDamage())
            })
    }

    var isOn: Bool { state.withLock { $0.isOn } }
    var hasMetDamage: Bool { state.withLock { $0.hasMetDamage } }
    /// Whether an item that is looked for may be a damaged one.
    var knowsOpenDamage: Bool { state.withLock { $0.knowsOpenDamage } }

    /// Counts events; false where there were too many, now or before: nothing is
    /// moved then.
    func admit(_ events: some Sequence<Event>) -> Bool {
        let now = clock.monotonic
        return state.withLock { state in
            if state.isOn { return false }
            state.hasMetDamage = true
            state.knowsOpenDamage = true
            state.seen = state.seen.filter { now - $0.value < Self.window }
            for event in events where state.seen[event] == nil { state.seen[event] = now }
            state.isOn = state.seen.count > Self.mostEvents
            return !state.isOn
        }
    }

    /// - Throws: `errSecNotAvailable`, reason `storeSuspect`, while it is on.
    func refuseIfOn() throws(KeychainError) {
        if isOn { throw Self.refusal }
    }

    static let refusal = KeychainError(.notAvailable, reason: .storeSuspect)

    /// Writes into the database that it is on; never inside a transaction.
    func remember() throws(KeychainError) {
        guard isOn else { return }
        let moment = clock.wallClock
        try store.write { transaction throws(KeychainError) in
            guard try transaction.reader.record(.brake) == nil else { return }
            try transaction.put(StoreRecord.bytes(of: moment), as: .brake)
        }
    }

    /// Lets go; whoever calls has seen to the damage.
    func release() throws(KeychainError) {
        try store.write { transaction throws(KeychainError) in try transaction.remove(.brake) }
        let knowsOpenDamage = try store.read { reader throws(KeychainError) in try reader.hasOpenDamage() }
        state.withLock { $0 = State(isOn: false, hasMetDamage: true, knowsOpenDamage: knowsOpenDamage) }
    }
}
