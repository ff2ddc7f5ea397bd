internal import Foundation
internal import GRDB
package import KeychainModel
package import KeychainPlatform

/// A backup: one SQLite file that holds the database as it was at one moment and
/// the files of its keybag (FORMATS.md, "Backup").
///
/// Its `application_id` is not a store's, so that nobody takes it for one.
package enum StoreBackup {
    /// `PRAGMA application_id`: "LKBK".
    package static let applicationID: Int32 = 0x4C4B_424B
    package static let version = 1

    private static let statements = [
        "CREATE TABLE backup (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
        "CREATE TABLE backup_files (name TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID",
    ]

    /// So many pages are copied at a time. The source's writer is not held up in
    /// any case: the copy is of one snapshot of the write-ahead log.
    private static let pagesAtATime: Int32 = 1024

    /// Copies the database of a folder into a new file; `files` is asked once the
    /// database's moment is past, because a class key is durable before the first
    /// row that uses it, and before it as well, because one goes after the last.
    ///
    /// - Returns: how many items it holds that no restore brings back: of the class that goes
    ///   with the passcode of this keychain (spec section 5); and whether something was lost before
    ///   that nobody has accepted, which an older backup may have.
    /// - Throws: `storeMalformed` where the copy is not sound, `storeNewer`,
    ///   `storeUnreadable` where there is no database, `logChanged` where it lacks what was
    ///   acknowledged, `busy` where the files never
    ///   stayed the same meanwhile.
    package static func write(
        _ directory: PrivateDirectory, to path: String, at moment: Double,
        files: () throws(KeychainError) -> [(name: String, content: [UInt8])]
    ) throws(KeychainError) -> (leftBehind: Int, lacksItems: Bool) {
        try StoreFileKind.refuseStrangers(in: directory)
        try StoreHeader.refuseNewer(in: directory)
        // SQLite deletes the log of a database without a byte, also where it only reads.
        guard try !StoreHeader.isEmpty(in: directory) else {
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "there is no database")
        }
        let witnessed = StoreWitness.testimony(in: directory)
        let (queue, contents): (DatabaseQueue, [(name: String, content: [UInt8])])
        do throws(KeychainError) { (queue, contents) = try copy(directory, to: path, with: files) } catch {
            // As an opening says it: of a read-only file system, say.
            let path = directory.path + "/" + Store.fileName
            if error.reason == .storeUnreadable, let obstacle = Store.obstacle(to: path, in: directory) {
                throw KeychainError(.notAvailable, reason: obstacle, underlying: error.underlying)
            }
            guard error.reason == .inputOutput || error.reason == .storeMalformed,
                try hasAnotherLog(directory, witnessed)
            else { throw error }
            throw logChanged
        }
        return try translating {
            let outcome = try queue.write { db in
                try refuse(db, below: witnessed)
                let lacksItems = try StoreReader(db).lacksItems()
                for statement in statements { try db.execute(sql: statement) }
                try db.execute(
                    sql: "INSERT INTO backup VALUES ('version', ?), ('made', ?), ('program', ?)",
                    arguments: [version, moment, LatchkeyVersion.text])
                for (name, content) in contents {
                    try db.execute(sql: "INSERT INTO backup_files VALUES (?, ?)", arguments: [name, Data(content)])
                }
                try db.execute(sql: "PRAGMA application_id = \(applicationID)")
                return (try StoreReader.count(in: .whenPasscodeSetThisDeviceOnly, db), lacksItems)
            }
            try queue.close()
            return outcome
        }
    }

    /// The daemon may have in a log without a name what nobody else sees (``LogWatch``).
    ///
    /// - Throws: `logChanged` where less was copied than had been acknowledged before.
    private static func refuse(_ copy: Database, below witnessed: StoreTestimony?) throws {
        // A format before it has no history.
        guard let witnessed, try copy.tableExists("changes") else { return }
        let (history, _, last) = try StoreReader(copy).changeBounds()
        guard history == witnessed.position.history, last < witnessed.position.number else { return }
        throw logChanged
    }

    /// Whether that is why the database cannot be read: its index, which the daemon shares with
    /// us, leads into a log that is not there.
    private static func hasAnotherLog(
        _ directory: PrivateDirectory, _ witnessed: StoreTestimony?
    ) throws(KeychainError) -> Bool {
        guard let witnessed, witnessed.log != 0 else { return false }
        return try looking(at: StoreLog.name, in: directory) { () throws(SystemCallError) in
            guard let log = try StoreLog.open(in: directory) else { return true }
            return try StoreLog.name(of: log) != witnessed.log
        }
    }

    private static let logChanged = KeychainError(
        .notAvailable, reason: .logChanged, underlying: "the database lacks what was acknowledged: no backup was made")

    /// Writes the database that a backup holds into a new file, and gives the
    /// files that belong to it.
    ///
    /// - Throws: as ``check(_:)``.
    package static func read(_ backup: String, to path: String) throws(KeychainError) -> [(
        name: String, content: [UInt8]
    )] {
        try check(backup)
        let queue = try copy(backup, to: path, expecting: applicationID)
        return try translating {
            let files = try queue.write { db in
                let files = try Row.fetchAll(db, sql: "SELECT name, content FROM backup_files ORDER BY name").map {
                    row in
                    (String.fromDatabaseValue(row[0]) ?? "", Array(Data.fromDatabaseValue(row[1]) ?? Data()))
                }
                // secure_delete is on: nothing of the keybag stays in free pages.
                try db.execute(sql: "DROP TABLE backup_files")
                try db.execute(sql: "DROP TABLE backup")
                try db.execute(sql: "PRAGMA application_id = \(StoreSchema.applicationID)")
                return files
            }
            try queue.close()
            return files
        }
    }

    /// - Throws: `storeUnreadable` for a file that is no backup, `storeNewer`,
    ///   `storeMalformed` for one that is not whole.
    package static func check(_ backup: String) throws(KeychainError) {
        let found: (application: Int32, format: Int, version: Int, isWhole: Bool) = try translating {
            let queue = try DatabaseQueue(path: backup, configuration: Store.configuration(readOnly: true))
            return try queue.unsafeRead { db in
                let application = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
                guard application == applicationID else { return (application, 0, 0, false) }
                let header = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                return (
                    application, StoreHeader.format(of: header, try StoreCopies.toldFormats(db)),
                    try Int.fetchOne(db, sql: "SELECT value FROM backup WHERE name = 'version'") ?? 0,
                    try String.fetchAll(db, sql: "PRAGMA integrity_check(1)") == ["ok"]
                )
            }
        }
        guard found.application == applicationID else {
            throw KeychainError(
                .notAvailable, reason: .storeUnreadable, underlying: "the file is not a Latchkey backup")
        }
        guard found.version <= version, found.format <= StoreSchema.format else {
            throw KeychainError(.notAvailable, reason: .storeNewer(version: max(found.format, found.version)))
        }
        guard found.isWhole, found.version >= 1, found.format >= 1 else {
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "the backup is not whole")
        }
    }

    /// Whether a folder's database holds anything that a restore would replace;
    /// true as well where nobody can tell.
    package static func holdsItems(_ directory: PrivateDirectory) throws(KeychainError) -> Bool {
        let path = directory.path + "/" + Store.fileName
        let isThere = try looking(at: Store.fileName, in: directory) { () throws(SystemCallError) in
            try directory.holds(Store.fileName)
        }
        guard isThere else { return false }
        do throws(KeychainError) {
            return try translating {
                let queue = try DatabaseQueue(path: path, configuration: Store.configuration(readOnly: true))
                return try queue.unsafeRead { db in
                    if try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") == 0 { return false }
                    for table in ItemClass.stored.map(\.rawValue) + ["damaged"]
                    where try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(table))") == true { return true }
                    return false
                }
            }
        } catch { return true }
    }

    // MARK: Copying

    /// How often the keys may become others while the database is copied.
    private static let attempts = 4

    /// The database's copy, and the files that were beside it from before the first
    /// page until after the last: old class keys leave the keybag once nothing in the
    /// database is under them, which the copy may still be.
    private static func copy(
        _ directory: PrivateDirectory, to path: String,
        with files: () throws(KeychainError) -> [(name: String, content: [UInt8])]
    ) throws(KeychainError) -> (DatabaseQueue, [(name: String, content: [UInt8])]) {
        for _ in 0..<attempts {
            // That there is no database is said before that there are no keys.
            let before = Result { () throws(KeychainError) in try files() }
            let queue = try copy(directory.path + "/" + Store.fileName, to: path, expecting: StoreSchema.applicationID)
            let contents = try files()
            if case .success(let before) = before, before.elementsEqual(contents, by: ==) { return (queue, contents) }
            try translating {
                try queue.close()
                // Emptied, not removed: it was made for us alone.
                let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
                try file.truncate(atOffset: 0)
                try file.close()
            }
        }
        throw KeychainError(.notAvailable, reason: .busy, underlying: "the keys became others while they were copied")
    }

    /// Copies a database whole into a new file, from one snapshot, and leaves it
    /// open, sound and without a write-ahead log.
    private static func copy(
        _ source: String, to target: String, expecting application: Int32
    ) throws(KeychainError) -> DatabaseQueue {
        try translating {
            let from = try DatabaseQueue(path: source, configuration: Store.configuration(readOnly: true))
            let to = try DatabaseQueue(path: target, configuration: Store.configuration(readOnly: false))
            try from.read { db in
                // The read transaction keeps its snapshot while others write.
                guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == application,
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0 > 0
                else {
                    throw KeychainError(
                        .notAvailable, reason: .storeUnreadable, underlying: "the file is not a Latchkey store")
                }
                try to.writeWithoutTransaction { try db.backup(to: $0, pagesPerStep: pagesAtATime) }
            }
            try from.close()
            try to.writeWithoutTransaction { db in
                // One file, and no journal beside it that a crash could leave.
                _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
                _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = MEMORY")
                guard try String.fetchAll(db, sql: "PRAGMA integrity_check(1)") == ["ok"] else {
                    throw KeychainError(.notAvailable, reason: .storeMalformed)
                }
            }
            return to
        }
    }
}
