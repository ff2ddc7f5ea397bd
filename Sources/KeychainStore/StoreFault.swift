internal import GRDB
internal import KeychainModel

/// Turns what SQLite said into the status and reason of the spec (section 4,
/// "Mapping of causes"). SQL and its arguments are left out.
extension KeychainError {
    init(database error: any Error) {
        guard let error = error as? DatabaseError else {
            if let already = error as? KeychainError { self = already } else {
                self = KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "\(type(of: error))")
            }
            return
        }
        let underlying = "SQLite \(error.extendedResultCode.rawValue)"
        let (status, reason): (Status, Reason) =
            switch error.resultCode {
            case .SQLITE_CONSTRAINT: (.duplicateItem, .duplicate)
            case .SQLITE_READONLY: (.readOnly, .readOnly)
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

/// Runs a piece of GRDB work and gives its failure the one type of the house.
func translating<R: ~Copyable>(_ body: () throws -> R) throws(KeychainError) -> R {
    do { return try body() } catch { throw KeychainError(database: error) }
}
