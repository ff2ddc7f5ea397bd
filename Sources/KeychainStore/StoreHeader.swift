internal import GRDB
package import KeychainModel
package import KeychainPlatform

/// What the first bytes of a database file say, read without SQLite: opening a
/// database writes beside it, and a newer store is not to be touched at all.
///
/// <https://sqlite.org/fileformat2.html>, section 1.3: `user_version` is the
/// big-endian number at 60, `application_id` the one at 68.
package struct StoreHeader {
    let format: Int
    let application: Int32
    /// Whether SQLite takes the first bytes.
    private let hasMagic: Bool

    private static let byteCount = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    /// Of the first bytes that are wrong, of which SQLite makes nothing, in a file that says all the
    /// same whose it is.
    private static let mostWrong = 4

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.byteCount else { return nil }
        format = Int(Self.number(bytes[60..<64]))
        application = Int32(bitPattern: Self.number(bytes[68..<72]))
        let wrong = zip(bytes, Self.magic).count { $0 != $1 }
        hasMagic = wrong == 0
        guard wrong == 0 || wrong <= Self.mostWrong && application == StoreSchema.applicationID else { return nil }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    /// Asks the header and both records, whatever the header says: it is one witness of three, and
    /// may have been damaged down to a format of ours. Before anything is written.
    ///
    /// - Throws: `errSecNotAvailable`, reason `storeNewer`; the files are as they were.
    static func refuseNewer(in directory: PrivateDirectory) throws(KeychainError) {
        guard let header = try read(in: directory) else { return }
        if header.application == StoreSchema.applicationID {
            let format = format(of: header.format, StoreLog.toldFormats(in: directory))
            if format > StoreSchema.format { throw KeychainError(.notAvailable, reason: .storeNewer(version: format)) }
        }
        try refuseNewerLog(in: directory)
    }

    /// The same for an opening that looks at the records by its writer before it writes: of a file
    /// that its header calls ours, beside which neither a log nor a journal lies, that look says it.
    /// SQLite writes nothing before, since it has nothing to take over or to take back.
    static func refuseNewerBeforeLooking(in directory: PrivateDirectory) throws(KeychainError) {
        if try canBeLookedAt(in: directory) { return }
        try refuseNewer(in: directory)
    }

    private static func canBeLookedAt(in directory: PrivateDirectory) throws(KeychainError) -> Bool {
        guard let header = try read(in: directory), header.hasMagic,
            header.application == StoreSchema.applicationID, (1...StoreSchema.format).contains(header.format),
            (StoreLog.byteCount(in: directory) ?? 0) == 0
        else { return false }
        let journal = StoreHeaderMending.journal
        return try looking(at: journal, in: directory) { () throws(SystemCallError) in
            try !directory.holds(journal)
        }
    }

    /// The format that a database is of: what two of its three places say (the header, and from
    /// format 7 on the record `format` and its copy), so that no byte that changed makes a newer or an
    /// older one of it. A file that is really newer says so in all.
    ///
    /// - Parameter told: what the records say, each that is there; none before format 7.
    static func format(of header: Int, _ told: [Int]) -> Int {
        let places = [header] + told
        if let agreed = places.first(where: { format in places.count { $0 == format } > 1 }) { return agreed }
        // One record alone is there, and one of the two is wrong: not likely the one that can be right.
        return told.first { (StoreSchema.firstToldFormat...StoreSchema.format).contains($0) } ?? header
    }

    /// Whether a database says that it is a store; false where there is none.
    static func isOurs(in directory: PrivateDirectory) throws(KeychainError) -> Bool {
        try read(in: directory)?.application == StoreSchema.applicationID
    }

    /// Whether there is no database, or a file without a byte.
    package static func isEmpty(in directory: PrivateDirectory) throws(KeychainError) -> Bool {
        try isEmpty(Store.fileName, in: directory)
    }

    static func isEmpty(_ name: String, in directory: PrivateDirectory) throws(KeychainError) -> Bool {
        try looking(at: name, in: directory) { () throws(SystemCallError) in
            guard try directory.holds(name) else { return true }
            let status = try FileStatus(at: FilePath(name), in: directory.descriptor, followingLink: false)
            // A pipe has no bytes either.
            return status.isRegularFile && status.byteCount == 0
        }
    }

    private static func read(in directory: PrivateDirectory) throws(KeychainError) -> StoreHeader? {
        try looking(at: Store.fileName, in: directory) { () throws(SystemCallError) in
            try directory.readPrefix(Store.fileName, byteCount: byteCount).flatMap { StoreHeader($0) }
        }
    }

    /// A crash can leave the newer format in the write-ahead log alone: looked at
    /// by a connection that cannot write.
    private static func refuseNewerLog(in directory: PrivateDirectory) throws(KeychainError) {
        let log = Store.fileName + "-wal"
        let size: Int
        do throws(SystemCallError) {
            size = Int(try FileStatus(at: FilePath(log), in: directory.descriptor, followingLink: false).byteCount)
        } catch { return }
        guard size > 0 else { return }
        let path = directory.path + "/" + Store.fileName
        let format: Int
        do throws(KeychainError) {
            format = try translating {
                let queue = try DatabaseQueue(path: path, configuration: Store.configuration(readOnly: true))
                return try queue.unsafeRead { db in
                    let header = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
                    let told = try StoreCopies.toldFormats(db)
                    guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == StoreSchema.applicationID
                        || !told.isEmpty
                    else { return 0 }
                    return Self.format(of: header, told)
                }
            }
        } catch {
            // Whatever else is wrong with it is found, and named, by opening it.
            return
        }
        if format > StoreSchema.format { throw KeychainError(.notAvailable, reason: .storeNewer(version: format)) }
    }
}
