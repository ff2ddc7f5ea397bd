internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import Synchronization

/// Hears on a thread of its own that somebody has stored, changed or deleted items of some
/// groups, whoever it was: never which (``KeychainChange``). It goes on from where it was after
/// the daemon has ended.
final class ItemFollower: Sendable {
    /// What happened to items of a group.
    struct Change: OptionSet, Sendable {
        let rawValue: UInt8

        /// Some came or went.
        static let members = Change(rawValue: 1)
        /// Some are others than they were.
        static let content = Change(rawValue: 2)
        /// Nobody knows.
        static let unknown: Change = [.members, .content]
    }

    /// What the thread has to do with. It outlives the follower until the thread hears of its end.
    fileprivate final class Hearing: Sendable {
        struct State {
            var groups: Set<AccessGroup>
            /// nil: it was not asked for yet.
            var position: ChangePosition?
            /// From where on those of a group are told that came later than others.
            var starts: [AccessGroup: ChangePosition] = [:]
            var changes: [AccessGroup: Change] = [:]
            var isOver = false
        }

        let state: Mutex<State>
        /// Readable when something was heard.
        let heard: EventSignal
        /// Ends a wait.
        let other: EventSignal

        init(_ groups: Set<AccessGroup>) throws(SystemCallError) {
            state = Mutex(State(groups: groups))
            (heard, other) = (try EventSignal(), try EventSignal())
        }
    }

    private let hearing: Hearing

    /// Where no daemon runs there is nothing to hear; it is looked for again after this.
    private static let pause = Duration.seconds(5)

    /// - Parameter groups: whose items are followed; what was heard first is ``Change/unknown``.
    init(
        _ keychain: any KeychainTransport, of groups: Set<AccessGroup>, clock: any KeychainClock
    ) throws(SystemCallError) {
        let hearing = try Hearing(groups)
        self.hearing = hearing
        try BackgroundThread.start {
            while !hearing.state.withLock({ $0.isOver }) {
                do throws(KeychainError) { try hearing.hear(keychain) } catch {
                    let end = Deadline(after: Self.pause, on: clock)
                    do throws(SystemCallError) {
                        if try waitForAny(of: [hearing.other.descriptor], until: end) != nil { hearing.other.drain() }
                    } catch { return }
                }
            }
        }
    }

    deinit {
        hearing.state.withLock { $0.isOver = true }
        hearing.other.signal()
    }

    /// Readable when something was heard.
    var heard: Descriptor { hearing.heard.descriptor }

    /// What was heard since this was asked for last.
    func changes() -> [AccessGroup: Change] {
        hearing.heard.drain()
        return hearing.state.withLock { state in
            defer { state.changes = [:] }
            return state.changes
        }
    }

    /// Follows another group. What happens to it from this call on is heard.
    ///
    /// - Parameter start: what happened to it up to there is not; nil: that may be heard as well.
    func follow(_ group: AccessGroup, from start: ChangePosition?) {
        hearing.state.withLock { state in
            state.groups.insert(group)
            state.starts[group] = start
        }
        hearing.other.signal()
    }

    /// Follows none but these any more.
    func keep(_ groups: Set<AccessGroup>) {
        let isOther = hearing.state.withLock { state in
            defer { state.groups.formIntersection(groups) }
            state.starts = state.starts.filter { groups.contains($0.key) }
            return !state.groups.isSubset(of: groups)
        }
        if isOther { hearing.other.signal() }
    }
}

extension ItemFollower.Hearing {
    /// One answer of the keychain, or none where the groups become others meanwhile.
    fileprivate func hear(_ keychain: any KeychainTransport) throws(KeychainError) {
        let (groups, position) = state.withLock { ($0.groups, $0.position) }
        let scope = ChangeScope.named(Array(groups))
        guard let position else {
            let answer = try keychain.perform(KeychainRequest(.changePosition(scope)))
            guard let start = answer.changes?.position else {
                throw KeychainError(.internalComponent, reason: .internalFault(what: "no position came"))
            }
            return take(groups.map { ($0, .unknown) }, upTo: start, heardOf: groups)
        }
        guard let batch = try keychain.changes(after: position, in: scope, orUntil: other) else {
            return other.drain()
        }
        let starts = state.withLock { $0.starts }
        let changes = batch.changes.flatMap { change in
            Self.changes(change.event, groups).filter { !change.position.isUpTo(starts[$0.0]) }
        }
        take(changes, upTo: batch.position, heardOf: groups)
    }

    /// - Parameter groups: which were asked for. Of one that came meanwhile what has happened since
    ///   is told to who asks from the former position again.
    private func take(
        _ changes: [(AccessGroup, ItemFollower.Change)], upTo position: ChangePosition, heardOf groups: Set<AccessGroup>
    ) {
        state.withLock { state in
            if state.groups.isSubset(of: groups) { state.position = position }
            for (group, change) in changes { state.changes[group, default: []].formUnion(change) }
        }
        if !changes.isEmpty { heard.signal() }
    }

    private static func changes(
        _ event: KeychainChange.Event, _ groups: Set<AccessGroup>
    ) -> [(AccessGroup, ItemFollower.Change)] {
        func of(_ items: KeychainChange.Items, _ change: ItemFollower.Change) -> [(AccessGroup, ItemFollower.Change)] {
            guard let group = items.group, SecretItems.classes.contains(items.itemClass) else { return [] }
            return [(group, change)]
        }
        return switch event {
        case .added(let items), .removed(let items), .setAside(let items): of(items, .members)
        case .changed(let items): of(items, .content)
        case .unknown: groups.map { ($0, .unknown) }
        }
    }
}

extension ChangePosition {
    /// Whether it is that one, or before it in the same history.
    fileprivate func isUpTo(_ other: ChangePosition?) -> Bool {
        other.map { history == $0.history && number <= $0.number } ?? false
    }
}
