internal import Foundation
internal import GRDB
package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
internal import Synchronization

/// The database of one keychain: WAL, `synchronous=FULL` (what was acknowledged
/// survives power loss), `secure_delete`, `trusted_schema=OFF`.
///
/// One writer whose commits are shared, and a pool of readers, each lent to one
/// thread at a time with its statements prepared. Whoever opens a store holds
/// its lock (``KeychainModel`` knows nothing of files; the engine takes it).
package final class Store: Sendable {
    package static let fileName = KeychainLocations.databaseName
    package static let witnessName = StoreWitness.fileName

    private let path: String
    /// Which file was opened.
    private let place: FileIdentity
    private let writer: DatabaseQueue
    private let readers = Mutex<[DatabaseQueue]>([])
    private let commits: GroupCommit
    private let log: LogWatch
    /// What the witness said before this opening.
    private let witnessed: StoreTestimony?
    private let witness = StoreWitness()
    /// Rings after each commit that changed items.
    package let bell = ChangeBell()
    package let isNew: Bool
    /// Whether the file's header says another format, or another program, than the records in it:
    /// bytes of it were changed. ``migrate(by:)`` puts it right.
    package let isHeaderWrong: Bool
    private let isOld: Bool

    /// Opens the database in a folder, making it where there is none.
    ///
    /// - Throws: `errSecNotAvailable` with `unsuitableFileSystem`, `storeNewer`
    ///   (the file is left as it is) or `storeUnreadable`; `errSecIO` where the
    ///   disk fails.
    package init(in directory: PrivateDirectory) throws(KeychainError) {
        try Self.checkFileSystem(directory.path)
        let path = directory.path + "/" + Self.fileName
        self.path = path
        (writer, isNew, isHeaderWrong, isOld) = try Self.open(path, in: directory)
        witnessed = isNew ? nil : StoreWitness.testimony(in: directory)
        let place = try Self.identity(path)
        self.place = place
        let witness = witness
        log = try LogWatch(directory)
        commits = GroupCommit(writer, log, telling: bell) { () throws(KeychainError) in
            guard try Self.identity(path) == place else { throw Self.moved }
        } testify: { number, log in
            witness.hear(of: number, in: log)
        }
    }

    private static func open(
        _ path: String, in directory: PrivateDirectory
    ) throws(KeychainError) -> (writer: DatabaseQueue, isNew: Bool, isHeaderWrong: Bool, isOld: Bool) {
        let reaching = { (error: KeychainError) -> KeychainError in
            guard error.reason == .storeUnreadable, let obstacle = obstacle(to: path, in: directory) else {
                return error
            }
            return KeychainError(.notAvailable, reason: obstacle, underlying: error.underlying)
        }
        let writer: DatabaseQueue
        let found: WhatLiesThere
        do throws(KeychainError) {
            try StoreFileKind.refuseStrangers(in: directory)
            try StoreHeader.refuseNewerBeforeLooking(in: directory)
            try refuseReadOnly(path, in: directory)
            writer = try translating { try DatabaseQueue(path: path, configuration: configuration(readOnly: false)) }
            found = try look(at: writer)
        } catch { throw reaching(error) }
        // What was read speaks for itself, wherever it lies.
        try found.refuseWhatIsNotOurs()
        do throws(KeychainError) {
            if found.isNothing { try create(writer) }
            try useWriteAheadLog(writer)
        } catch { throw reaching(error) }
        let isOld = !found.isNothing && found.format < StoreSchema.format
        return (writer, found.isNothing, found.isHeaderWrong, isOld)
    }

    /// SQLite would open it for reading alone, say so at the first write, and give its log and index the
    /// same mode. Of a folder in which nothing can be written either, SQLite says which it is.
    private static func refuseReadOnly(_ path: String, in directory: PrivateDirectory) throws(KeychainError) {
        let files = FileManager.default
        guard files.fileExists(atPath: path), !files.isWritableFile(atPath: path),
            files.isWritableFile(atPath: directory.path), try StoreHeader.isOurs(in: directory)
        else { return }
        let status = try looking(at: fileName, in: directory) { () throws(SystemCallError) in
            try FileStatus(at: FilePath(fileName), in: directory.descriptor, followingLink: false)
        }
        let isMode = status.userID == ProcessEnvironment.effectiveUserID && status.mode & 0o200 == 0
        let what = isMode ? "its mode is to be 0600" : "look at its owner, its attributes and what is mounted there"
        throw KeychainError(.notAvailable, reason: .folderUnusable(why: "\(path) cannot be written: \(what)"))
    }

    /// Before anything is read.
    ///
    /// - Throws: `folderUnusable` where a link, a folder or the like lies in the place of the
    ///   database, its log or its index.
    package static func refuseStrangers(in directory: PrivateDirectory) throws(KeychainError) {
        try StoreFileKind.refuseStrangers(in: directory)
    }

    /// What keeps SQLite from its files, of which it says no more than that it cannot open
    /// them; nil: nothing that shows.
    static func obstacle(to path: String, in directory: PrivateDirectory) -> Reason? {
        let files = FileManager.default
        for file in ["", "-wal", "-shm"].map({ path + $0 }) where files.fileExists(atPath: file) {
            // A check says what is wrong with the path, and opens nothing: no lock is lost by it.
            if !files.isReadableFile(atPath: file) || !files.isWritableFile(atPath: file) {
                return .folderUnusable(why: "\(file) cannot be read and written")
            }
        }
        if !files.isWritableFile(atPath: directory.path) {
            return .folderUnusable(why: "nothing can be made in \(directory.path)")
        }
        do {
            let room = try files.attributesOfFileSystem(forPath: directory.path)
            func isNone(_ key: FileAttributeKey) -> Bool { (room[key] as? NSNumber)?.int64Value == 0 }
            // File systems without a fixed number of files say that there are none at all.
            let isFull = isNone(.systemFreeSize) || !isNone(.systemNodes) && isNone(.systemFreeNodes)
            return isFull ? .diskFull : nil
        } catch { return nil }
    }

    /// Which file lies at the database's path.
    private static func identity(_ path: String) throws(KeychainError) -> FileIdentity {
        do throws(SystemCallError) {
            return try FileStatus(at: FilePath(path), followingLink: true).identity
        } catch {
            if error.isNoSuchFile { throw moved }
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "\(error)")
        }
    }

    /// What is written to a file without a name is gone with the last process
    /// that has it open, so nothing more is.
    private static let moved = KeychainError(
        .notAvailable, reason: .databaseAway,
        underlying: "keychain.db is not where it was opened: put it back; latchkeyd alone has it")

    /// Whether the file that is open is no longer the one at the database's path; nil: it is.
    package var placeFault: PlaceFault? {
        do throws(KeychainError) { return try Self.identity(path) == place ? nil : .replaced } catch {
            return .gone
        }
    }

    /// Brings an older database to our format; the caller has opened its keybag,
    /// so that a store which is refused for that is not changed either.
    package func migrate(by steps: [StoreMigration] = StoreMigration.all) throws(KeychainError) {
        // Also an old format waits for room.
        if log.isUnkept, isHeaderWrong || isOld { throw LogWatch.noRoom }
        try StoreMigration.run(steps, on: writer)
    }

    /// What an opening found, measured by the witness (``StoreWitness``).
    package enum Standing: Sendable, Hashable {
        /// Nothing is known to be missing.
        case whole
        /// It or its log was lost, cut, or replaced by one from before: something that was
        /// acknowledged is missing. What was left of a log is kept under another name.
        case behind(log: String?)
    }

    /// Looks whether the database has everything that was acknowledged. Changes nothing in it,
    /// and is asked before anything does: the next commit writes over what SQLite did not take
    /// for its log, of which a copy is kept. Where there is no room for one, nothing is written:
    /// `diskFull`, and once there is, `logChanged`, after which the next opening keeps it.
    ///
    /// - Parameter kept: the name under which its log lies as it was before it was put right.
    package func standing(
        in directory: PrivateDirectory, at moment: Double, kept: String?
    ) throws(KeychainError) -> Standing {
        guard let position = try position() else { return .whole }
        func isBehind(_ testimony: StoreTestimony) -> Bool {
            testimony.position.history == position.history && testimony.position.number > position.number
        }
        if let witnessed, isBehind(witnessed) {
            if let kept { return .behind(log: kept) }
            let copy = StoreSetAside.copyLog(in: directory, at: moment)
            // One that cannot be read is copied never.
            let isFull = copy == nil && !StoreSetAside.hasFreeSpaceForLog(in: directory)
            if isFull, StoreLog.byteCount(in: directory) ?? 0 > 0 { log.isNotKept() }
            return .behind(log: copy)
        }
        // It was gone for a while, and its log was set aside meanwhile.
        let isBack = try StoreSetAside.testimonies(in: directory).contains { isBehind($0.testimony) }
        return isBack ? .behind(log: nil) : .whole
    }

    /// Notes what an opening found, until it is accepted, and has each commit witnessed from here
    /// on. Once, by whoever opens the store, when its keybag is known to be its own.
    ///
    /// - Parameter kept: as of ``standing(in:at:kept:)``.
    /// - Returns: false where it could not be noted: the witness stays, for the next opening.
    package func takeUpWitness(
        _ standing: Standing, in directory: PrivateDirectory, kept: String?
    ) throws(KeychainError) -> Bool {
        guard let last = try position() else { return true }
        do throws(KeychainError) {
            if standing != .whole {
                var found = try StoreSetAside.testimonies(in: directory).filter { kept in
                    kept.testimony.position.history == last.history && kept.testimony.position.number > last.number
                }.map { $0.name }
                if case .behind(let log?) = standing {
                    found.insert(StoreSetAside.database(of: log), at: 0)
                }
                let logs = found
                try write { transaction throws(KeychainError) in
                    try transaction.put(StoreRecord.bytes(of: Double(last.number)), as: .behind)
                    // What it lacks is looked for in the log that was set aside.
                    guard !logs.isEmpty else { return }
                    let earlier = try transaction.reader.record(.predecessor).map { StoreRecord.names(in: $0) } ?? []
                    let others = earlier.filter { !logs.contains($0) }
                    try transaction.put(StoreRecord.bytes(of: logs + others), as: .predecessor)
                    try transaction.put(StoreRecord.bytes(of: logs), as: .salvaging)
                }
            }
        } catch {
            // A full disk: it is read all the same.
            if error.reason == .storeMalformed { throw error }
            // A copy can be made once more.
            if case .behind(let log?) = standing, log != kept { StoreSetAside.drop(log, in: directory) }
            return false
        }
        guard let position = try position() else { return true }
        do throws(SystemCallError) {
            try witness.takeUp(position, durably: standing != .whole, in: directory)
        } catch { return standing == .whole }
        // Said once: from here on the database says it itself.
        for (name, testimony) in try StoreSetAside.testimonies(in: directory)
        where testimony.position.history == position.history { StoreSetAside.dropWitness(of: name, in: directory) }
        return true
    }

    /// The history that the witness knows; nil where there was none at the opening.
    var witnessedHistory: [UInt8]? { witnessed?.position.history }

    /// nil in a format that has no history.
    private func position() throws(KeychainError) -> ChangePosition? {
        try read { reader throws(KeychainError) in
            guard try !reader.records(named: StoreRecord.history.rawValue).isEmpty else { return nil }
            let (history, _, last) = try reader.changeBounds(preferring: witnessed?.position.history)
            return ChangePosition(history: history, number: last)
        }
    }

    /// What locks and durable writes cannot be trusted on (architecture section 4).
    private static let refusedTypes: Set<String> = [
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "v9fs", "fuse", "fuseblk",
    ]

    package static func isUnsuitable(fileSystem type: String) -> Bool {
        refusedTypes.contains(type) || (type.hasPrefix("fuse.") && type != "fuse.fuse-overlayfs")
    }

    private static func checkFileSystem(_ path: String) throws(KeychainError) {
        do throws(SystemCallError) {
            guard let type = try MountTable.fileSystemType(of: path), isUnsuitable(fileSystem: type) else { return }
            throw SystemCallError(type, errno: 0)
        } catch {
            if error.errno == 0 {
                throw KeychainError(.notAvailable, reason: .unsuitableFileSystem(name: error.call))
            }
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "\(error)")
        }
    }

    static func configuration(readOnly: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readOnly
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 1
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA trusted_schema = OFF")
            // KiB. There is a reader for each thread that reads at the same time, and
            // the kernel's cache behind all of them.
            try db.execute(sql: "PRAGMA cache_size = \(readOnly ? -1024 : -2048)")
            if !readOnly {
                try db.execute(sql: "PRAGMA secure_delete = ON")
                try db.execute(sql: "PRAGMA synchronous = FULL")
            }
        }
        return configuration
    }

    /// What a database says of who wrote it.
    private struct WhatLiesThere {
        /// What the header says, and what the records say.
        let header: Int
        let told: [Int]
        let application: Int32
        let tableCount: Int
        let isBackup: Bool

        var isNothing: Bool { tableCount == 0 && application == 0 }
        var format: Int { StoreHeader.format(of: header, told) }
        /// Whether the header says something else than the records.
        var isHeaderWrong: Bool { !isNothing && (format != header || application != StoreSchema.applicationID) }
        /// Without its number both records have to say that they are there.
        private var isOurs: Bool { application == StoreSchema.applicationID || told.count == 2 && !isBackup }

        /// - Throws: `errSecNotAvailable` with `storeUnreadable` or `storeNewer`.
        func refuseWhatIsNotOurs() throws(KeychainError) {
            if isNothing { return }
            guard isOurs else {
                throw KeychainError(
                    .notAvailable, reason: .storeUnreadable, underlying: "the file is not a Latchkey store")
            }
            guard format >= 1 else {
                throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "the store names no format")
            }
            guard format <= StoreSchema.format else {
                throw KeychainError(.notAvailable, reason: .storeNewer(version: format))
            }
        }
    }

    private static func look(at writer: DatabaseQueue) throws(KeychainError) -> WhatLiesThere {
        try translating {
            try writer.writeWithoutTransaction { db in
                WhatLiesThere(
                    header: try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0,
                    told: try StoreCopies.toldFormats(db),
                    application: try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0,
                    tableCount: try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0,
                    isBackup: try db.tableExists("backup"))
            }
        }
    }

    /// After the file is known to be ours.
    private static func useWriteAheadLog(_ writer: DatabaseQueue) throws(KeychainError) {
        let mode = try translating {
            try writer.writeWithoutTransaction { db in
                try lookingAtErrno(of: db) { try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") }
            }
        }
        guard mode == "wal" else {
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "no write-ahead log here")
        }
        // The first read opens the log.
        _ = try translating {
            try writer.writeWithoutTransaction { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_schema") }
        }
    }

    private static func create(_ writer: DatabaseQueue) throws(KeychainError) {
        try translating {
            try writer.writeWithoutTransaction { db in
                try lookingAtErrno(of: db) {
                    try db.inTransaction {
                        for statement in StoreSchema.statements { try db.execute(sql: statement) }
                        try db.execute(sql: "PRAGMA application_id = \(StoreSchema.applicationID)")
                        try StoreCopies.tell(StoreSchema.format, db)
                        return .commit
                    }
                }
            }
        }
    }

    /// A limit on the size of files is no fault of the disk.
    private static func lookingAtErrno<R>(of db: Database, _ body: () throws -> R) throws -> R {
        do { return try body() } catch { throw KeychainError(database: error).lookingAtErrno(of: db) }
    }

    // MARK: Reading

    /// Lends a reader: a connection of its own, so reads never wait for a commit.
    ///
    /// - Parameter atOneMoment: several statements of `body` find what was there at one moment; a
    ///   transaction of its own for each costs as much as what a short one looks up (two fcntl(2),
    ///   a look at the log's index). The log is not begun anew while it lasts: `body` waits for
    ///   nobody then.
    package func read<R>(
        atOneMoment isOfOneMoment: Bool = false, _ body: (StoreReader) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        guard let queue = try takeReader() else { return try readByWriter(body) }
        defer { readers.withLock { $0.append(queue) } }
        let result: Result<R, KeychainError> = queue.unsafeRead { db in
            let reader = StoreReader(db)
            do throws(KeychainError) {
                return .success(isOfOneMoment ? try reader.atOneMoment(body) : try body(reader))
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Of a file that is no longer in its place no other connection can be made; nothing is
    /// written to it any more.
    private func readByWriter<R>(
        _ body: (StoreReader) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        let result: Result<R, KeychainError> = writer.unsafeReentrantRead { db in
            do throws(KeychainError) { return .success(try body(StoreReader(db))) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// nil where the path leads to another file than the one that is open, or to none.
    private func takeReader() throws(KeychainError) -> DatabaseQueue? {
        if let idle = readers.withLock({ $0.popLast() }) { return idle }
        guard placeFault == nil else { return nil }
        let path = path
        return try translating { try DatabaseQueue(path: path, configuration: Self.configuration(readOnly: true)) }
    }

    /// Lets go of the pages that connections keep, up to 2 MiB of the writer's and 1 MiB of each reader's:
    /// what is asked next comes from the kernel's cache. Waits for nobody.
    ///
    /// - Parameters:
    ///   - ofReaders: also of readers that nobody has at this moment.
    ///   - then: told behind each connection.
    package func letGoOfPages(ofReaders: Bool, then: @escaping @Sendable () -> Void) {
        for connection in (ofReaders ? readers.withLock { $0 } : []) + [writer] {
            connection.asyncWriteWithoutTransaction { db in
                // One that is closed has none.
                do { try db.execute(sql: "PRAGMA shrink_memory") } catch {}
                then()
            }
        }
    }

    // MARK: Writing

    /// Runs `body` in a savepoint of its own within a commit that may be shared
    /// with others; returns once that commit is durable.
    ///
    /// - Throws: what `body` threw (its savepoint is rolled back, the others'
    ///   work stays), or why the commit failed.
    package func write<R: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws(KeychainError) -> R
    ) throws(KeychainError) -> R {
        try commits.perform(body)
    }

    /// Whether the log was lost under this store, and what could be kept is kept: the database
    /// has to be opened anew.
    package var hasLostItsLog: Bool { log.isOver }

    /// Looks whether the log is still what SQLite takes it for. Not within ``write(_:)``.
    ///
    /// - Throws: `logChanged`; what SQLite had in its hands went into the database, if it could.
    package func checkLog() throws(KeychainError) {
        let log = log
        try translating { try writer.writeWithoutTransaction { try log.check($0) } }
    }

    /// Closes every connection; nothing may be running.
    ///
    /// The last one that can write copies the log into the database: not where the log was lost.
    /// What is open for reading alone writes nothing, and keeps the writer from being the last.
    package func close() throws(KeychainError) {
        do throws(KeychainError) { try checkLog() } catch {
            // Where nobody can look it is closed as ever.
            if error.reason == .logChanged || log.isUnkept { try closeWriterFirst() }
        }
        let idle = readers.withLock { readers in
            defer { readers = [] }
            return readers
        }
        try translating {
            for reader in idle { try reader.close() }
            if log.isSound { try writer.close() }
        }
        if log.isSound { witness.hearOfTheEnd() }
    }

    private func closeWriterFirst() throws(KeychainError) {
        // Of a database that has no name any more nothing is left to be kept.
        guard let reader = try takeReader() else { return }
        defer { readers.withLock { $0.append(reader) } }
        try translating { try writer.close() }
    }
}
