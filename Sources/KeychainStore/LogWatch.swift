internal import GRDB
internal import KeychainModel
internal import KeychainPlatform
internal import Synchronization

/// Sees to it that what SQLite writes into its log is found by the next opening.
///
/// SQLite asks once, when it opens its log. Where that is removed or replaced later, what
/// is written goes into a file without a name, and is gone with the last process that has it
/// open; where it is cut or written over, the next checkpoint copies what is not there any
/// more over pages of the database that were safe (<https://sqlite.org/howtocorrupt.html>,
/// sections 1.2 and 4).
///
/// Looked at before each commit: one fstatat(2) and one pread(2) of 32 bytes; the witness,
/// which read as many behind the commit, has them from the log's index. Whoever finds it lost
/// writes nothing more; what SQLite has in its hands goes into the database, nothing else does.
final class LogWatch: Sendable {
    private enum State {
        case sound
        /// It holds what the database lacks, and there was no room to keep it: what is written next
        /// would go over that. Nothing is, until there is room.
        case unkept
        /// SQLite still has all of it; a long read kept it from going into the database.
        case inHand
        /// Nothing more is to be done but to open the database anew.
        case settled
    }

    private static let logPath = FilePath(StoreLog.name)

    private let folder: PrivateDirectory
    /// Which file the log is.
    private let place: FileIdentity
    private let state = Mutex(State.sound)

    /// For a connection that has its log open.
    ///
    /// - Throws: where the log has gone since, or cannot be looked at.
    init(_ folder: PrivateDirectory) throws(KeychainError) {
        self.folder = folder
        place = try Self.status(in: folder, orThrow: Self.lost("it is gone")).identity
    }

    /// Whether the database has to be opened anew for it.
    var isOver: Bool { state.withLock { $0 == .settled } }
    var isSound: Bool { state.withLock { $0 == .sound } }

    /// Whether it is to be kept before anything is written.
    var isUnkept: Bool { state.withLock { $0 == .unkept } }

    /// The database lacks what its log holds, of which no copy could be made.
    func isNotKept() { state.withLock { $0 = .unkept } }

    /// - Throws: `diskFull` as long as there is no room to keep what the database lacks; `logChanged`
    ///   from the first time on that the log is not what SQLite takes it for; `inputOutput` and the
    ///   like where nobody can look.
    func check(_ db: Database) throws(KeychainError) {
        switch state.withLock({ $0 }) {
        case .sound: break
        case .unkept:
            guard StoreSetAside.hasRoomForLog(in: folder) else { throw Self.noRoom }
            state.withLock { $0 = .settled }
            throw Self.lost("there is room now to keep what the database lacks of it")
        case .inHand: throw bringHome(db)
        case .settled: throw Self.lost("it is to be opened anew")
        }
        guard let index = LogIndex(of: db) else { return }
        let status: FileStatus
        do throws(KeychainError) { status = try Self.status(in: folder, orThrow: Self.lost("it was removed")) } catch {
            guard error.reason == .logChanged else { throw error }
            throw bringHome(db)
        }
        guard status.identity == place else { throw bringHome(db) }
        guard index.frames > 0 else { return }
        guard status.byteCount >= index.byteCount, let header = OpenLog.header(of: db),
            OpenLog.isSound(header, salts: index.salts)
        else {
            state.withLock { $0 = .settled }
            throw Self.lost("it was cut, or written over, and nothing of it goes into the database any more")
        }
    }

    /// Copies a log that has lost its name, and is whole, into the database.
    private func bringHome(_ db: Database) -> KeychainError {
        guard let index = LogIndex(of: db), let log = OpenLog(of: db), log.byteCount >= index.byteCount,
            index.frames == 0 || OpenLog.isSound(log.header, salts: index.salts)
        else {
            state.withLock { $0 = .settled }
            return Self.lost("it was removed or replaced, and is not whole any more")
        }
        do {
            // Waits for readers, as long as for any lock.
            let outcome = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(FULL)")
            let isWhole = Int.fromDatabaseValue(outcome?[0] ?? .null) == 0
            state.withLock { $0 = isWhole ? .settled : .inHand }
            return Self.lost(
                isWhole
                    ? "it was removed or replaced; what was acknowledged is in the database now"
                    : "it was removed or replaced; a read keeps what was acknowledged from going into the database")
        } catch {
            state.withLock { $0 = .inHand }
            return Self.lost("it was removed or replaced: \(KeychainError(database: error))")
        }
    }

    private static func status(
        in folder: PrivateDirectory, orThrow gone: KeychainError
    ) throws(KeychainError) -> FileStatus {
        do throws(SystemCallError) {
            return try FileStatus(at: Self.logPath, in: folder.descriptor, followingLink: false)
        } catch {
            if error.isNoSuchFile { throw gone }
            throw KeychainError(looking: error, at: "\(folder.path)/\(StoreLog.name)")
        }
    }

    /// What refuses a write that would go over what is not kept.
    static let noRoom = KeychainError(
        .notAvailable, reason: .diskFull,
        underlying: "\(StoreLog.name) holds what the database lacks, and is to be kept before anything is written")

    private static func lost(_ what: String) -> KeychainError {
        KeychainError(.notAvailable, reason: .logChanged, underlying: "\(StoreLog.name): \(what)")
    }
}
