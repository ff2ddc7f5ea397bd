internal import MessageBus

/// The sessions of all connections. Of one connection those that were used last are kept:
/// Python's secretstorage opens one for each item that it finds, keeps it, and closes none.
struct TransferSessions {
    /// As many as one connection may have; the one that was longest not used makes room.
    static let most = 4096
    /// Of all connections together.
    private static let mostOfAll = 32_768

    private var open: [ObjectPath: TransferSession] = [:]
    private var counts: [String: Int] = [:]
    /// Goes up with each session, and each use of one.
    private var number: UInt64 = 0
    /// Sessions of a connection that has as many as it may, or of all where all have, each with its
    /// use when the list was made, the longest unused last. What was opened or used since is
    /// younger than all of them.
    private var oldest: [Whose: [(path: ObjectPath, use: UInt64)]] = [:]

    private enum Whose: Hashable {
        case connection(String)
        case everybodys
    }

    var paths: some Sequence<ObjectPath> { open.keys }
    /// Of how many connections, and of all of them, there is a list of what goes first.
    var listCount: Int { oldest.count }

    subscript(path: ObjectPath) -> TransferSession? { open[path] }

    mutating func add(_ kind: TransferSession.Kind, of owner: String) -> ObjectPath {
        number += 1
        let path = SecretServiceNames.sessions.appending("s\(number)")
        makeRoom(for: owner)
        open[path] = TransferSession(path: path, owner: owner, kind: kind, lastUse: number)
        counts[owner, default: 0] += 1
        return path
    }

    /// nil where it is none of that connection.
    mutating func use(_ path: ObjectPath, by owner: String) -> TransferSession? {
        guard var session = open[path], session.owner == owner else { return nil }
        number += 1
        session.lastUse = number
        open[path] = session
        return session
    }

    mutating func end(_ path: ObjectPath) {
        guard let session = open.removeValue(forKey: path) else { return }
        let left = (counts[session.owner] ?? 0) - 1
        counts[session.owner] = left > 0 ? left : nil
        if left <= 0 { oldest[.connection(session.owner)] = nil }
    }

    mutating func endAll(of owner: String) {
        oldest[.connection(owner)] = nil
        guard counts.removeValue(forKey: owner) != nil else { return }
        open = open.filter { $0.value.owner != owner }
    }

    private mutating func makeRoom(for owner: String) {
        let theirs = counts[owner] ?? 0
        guard theirs >= Self.most || open.count >= Self.mostOfAll else { return }
        // Who has none has another's go.
        endOldest(theirs > 0 ? .connection(owner) : .everybodys)
    }

    private mutating func endOldest(_ whose: Whose) {
        repeat {
            while let next = oldest[whose]?.popLast() {
                if open[next.path]?.lastUse == next.use { return end(next.path) }
            }
            let theirs = open.values.filter { whose == .everybodys || whose == .connection($0.owner) }
            oldest[whose] = theirs.map { ($0.path, $0.lastUse) }.sorted { $0.1 > $1.1 }
        } while !(oldest[whose]?.isEmpty ?? true)
        oldest[whose] = nil
    }
}
