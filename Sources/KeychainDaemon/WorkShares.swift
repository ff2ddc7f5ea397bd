internal import Synchronization

/// How many requests of each process are at work. A connection that comes above
/// its process's share waits, in order, until one of them has ended: however
/// slow or many the requests of one program are, workers are left for others.
///
/// The share is half of the workers, and less beside others that have much: for each further
/// request as many workers have to be idle as the process has already. So of eight workers two
/// such programs have six together, and the first request of any other finds one. A share that
/// is all workers is none.
package final class WorkShares: Sendable {
    private struct Share {
        var atWork = 0
        /// Connections, by number, that have something to say and wait.
        var waiting: [UInt64] = []
    }

    private let most: Int
    private let workers: Int
    private let shares = Mutex<[Int32: Share]>([:])

    /// - Parameters:
    ///   - most: requests of one process at work.
    ///   - workers: of the daemon.
    package init(_ most: Int, of workers: Int) { (self.most, self.workers) = (most, workers) }

    private func hasPlace(_ share: Share, _ idle: Int) -> Bool {
        share.atWork < most && (share.atWork <= idle || most >= workers)
    }

    /// Takes a place; false where the connection has to wait until ``next(of:idle:isOpen:)``
    /// names it, which is asked when another request of the process begins or ends.
    ///
    /// - Parameter idle: workers that have nothing to do, beside the one that asks.
    package func begin(_ process: Int32, _ connection: UInt64, idle: Int) -> Bool {
        shares.withLock { shares in
            var share = shares[process] ?? Share()
            defer { shares[process] = share }
            guard hasPlace(share, idle) else {
                share.waiting.append(connection)
                return false
            }
            share.atWork += 1
            return true
        }
    }

    /// Gives a place back.
    package func end(_ process: Int32) {
        shares.withLock { shares in
            guard var share = shares[process] else { return }
            share.atWork -= 1
            shares[process] = share.atWork > 0 || !share.waiting.isEmpty ? share : nil
        }
    }

    /// The connection whose turn it is, where there is a place for one. To be
    /// asked whenever a place or a connection of the process has gone, and when one has begun.
    package func next(of process: Int32, idle: Int, isOpen: (UInt64) -> Bool) -> UInt64? {
        shares.withLock { shares in
            guard var share = shares[process], !share.waiting.isEmpty, hasPlace(share, idle) else { return nil }
            let first = share.waiting.firstIndex(where: isOpen)
            let found = first.map { share.waiting[$0] }
            share.waiting.removeFirst(first.map { $0 + 1 } ?? share.waiting.count)
            shares[process] = share.atWork > 0 || !share.waiting.isEmpty ? share : nil
            return found
        }
    }
}
