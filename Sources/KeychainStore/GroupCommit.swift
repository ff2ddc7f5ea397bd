internal import Foundation
internal import GRDB
internal import KeychainModel
internal import Synchronization

/// Shares commits among the threads that write at the same time.
///
/// The first to come leads: it takes whatever is queued, runs each piece in a
/// savepoint of its own, commits once, and tells the others. Whoever comes
/// meanwhile waits for the next round, which one of the waiting leads. A single
/// writer never hands its work to another thread.
final class GroupCommit: Sendable {
    private let writer: DatabaseQueue
    /// Throws where what is written now would go into a file that nobody finds again.
    private let checkPlace: @Sendable () throws(KeychainError) -> Void
    /// Throws where the log that is written now is not what the next opening finds.
    private let log: LogWatch
    /// Hears of each commit by its number, and of the log that holds it, before anybody hears
    /// that it lasts.
    private let testify: @Sendable (Int64, UInt64) -> Void
    private let bell: ChangeBell
    private let condition = Condition()

    /// Pieces in one commit at the most: bounds how long the first one waits.
    private static let mostInOneCommit = 64

    init(
        _ writer: DatabaseQueue, _ log: LogWatch, telling bell: ChangeBell,
        checkPlace: @escaping @Sendable () throws(KeychainError) -> Void,
        testify: @escaping @Sendable (Int64, UInt64) -> Void
    ) {
        self.writer = writer
        self.log = log
        self.bell = bell
        self.checkPlace = checkPlace
        self.testify = testify
    }

    func perform<R: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        let result = Mutex<Result<R, KeychainError>?>(nil)
        let piece = Piece { transaction throws(KeychainError) in
            let value = try body(transaction)
            return { failure in result.withLock { $0 = failure.map(Result.failure) ?? .success(value) } }
        } fail: { error in
            result.withLock { $0 = .failure(error) }
        }
        condition.enqueue(piece)
        while let batch = condition.leadOrWait(for: piece, atMost: Self.mostInOneCommit) { run(batch) }
        guard let outcome = result.withLock({ $0 }) else {
            throw KeychainError(.internalComponent, reason: .internalFault(what: "a write ended without an outcome"))
        }
        return try outcome.get()
    }

    private func run(_ batch: [Piece]) {
        var finishers: [(Piece, @Sendable (KeychainError?) -> Void)] = []
        var failure: KeychainError?
        var newest: Int64?
        var logName: UInt64?
        var hasNews = false
        do throws(KeychainError) {
            try checkPlace()
            try translating {
                try writer.writeWithoutTransaction { db in
                    try log.check(db)
                    do {
                        try Self.execute("BEGIN IMMEDIATE", db)
                        let before = db.totalChangesCount
                        for piece in batch {
                            if let (finish, number) = try runOne(piece, isAlone: batch.count == 1, db) {
                                finishers.append((piece, finish))
                                newest = number ?? newest
                            }
                        }
                        hasNews = newest != nil
                        if db.isInsideTransaction {
                            if newest == nil, db.totalChangesCount != before {
                                newest = try ChangeNotes.writeNothing(to: db)
                            }
                            try Self.execute("COMMIT", db)
                            logName = LogIndex(of: db)?.name
                        }
                    } catch {
                        let cause = KeychainError(database: error).lookingAtErrno(of: db)
                        if db.isInsideTransaction { try Self.execute("ROLLBACK", db) }
                        throw cause
                    }
                }
            }
        } catch {
            failure = error
        }
        if let newest, let logName, failure == nil { testify(newest, logName) }
        let finished = Set(finishers.map { ObjectIdentifier($0.0) })
        for (_, finish) in finishers { finish(failure) }
        // A round that broke off before a piece had its turn fails that piece too.
        if let failure {
            for piece in batch where !finished.contains(ObjectIdentifier(piece)) { piece.failIfOpen(failure) }
        }
        condition.finish(batch)
        // After the writers: observers come second.
        if hasNews && failure == nil { bell.ring() }
    }

    /// nil where the piece failed by itself: its savepoint is gone, the round goes
    /// on. A piece that is alone needs none: the whole round is its savepoint.
    private func runOne(
        _ piece: Piece, isAlone: Bool, _ db: Database
    ) throws -> (finish: @Sendable (KeychainError?) -> Void, newest: Int64?)? {
        if !isAlone { try Self.execute("SAVEPOINT piece", db) }
        do throws(KeychainError) {
            let transaction = StoreTransaction(db)
            let finish = try piece.body(transaction)
            let newest = try translating { try transaction.notes.write(to: db) }
            if !isAlone { try translating { try Self.execute("RELEASE piece", db) } }
            return (finish, newest)
        } catch {
            let cause = error.lookingAtErrno(of: db)
            // Some errors (disk full) have already rolled everything back.
            guard db.isInsideTransaction else {
                piece.failIfOpen(cause)
                throw cause
            }
            if isAlone {
                try Self.execute("ROLLBACK", db)
            } else {
                try Self.execute("ROLLBACK TO piece", db)
                try Self.execute("RELEASE piece", db)
            }
            piece.failIfOpen(cause)
            return nil
        }
    }

    /// Prepared once a connection; `Database.execute` prepares each time.
    private static func execute(_ sql: String, _ db: Database) throws {
        let statement = try PreparedStatement(db, sql)
        try statement.run()
    }

    /// One caller's work.
    final class Piece: Sendable {
        let body: @Sendable (StoreTransaction) throws(KeychainError) -> @Sendable (KeychainError?) -> Void
        private let fail: @Sendable (KeychainError) -> Void
        private let isOpen = Mutex(true)

        init(
            body: @escaping @Sendable (StoreTransaction) throws(KeychainError) -> @Sendable (KeychainError?) -> Void,
            fail: @escaping @Sendable (KeychainError) -> Void
        ) {
            self.body = body
            self.fail = fail
        }

        /// Only the first failure counts: it is the cause.
        func failIfOpen(_ error: KeychainError) {
            let wasOpen = isOpen.withLock { open in
                defer { open = false }
                return open
            }
            if wasOpen { fail(error) }
        }
    }

    /// The queue and who leads.
    final class Condition: @unchecked Sendable {
        // @unchecked: `queue`, `finished` and `isLed` are touched under `lock` only.
        private let lock = NSCondition()
        private var queue: [Piece] = []
        private var finished: Set<ObjectIdentifier> = []
        private var isLed = false

        func enqueue(_ piece: Piece) {
            lock.lock()
            queue.append(piece)
            lock.unlock()
        }

        /// The next batch to run, or nil once `piece` is done.
        func leadOrWait(for piece: Piece, atMost limit: Int) -> [Piece]? {
            lock.lock()
            defer { lock.unlock() }
            while true {
                if finished.remove(ObjectIdentifier(piece)) != nil { return nil }
                if !isLed, !queue.isEmpty {
                    isLed = true
                    let batch = Array(queue.prefix(limit))
                    queue.removeFirst(batch.count)
                    return batch
                }
                lock.wait()
            }
        }

        func finish(_ batch: [Piece]) {
            lock.lock()
            for piece in batch { finished.insert(ObjectIdentifier(piece)) }
            isLed = false
            lock.broadcast()
            lock.unlock()
        }
    }
}
