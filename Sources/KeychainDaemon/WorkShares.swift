internal import Synchronization

/// How many requests of each process are at work. A connection that comes above
/// its process's share waits, in order, until one of them has ended: however
/// slow or many the requests of one program are, workers are left for others.
final class WorkShares: Sendable {
    private struct Share {
        var atWork = 0
        /// Connections, by number, that have something to say and wait.
        var waiting: [UInt64] = []
    }

    private let most: Int
    private let shares = Mutex<[Int32: Share]>([:])

    init(_ most: Int) { self.most = most }

    /// Takes a place; false where the connection has to wait until ``next(of:isOpen:)``
    /// names it.
    func begin(_ process: Int32, _ connection: UInt64) -> Bool {
        shares.withLock { shares in
            var share = shares[process] ?? Share()
            defer { shares[process] = share }
            guard share.atWork < most else {
                share.waiting.append(connection)
                return false
            }
            share.atWork += 1
            return true
        }
    }

    /// Gives a place back.
    func end(_ process: Int32) {
        shares.withLock { shares in
            guard var share = shares[process] else { return }
            share.atWork -= 1
            shares[process] = share.atWork > 0 || !share.waiting.isEmpty ? share : nil
        }
    }

    /// The connection whose turn it is, where there is a place for one. To be
    /// asked whenever a place or a connection of the process has gone.
    func next(of process: Int32, isOpen: (UInt64) -> Bool) -> UInt64? {
        shares.withLock { shares in
            guard var share = shares[process], share.atWork < most else { return nil }
            let first = share.waiting.firstIndex(where: isOpen)
            let found = first.map { share.waiting[$0] }
            share.waiting.removeFirst(first.map { $0 + 1 } ?? share.waiting.count)
            shares[process] = share.atWork > 0 || !share.waiting.isEmpty ? share : nil
            return found
        }
    }
}
