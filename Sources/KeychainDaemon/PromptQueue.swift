/// Who waits for a person, in order, each program with a fair share of the places.
struct PromptQueue<Call: Sendable>: Sendable {
    struct Place: Sendable {
        /// The connection's number.
        let connection: UInt64
        let process: Int32
        /// Its strongest rung: all processes of one program have the same.
        let program: String
        let call: Call
    }

    enum Admission: Sendable {
        case taken
        /// That call gives way: its program had more places than one that has none.
        case takenInPlaceOf(Call)
        /// The process has its share.
        case processWaits
        /// All places are taken, by programs that have no more than this one.
        case full
    }

    /// More than that hear at once that nobody can be asked: a person answers one
    /// prompt after the other, and none of them waits for ever.
    private static var longest: Int { 4 }
    /// Of one process, with the one that is before a person now.
    private static var mostOfOneProcess: Int { 2 }

    private var waiting: [Place] = []
    /// What is before a person now.
    private(set) var current: Place?

    var count: Int { waiting.count + (current == nil ? 0 : 1) }

    private func places(where isMeant: (Place) -> Bool) -> Int {
        waiting.count(where: isMeant) + (current.map(isMeant) == true ? 1 : 0)
    }

    mutating func add(_ place: Place) -> Admission {
        guard places(where: { $0.process == place.process }) < Self.mostOfOneProcess else { return .processWaits }
        guard waiting.count >= Self.longest else {
            waiting.append(place)
            return .taken
        }
        let shares = Dictionary(grouping: waiting, by: \.program).mapValues(\.count)
        let own = places { $0.program == place.program }
        guard let most = shares.values.max(), most > own + 1,
            let last = waiting.lastIndex(where: { shares[$0.program] == most })
        else { return .full }
        let given = waiting.remove(at: last)
        waiting.append(place)
        return .takenInPlaceOf(given.call)
    }

    /// The next that is before a person from now on; nil where nobody waits.
    mutating func takeNext() -> Call? {
        current = waiting.isEmpty ? nil : waiting.removeFirst()
        return current?.call
    }

    mutating func leave() { current = nil }

    /// Calls of a connection that nobody waits for any more.
    mutating func remove(_ connection: UInt64) -> [Call] {
        let gone = waiting.filter { $0.connection == connection }.map(\.call)
        waiting.removeAll { $0.connection == connection }
        return gone
    }

    /// All that wait; nobody does any more.
    mutating func removeAll() -> [Call] {
        defer { waiting = [] }
        return waiting.map(\.call)
    }
}
