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
        /// Those that were named, and have neither begun nor come back.
        var called: Set<UInt64> = []

        var isNone: Bool { atWork == 0 && waiting.isEmpty }
    }

    private let most: Int
    private let workers: Int
    private let shares = Mutex<[Int32: Share]>([:])
    /// Connections that wait, of all processes.
    private let waiting = Atomic(0)

    /// - Parameters:
    ///   - most: requests of one process at work.
    ///   - workers: of the daemon.
    package init(_ most: Int, of workers: Int) { (self.most, self.workers) = (most, workers) }

    package var hasWaiting: Bool { waiting.load(ordering: .acquiring) > 0 }

    private func hasPlace(_ share: Share, _ idle: Int) -> Bool {
        share.atWork < most && (share.atWork <= idle || most >= workers)
    }

    /// Takes a place; false where the connection has to wait until ``next(idle:isOpen:)``
    /// names it, which is asked when any request begins or ends. One that was named and finds the
    /// place taken is the first to be named again.
    ///
    /// - Parameter idle: workers that have nothing to do, beside the one that asks.
    package func begin(_ process: Int32, _ connection: UInt64, idle: Int) -> Bool {
        shares.withLock { shares in
            var share = shares[process] ?? Share()
            defer { shares[process] = share }
            let wasCalled = share.called.remove(connection) != nil
            guard hasPlace(share, idle) else {
                share.waiting.insert(connection, at: wasCalled ? 0 : share.waiting.count)
                waiting.add(1, ordering: .releasing)
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
            shares[process] = share.isNone ? nil : share
        }
    }

    /// The connections whose turn it is, one of each process that has a place. To be asked
    /// whenever a place or a connection has gone, and when a request has begun.
    ///
    /// - Parameter idle: workers that have nothing to do once one has taken who is named.
    package func next(idle: Int, isOpen: (UInt64) -> Bool) -> [UInt64] {
        guard hasWaiting else { return [] }
        return shares.withLock { shares in
            var found: [UInt64] = []
            for (process, present) in shares where !present.waiting.isEmpty && hasPlace(present, idle) {
                var share = present
                let first = share.waiting.firstIndex(where: isOpen)
                let gone = first.map { $0 + 1 } ?? share.waiting.count
                if let first {
                    found.append(share.waiting[first])
                    share.called.insert(share.waiting[first])
                }
                share.waiting.removeFirst(gone)
                waiting.subtract(gone, ordering: .releasing)
                shares[process] = share.isNone ? nil : share
            }
            return found
        }
    }
}
