internal import FoundationEssentials
internal import KeychainMessages
internal import KeychainModel

extension Latchkey_ChangePosition {
    init(_ position: ChangePosition) {
        self.init()
        history = Data(position.history)
        number = position.number
    }

    func position() throws(WireFault) -> ChangePosition {
        guard history.count == ChangePosition.historySize, number >= 0 else { throw WireFault() }
        return ChangePosition(history: Array(history), number: number)
    }
}

extension Latchkey_ChangeQuery {
    init(after position: ChangePosition?, in scope: ChangeScope) {
        self.init()
        if let position { after = Latchkey_ChangePosition(position) }
        switch scope {
        case .searched: searched = true
        case .named(let groups): self.groups = groups.map(\.name)
        }
    }

    /// More than any program has.
    private static let mostGroups = 256

    func operation() throws(WireFault) -> KeychainRequest.Operation {
        guard groups.count <= Self.mostGroups, groups.isEmpty || !searched else { throw WireFault() }
        let scope: ChangeScope = searched ? .searched : .named(groups.map { AccessGroup($0) })
        return hasAfter ? .changes(after: try after.position(), in: scope) : .changePosition(scope)
    }
}

extension Latchkey_ChangeBatch {
    init(_ batch: ChangeBatch) {
        self.init()
        position = Latchkey_ChangePosition(batch.position)
        changes = batch.changes.map { Change($0) }
    }

    func batch() throws(WireFault) -> ChangeBatch {
        let end = try position.position()
        var found: [KeychainChange] = []
        for change in changes { found.append(try change.change(of: end.history)) }
        return ChangeBatch(changes: found, position: end)
    }
}

extension Latchkey_ChangeBatch.Change {
    init(_ change: KeychainChange) {
        self.init()
        number = change.position.number
        switch change.event {
        case .unknown: kind = .unknown
        case .added(let items): put(.added, items)
        case .changed(let items): put(.changed, items)
        case .removed(let items): put(.removed, items)
        case .setAside(let items): put(.setAside, items)
        }
    }

    private mutating func put(_ kind: Latchkey_ChangeBatch.Kind, _ items: KeychainChange.Items) {
        self.kind = kind
        itemClass = items.itemClass.rawValue
        if let group = items.group { self.group = group.name }
        self.items = UInt64(clamping: items.count)
    }

    func change(of history: [UInt8]) throws(WireFault) -> KeychainChange {
        guard number >= 0 else { throw WireFault() }
        return KeychainChange(
            event: try event(), position: ChangePosition(history: history, number: number))
    }

    private func event() throws(WireFault) -> KeychainChange.Event {
        switch kind {
        // A kind that a newer daemon knows is as good as not known.
        case .unknown, .UNRECOGNIZED: .unknown
        case .added: .added(try list())
        case .changed: .changed(try list())
        case .removed: .removed(try list())
        case .setAside: .setAside(try list())
        }
    }

    private func list() throws(WireFault) -> KeychainChange.Items {
        guard let itemClass = ItemClass(rawValue: itemClass) else { throw WireFault() }
        return KeychainChange.Items(
            itemClass: itemClass, group: hasGroup ? AccessGroup(group) : nil, count: Int(clamping: items))
    }
}
