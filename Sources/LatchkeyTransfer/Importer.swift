internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import LatchkeyCommand
internal import LatchkeyImport
internal import Synchronization

/// Stores planned items, several at a time, so that the keychain can commit them
/// together; what depends on what is there already comes after, in order.
final class Importer: Sendable {
    /// What became of a planned item.
    enum Outcome: Sendable, Hashable {
        case added
        case unchanged
        case replaced
        case renamed(to: String)
        /// Kept what was there.
        case conflict
        /// A later item of the source has the same place and is stored instead.
        case superseded
        case failed(KeychainError)
    }

    /// One group of items is made ready while another is stored.
    static let workers = 3

    /// One for each thread.
    private let shelves: [ItemShelf]
    private let job: ImportJob
    private let items: [PlannedItem]
    /// Of each of them.
    private let places: [ItemPlace]
    private let outcomes: Mutex<[Outcome?]>
    /// What has a place: from before, and by us.
    private let taken: Mutex<[ItemPlace: Holder]>

    private enum Holder {
        /// Was there; its value is read when it matters.
        case before
        case ours(PlannedItem)
    }

    /// - Parameter held: what is there in the groups of the items.
    init(_ items: [PlannedItem], _ job: ImportJob, _ shelves: [ItemShelf], _ held: HeldItems) {
        self.items = items
        places = items.map(\.place)
        self.job = job
        self.shelves = shelves
        outcomes = Mutex([Outcome?](repeating: nil, count: items.count))
        taken = Mutex(Dictionary(held.places.map { ($0, Holder.before) }) { first, _ in first })
    }

    /// - Parameter progress: how many are done; called from several threads.
    func run(progress: @escaping @Sendable (_ done: Int) -> Void) -> [Outcome] {
        let (done, count) = (Tally(), items.count)
        let step: @Sendable () -> Void = { progress(min(done.next(), count)) }
        if job.conflict == .rename { runByEntry(step) } else { runByItem(step) }
        return outcomes.withLock { settled in
            settled.map { outcome in
                guard let outcome else { preconditionFailure("an item was left out") }
                return outcome
            }
        }
    }

    private func runByItem(_ step: @escaping @Sendable () -> Void) {
        let leaders = leaders()
        let first = leaders.values.sorted()
        storeTogether(first, step)
        // Those that wait for others: conflicts met above, and rows for a place that is taken by the source itself.
        let later = items.indices.filter { leaders[places[$0]] != $0 }
        let waiting = first.filter { outcome($0) == nil } + later
        for index in waiting.sorted() {
            settle(index, outcome: laterOutcome(index, leads: leaders[places[index]] == index))
            step()
        }
    }

    /// Which of several for one place is stored.
    private func leaders() -> [ItemPlace: Int] {
        var leaders: [ItemPlace: Int] = [:]
        for (index, item) in items.enumerated() {
            let place = places[index]
            // The last one replaces, else the first one stays; one without a value stands
            // behind any that has one.
            let replaces = job.conflict == .replace && item.hasValue
            let fills = leaders[place].map { !items[$0].hasValue && item.hasValue } ?? true
            if replaces || fills { leaders[place] = index }
        }
        return leaders
    }

    private func storeTogether(_ indices: [Int], _ step: @escaping @Sendable () -> Void) {
        let groups = grouped(indices)
        Crew.run(shelves.count, over: groups.count) { [self] number, worker in
            store(groups[number], shelves[worker], settled: step)
        }
    }

    private func outcome(_ index: Int) -> Outcome? { outcomes.withLock { $0[index] } }
    private func settle(_ index: Int, outcome: Outcome?) { outcomes.withLock { $0[index] = outcome } }

    // MARK: Several at a time

    /// Items that are new go together, as many as one request takes; any other is
    /// alone.
    private func grouped(_ indices: [Int]) -> [[Int]] {
        var groups: [[Int]] = []
        var open: [Int] = []
        var bytes = 0
        for index in indices {
            guard isNewAndSmall(index) else {
                groups.append([index])
                continue
            }
            let size = items[index].byteCount
            if open.count == NewItem.mostTogether || bytes + size > NewItem.mostBytesTogether {
                groups.append(open)
                (open, bytes) = ([], 0)
            }
            open.append(index)
            bytes += size
        }
        return open.isEmpty ? groups : groups + [open]
    }

    private func isNewAndSmall(_ index: Int) -> Bool {
        !job.isDryRun && items[index].isSmall && taken.withLock { $0[places[index]] } == nil
    }

    private func store(_ group: [Int], _ shelf: ItemShelf, settled: () -> Void) {
        var left = group
        if group.count > 1 {
            let members = group.map { items[$0] }
            do throws(KeychainError) {
                left = []
                for (index, refusal) in zip(group, try shelf.addTogether(members)) {
                    switch refusal {
                    case nil: settleAsAdded(index, settled)
                    // Another program was faster: it is looked at as if it had been there.
                    case let error? where error.status == .duplicateItem: left.append(index)
                    case let error?:
                        settle(index, outcome: .failed(error))
                        settled()
                    }
                }
            } catch {
                for index in group {
                    settle(index, outcome: .failed(error))
                    settled()
                }
            }
        }
        for index in left {
            settle(index, outcome: firstOutcome(items[index], places[index], shelf))
            settled()
        }
    }

    private func settleAsAdded(_ index: Int, _ settled: () -> Void) {
        taken.withLock { $0[places[index]] = .ours(items[index]) }
        settle(index, outcome: .added)
        settled()
    }

    // MARK: Places that one item wants

    /// nil: it has to wait until the others are stored.
    private func firstOutcome(_ item: PlannedItem, _ place: ItemPlace, _ shelf: ItemShelf) -> Outcome? {
        asOutcome { () throws(KeychainError) in
            if taken.withLock({ $0[place] }) == nil, try add(item, at: place, shelf) { return .added }
            if try holdsValue(of: item, at: place, shelf) { return .unchanged }
            switch job.conflict {
            case .keep: return .conflict
            case .replace:
                // Nothing is no better password than the one that is there.
                guard item.hasValue else { return .conflict }
                if job.isDryRun { try item.checkSize() } else { try shelf.replace(item) }
                return .replaced
            case .rename: return nil
            }
        }
    }

    private func asOutcome(_ body: () throws(KeychainError) -> Outcome?) -> Outcome? {
        do throws(KeychainError) { return try body() } catch { return .failed(error) }
    }

    private func add(_ item: PlannedItem, at place: ItemPlace, _ shelf: ItemShelf) throws(KeychainError) -> Bool {
        if job.isDryRun { try item.checkSize() }
        let isNew = try job.isDryRun ? true : shelf.add(item)
        taken.withLock { $0[place] = isNew ? .ours(item) : .before }
        return isNew
    }

    /// Whether what has the place has this value.
    private func holdsValue(
        of item: PlannedItem, at place: ItemPlace, _ shelf: ItemShelf
    ) throws(KeychainError) -> Bool {
        let wanted = item.value?.secret() ?? SecretBytes(count: 0)
        switch taken.withLock({ $0[place] }) {
        case .ours(let other): return (other.value?.secret() ?? SecretBytes(count: 0)).isEqual(to: wanted)
        case .before, nil: return try shelf.value(item)?.bytes.isEqual(to: wanted) ?? false
        }
    }

    // MARK: Places that several items want

    private func laterOutcome(_ index: Int, leads: Bool) -> Outcome? {
        let item = items[index]
        return asOutcome { () throws(KeychainError) in
            let place = places[index]
            if !leads, try holdsValue(of: item, at: place, shelves[0]) { return .unchanged }
            return job.conflict == .replace ? .superseded : .conflict
        }
    }

    // MARK: Entries that get another account

    /// All items of an entry go under one account: what belongs to a login is looked for by
    /// the login's name.
    private func runByEntry(_ step: @escaping @Sendable () -> Void) {
        let leaders = leaders()
        // Whatever is wholly new or wholly there is stored or compared several at a time.
        let (plain, others) = entries().parted { members in
            let isTaken = taken.withLock { taken in members.map { taken[places[$0]] != nil } }
            return members.allSatisfy { leaders[places[$0]] == $0 } && Set(isTaken).count == 1
        }
        storeTogether(plain.flatMap(\.self), step)
        let waiting = plain.filter { members in members.contains { outcome($0) == nil } }
        for members in (waiting + others).sorted(by: { $0[0] < $1[0] }) {
            var number = 1
            while !settle(members, number) { number += 1 }
            for _ in members { step() }
        }
    }

    /// The items of each entry, in order.
    private func entries() -> [[Int]] {
        var found: [[Int]] = []
        for (index, item) in items.enumerated() {
            if index > 0, let entry = item.entry, items[index - 1].entry == entry {
                found[found.count - 1].append(index)
            } else {
                found.append([index])
            }
        }
        return found
    }

    /// False where something else has a place of theirs under the account with this number.
    private func settle(_ members: [Int], _ number: Int) -> Bool {
        let candidates = members.map { items[$0].numbered(number) }
        do throws(KeychainError) {
            for candidate in candidates where taken.withLock({ $0[candidate.place] }) != nil {
                guard try holdsValue(of: candidate, at: candidate.place, shelves[0]) else { return false }
            }
        } catch {
            for index in members { settle(index, outcome: .failed(error)) }
            return true
        }
        for (index, candidate) in zip(members, candidates) {
            settle(index, outcome: outcome(of: candidate, isRenamed: number > 1))
        }
        return true
    }

    private func outcome(of item: PlannedItem, isRenamed: Bool) -> Outcome? {
        asOutcome { () throws(KeychainError) in
            let place = item.place
            if taken.withLock({ $0[place] }) == nil, try add(item, at: place, shelves[0]) {
                return isRenamed ? .renamed(to: item.account) : .added
            }
            return try holdsValue(of: item, at: place, shelves[0]) ? .unchanged : .conflict
        }
    }
}

extension [[Int]] {
    fileprivate func parted(_ isFirst: ([Int]) -> Bool) -> ([[Int]], [[Int]]) {
        (filter(isFirst), filter { !isFirst($0) })
    }
}
