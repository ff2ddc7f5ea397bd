internal import GRDB
@_implementationOnly import GRDBSQLite
internal import KeychainModel
internal import KeychainPlatform

/// Turns what SQLite said into the status and reason of the spec (section 4,
/// "Mapping of causes"). SQL and its arguments are left out.
extension KeychainError {
    init(database error: any Error) {
        guard let error = error as? DatabaseError else {
            if let already = error as? KeychainError {
                self = already
            } else {
                self = KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "\(type(of: error))")
            }
            return
        }
        let underlying = "SQLite \(error.extendedResultCode.rawValue)"
        let (status, reason): (Status, Reason) =
            switch error.resultCode {
            case .SQLITE_CONSTRAINT: (.duplicateItem, .duplicate)
            case .SQLITE_READONLY: (.readOnly, .readOnly)
            // The shared index of the log is a file that only room is wanted for, also for its first
            // three bytes (os_unix.c, ftruncate).
            case .SQLITE_IOERR
            where [.SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMOPEN].contains(error.extendedResultCode):
                (.notAvailable, .diskFull)
            case .SQLITE_IOERR: (.io, .inputOutput)
            case .SQLITE_NOMEM: (.allocate, .internalFault(what: "out of memory"))
            case .SQLITE_FULL: (.notAvailable, .diskFull)
            case .SQLITE_BUSY, .SQLITE_LOCKED: (.notAvailable, .storeInUse)
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: (.notAvailable, .storeMalformed)
            case .SQLITE_INTERNAL: (.internalComponent, .internalFault(what: "database"))
            default: (.notAvailable, .storeUnreadable)
            }
        self = KeychainError(status, reason: reason, underlying: underlying)
    }
}

extension KeychainError {
    /// SQLite knows a full disk, but takes an exhausted quota (EDQUOT) or file
    /// size limit (EFBIG) for a fault of the disk: the errno tells them apart.
    func lookingAtErrno(of db: Database) -> KeychainError {
        guard reason == .inputOutput else { return self }
        let system = SystemCallError("write", errno: db.lastErrno)
        guard system.isDiskFull else { return self }
        return KeychainError(.notAvailable, reason: .diskFull, underlying: "\(system)")
    }
}

extension Database {
    /// What the system said when the log (or journal), or the database, could not be written;
    /// sqlite3_system_errno() says nothing where COMMIT fails.
    fileprivate var lastErrno: Int32 {
        let codes = [SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER].map { lastErrno(of: $0) }
        return codes.first { SystemCallError("write", errno: $0).isDiskFull } ?? codes.first { $0 != 0 } ?? 0
    }

    private func lastErrno(of pointer: Int32) -> Int32 {
        var file: UnsafeMutablePointer<sqlite3_file>?
        var code: Int32 = 0
        guard let connection = unsafe sqliteConnection,
            unsafe sqlite3_file_control(connection, "main", pointer, &file) == SQLITE_OK,
            let file = unsafe file, let methods = unsafe file.pointee.pMethods,
            unsafe methods.pointee.xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &code) == SQLITE_OK
        else { return 0 }
        return code
    }
}

/// Runs a piece of GRDB work and gives its failure the one type of the house.
func translating<R: ~Copyable>(_ body: () throws -> R) throws(KeychainError) -> R {
    do { return try body() } catch { throw KeychainError(database: error) }
}
