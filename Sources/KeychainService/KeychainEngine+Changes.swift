package import KeychainModel
package import KeychainPlatform
internal import KeychainProtocol
internal import KeychainStore
internal import Synchronization

extension KeychainEngine {
    /// Changes in one answer at the most.
    private static let mostChanges = 256
    /// Entries of the log that are looked at in one go.
    private static let batch = 1024

    /// Where an observer may begin.
    ///
    /// - Throws: as ``changes(after:in:for:)``.
    package func changePosition(
        in scope: ChangeScope, for authorization: Authorization
    ) throws(KeychainError) -> ChangeBatch {
        try looking(in: scope, authorization) { reader, _ throws(KeychainError) in
            let (history, _, last) = try reader.changeBounds()
            return ChangeBatch(changes: [], position: ChangePosition(history: history, number: last))
        }
    }

    /// What happened to items of the observer's groups after its position, as far as
    /// it has happened by now.
    ///
    /// Also while items are locked: the log has classes and blind groups alone.
    ///
    /// - Throws: -34018 where the observer names a group that is not its own, or has
    ///   none.
    package func changes(
        after position: ChangePosition, in scope: ChangeScope, for authorization: Authorization
    ) throws(KeychainError) -> ChangeBatch {
        try looking(in: scope, authorization) { reader, view throws(KeychainError) in
            try read(position, view, reader)
        }
    }

    private func looking(
        in scope: ChangeScope, _ authorization: Authorization,
        _ look: (StoreReader, ChangeView) throws(KeychainError) -> ChangeBatch
    ) throws(KeychainError) -> ChangeBatch {
        try refuseIfMalformed()
        let view = try ChangeView(scope, authorization, blind)
        do throws(KeychainError) {
            return try store.read { reader throws(KeychainError) in try look(reader, view) }
        } catch {
            throw noteMalformation(error)
        }
    }

    /// The same, waiting on the caller's thread until there is anything to tell; nil
    /// where `cancelled` was signalled first.
    package func changes(
        after start: ChangePosition, in scope: ChangeScope, for authorization: Authorization,
        orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch? {
        var position = start
        // Before the first look: what is committed after it rings.
        let signal = try Self.waiting { () throws(SystemCallError) in try store.bell.listen() }
        defer { store.bell.leave(signal) }
        while true {
            signal.drain()
            if isClosing.load(ordering: .acquiring) { throw Self.closed }
            let batch = try changes(after: position, in: scope, for: authorization)
            if !batch.changes.isEmpty { return batch }
            position = batch.position
            // The first: who stops observing has heard enough.
            let woken = try Self.waiting { () throws(SystemCallError) in
                try waitForAny(of: [cancelled.descriptor, signal.descriptor])
            }
            if woken == 0 { return nil }
        }
    }

    private static let closed = KeychainError(
        .notAvailable, reason: .daemonUnreachable, underlying: "the keychain was closed")

    private static func waiting<R>(_ body: () throws(SystemCallError) -> R) throws(KeychainError) -> R {
        do throws(SystemCallError) { return try body() } catch {
            throw KeychainError(
                .notAvailable, reason: .internalFault(what: "waiting for changes"), underlying: "\(error)")
        }
    }

    private func read(
        _ position: ChangePosition, _ view: ChangeView, _ reader: StoreReader
    ) throws(KeychainError) -> ChangeBatch {
        let (history, first, last) = try reader.changeBounds()
        func at(_ number: Int64) -> ChangePosition { ChangePosition(history: history, number: number) }
        guard position.history == history, position.number >= first - 1, position.number <= last else {
            return ChangeBatch(
                changes: [KeychainChange(event: .unknown, position: at(last))], position: at(last))
        }
        var batch = ChangeBatch(changes: [], position: position)
        while batch.changes.count < Self.mostChanges {
            guard let page = try reader.changes(after: batch.position.number, atMost: Self.batch) else { break }
            for entry in page.entries {
                guard let items = view.items(of: entry) else { continue }
                batch.changes.append(KeychainChange(event: entry.kind.event(items), position: at(entry.number)))
                if batch.changes.count == Self.mostChanges {
                    batch.position = at(entry.number)
                    return batch
                }
            }
            batch.position = at(page.last)
        }
        return batch
    }
}

extension ChangeKind {
    fileprivate func event(_ items: KeychainChange.Items) -> KeychainChange.Event {
        switch self {
        case .added: .added(items)
        case .changed: .changed(items)
        case .removed: .removed(items)
        case .setAside: .setAside(items)
        }
    }
}

/// What one observer sees of the log: groups by their blind values.
private struct ChangeView {
    private let names: [ItemClass: [[UInt8]: AccessGroup]]
    private let seesAll: Bool

    init(
        _ wanted: ChangeScope, _ authorization: Authorization, _ blind: BlindIndex
    ) throws(KeychainError) {
        if authorization.entitlements.grants("keychain-deny") {
            throw KeychainError(.notAvailable, reason: .keychainDenied)
        }
        let groups: [AccessGroup]
        switch (wanted, authorization.scope(for: .copy)) {
        case (.named(let named), _):
            for group in named { try authorization.check(explicit: group, for: .copy) }
            (groups, seesAll) = (named, false)
        case (.searched, .only(let searched, _)): (groups, seesAll) = (searched, false)
        // By the entitlement for all groups: those that it lists have their names.
        case (.searched, .all): (groups, seesAll) = (authorization.entitlements.accessGroups, true)
        }
        guard seesAll || !groups.isEmpty else {
            throw KeychainError(.missingEntitlement, reason: .noAccessGroups)
        }
        names = Dictionary(
            uniqueKeysWithValues: ItemClass.stored.map { itemClass in
                let pairs = groups.compactMap { group in blind.blind(group, in: itemClass).map { ($0, group) } }
                return (itemClass, Dictionary(pairs, uniquingKeysWith: { first, _ in first }))
            })
    }

    /// nil: none of its business.
    func items(of entry: ChangeLog.Entry) -> KeychainChange.Items? {
        let name = entry.group.flatMap { names[entry.itemClass]?[$0] }
        guard seesAll || name != nil else { return nil }
        return KeychainChange.Items(itemClass: entry.itemClass, group: name, count: entry.items)
    }
}
