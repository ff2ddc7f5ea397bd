internal import Foundation
package import KeychainModel
package import KeychainPlatform

/// Moves a database that SQLite calls malformed out of the way, whole: the file
/// with its write-ahead log under a name with the date, never over another file.
///
/// What is to be done lies in a marker file first, so that a crash between two
/// renames is carried on by the next opening (FORMATS.md, "Set aside").
package struct StoreSetAside: Sendable, Hashable {
    package static let markerName = Store.fileName + ".malformed"
    package static let prefix = Store.fileName + ".damaged-"
    private static let companions = ["-wal", "-shm"]
    /// Behind the name of a log whose database was gone: what the witness said of that one.
    private static let witnessSuffix = "-witness"

    /// The database's new name.
    package let name: String
    /// The store's id, where it was known when the damage was found.
    package let storeID: [UInt8]?
    /// What was set aside before for a database that was malformed itself before it served, newest
    /// first.
    package let before: [String]

    /// So many new databases in a row are made; behind them it is not the databases.
    private static let mostBefore = 4

    init(name: String, storeID: [UInt8]?, before: [String] = []) {
        self.name = name
        self.storeID = storeID
        self.before = before
    }

    // MARK: The marker

    /// What a marker in the folder says, or nil where there is none.
    ///
    /// One that no version of ours wrote says nothing of the database: it gets another name, as
    /// what is set aside.
    ///
    /// - Throws: `storeUnreadable` for a marker of a newer version.
    package static func pending(
        in directory: PrivateDirectory, at moment: Double
    ) throws(KeychainError) -> StoreSetAside? {
        guard let bytes = try markerBytes(in: directory) else { return nil }
        if let found = StoreSetAside(encoded: bytes) { return found }
        guard !bytes.starts(with: Array("latchkey set aside ".utf8)) else {
            throw KeychainError(.notAvailable, reason: .storeUnreadable, underlying: markerName)
        }
        let name = try freeName(in: directory, at: moment)
        try translatingFiles { () throws(SystemCallError) in
            try directory.move(markerName, to: name)
            try directory.synchronize()
        }
        return nil
    }

    /// Nothing for what is no file.
    private static func markerBytes(in directory: PrivateDirectory) throws(KeychainError) -> [UInt8]? {
        do throws(SystemCallError) { return try directory.read(markerName, atMost: 4096) } catch {
            guard error.isNotAFileOfOurs else {
                throw KeychainError(looking: error, at: "\(directory.path)/\(markerName)")
            }
            return []
        }
    }

    /// Writes down, durably, that the database is to be set aside. Where the one that a marker
    /// names is away already, the one at hand is the next, which never served: the new marker names
    /// both.
    ///
    /// - Throws: `readOnly`, `diskFull`; `inputOutput` where that was so several times in a row.
    ///   Nothing was changed then.
    package static func mark(
        in directory: PrivateDirectory, storeID: [UInt8]?, at moment: Double
    ) throws(KeychainError) -> StoreSetAside {
        let present = try pending(in: directory, at: moment)
        if let present, try !present.hasMoved(in: directory) { return present }
        let before = present.map { [$0.name] + $0.before } ?? []
        guard before.count <= mostBefore else {
            throw KeychainError(
                .io, reason: .inputOutput,
                underlying: "\(before.count) new databases in a row were malformed before they served: what is written "
                    + "comes back changed; where the disk and the memory are sound again, move keychain.db away")
        }
        let name = try freeName(in: directory, at: moment)
        let marker = StoreSetAside(name: name, storeID: storeID ?? present?.storeID, before: before)
        try translatingFiles { () throws(SystemCallError) in try directory.replace(markerName, with: marker.encoded) }
        return marker
    }

    private static func freeName(
        in directory: PrivateDirectory, at moment: Double
    ) throws(KeychainError) -> String {
        let stamp = prefix + Timestamp(secondsSince2001: moment).compactText
        let taken = Set(try directory.names())
        var name = stamp
        var number = 1
        while taken.contains(name) || (companions + [witnessSuffix]).contains(where: { taken.contains(name + $0) }) {
            number += 1
            name = "\(stamp)-\(number)"
        }
        return name
    }

    var encoded: [UInt8] {
        let id =
            storeID.map { $0.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() } ?? "unknown"
        let others = before.map { "before \($0)\n" }.joined()
        return Array("latchkey set aside 1\nname \(name)\nstore \(id)\n\(others)".utf8)
    }

    init?(encoded bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 4, lines[0] == "latchkey set aside 1", lines[lines.count - 1].isEmpty,
            lines[1].hasPrefix("name \(Self.prefix)"), !lines[1].contains("/"), lines[2].hasPrefix("store ")
        else { return nil }
        let others = lines[3..<lines.count - 1]
        guard others.allSatisfy({ $0.hasPrefix("before \(Self.prefix)") && !$0.contains("/") }) else { return nil }
        let digits = Array(lines[2].dropFirst(6).utf8)
        let id = stride(from: 0, to: digits.count - digits.count % 2, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
        guard lines[2] == "store unknown" || id.count == 16 && digits.count == 32 else { return nil }
        self.init(
            name: String(lines[1].dropFirst(5)), storeID: id.count == 16 ? id : nil,
            before: others.map { String($0.dropFirst(7)) })
    }

    // MARK: Moving

    /// The witness of a database that is gone goes with its log: should the database come back,
    /// it says what that lacks. One that says nothing where there is none: it tells, after a
    /// crash, that the database in its place is the next one.
    private func leaveWitness(in directory: PrivateDirectory) throws(SystemCallError) {
        guard try !directory.move(StoreWitness.fileName, to: name + Self.witnessSuffix) else { return }
        _ = try directory.openFile(name + Self.witnessSuffix, creating: true)
    }

    /// The renames, in order: the database itself comes last, so that where it
    /// has its new name everything has.
    package var renames: [(from: String, to: String)] {
        (Self.companions + [""]).map { (Store.fileName + $0, name + $0) }
    }

    /// What its witness said of the database that was set aside; gone once that was gone through.
    /// Not among the names of ``files(in:)``, of which each is a database or a log.
    private static func testimonyName(of name: String) -> String {
        StoreWitness.fileName + "-" + name.dropFirst(prefix.count)
    }

    /// What its witness said of a database that was set aside; nil where nothing is known.
    package static func testimony(of name: String, in directory: PrivateDirectory) -> SetAsideTestimony? {
        StoreWitness.testimony(in: directory, named: testimonyName(of: name)).map(SetAsideTestimony.init)
    }

    package static func dropTestimony(of name: String, in directory: PrivateDirectory) {
        drop(testimonyName(of: name), in: directory)
    }

    /// The new database has a history of its own, and the witness is its from then on: what the one
    /// that is set aside lacks of what was acknowledged could be told by nobody. Before the first
    /// rename, so that a crash leaves it.
    private func keepTestimony(in directory: PrivateDirectory) throws(SystemCallError) {
        // The witness is not yet that of a database which never served.
        guard before.isEmpty else { return }
        let kept = Self.testimonyName(of: name)
        guard let testimony = StoreWitness.testimony(in: directory), try !directory.holds(kept) else { return }
        try directory.replace(kept, with: testimony.encoded)
    }

    /// Whether the database has its new name, or, where it was gone, its log.
    package func hasMoved(in directory: PrivateDirectory) throws(KeychainError) -> Bool {
        try translatingFiles { () throws(SystemCallError) in
            if try directory.holds(name) { return true }
            return try directory.holds(name + Self.witnessSuffix)
        }
    }

    /// Moves the files; what a crash left undone is done, what is done is left.
    ///
    /// - Throws: `readOnly`, `diskFull`, `inputOutput`; the marker stays.
    package func move(in directory: PrivateDirectory) throws(KeychainError) {
        if try hasMoved(in: directory) { return }
        let isGone = try StoreHeader.isEmpty(in: directory)
        try translatingFiles { () throws(SystemCallError) in
            if !isGone { try keepTestimony(in: directory) }
            for (from, to) in renames {
                if isGone, from == Store.fileName { try leaveWitness(in: directory) }
                try directory.move(from, to: to)
            }
            try directory.synchronize()
        }
    }

    /// Moves a write-ahead log out of the way that is no log of the database, or whose
    /// database is gone: SQLite would take the one over and delete the other, and that may
    /// hold what was acknowledged last.
    ///
    /// - Returns: its new name, where there was one and a database.
    /// - Throws: `storeNewer`, `folderUnusable` for one that may not be read and written,
    ///   `readOnly`, `diskFull`, `inputOutput`; nothing was moved then.
    package static func keepStrayLog(
        in directory: PrivateDirectory, at moment: Double
    ) throws(KeychainError) -> String? {
        let (holdsDatabase, holdsLog) = try looking(at: Store.fileName, in: directory) {
            () throws(SystemCallError) in
            (try directory.holds(Store.fileName), try directory.holds(StoreLog.name))
        }
        guard holdsLog else { return nil }
        if holdsDatabase {
            try StoreHeader.refuseNewer(in: directory)
            let kept = try testimonies(in: directory).map { $0.testimony }
            let isForeign = try StoreLog.isForeign(in: directory, StoreWitness.testimony(in: directory), besides: kept)
            let isOther = isForeign ? true : try StoreLog.isNoneAndLarge(in: directory)
            guard isOther else { return nil }
        }
        let name = try freeName(in: directory, at: moment)
        try translatingFiles { () throws(SystemCallError) in
            try directory.move(StoreLog.name, to: name + "-wal")
            try directory.synchronize()
        }
        return holdsDatabase ? name + "-wal" : nil
    }

    /// Puts bytes of the database's header right (``StoreHeaderMending``).
    ///
    /// - Returns: how many.
    /// - Throws: `storeMalformed`.
    package static func mendHeader(in directory: PrivateDirectory) throws(KeychainError) -> Int {
        try StoreHeaderMending.run(in: directory)
    }

    /// Puts the log that is the database's right where bytes of it were changed (``StoreLog``).
    ///
    /// - Returns: nil where nothing was changed.
    /// - Throws: `storeNewer`, `folderUnusable`, `inputOutput`.
    package static func mendLog(
        in directory: PrivateDirectory, at moment: Double
    ) throws(KeychainError) -> StoreLog.Mended? {
        StoreLog.dropTrial(in: directory)
        let holdsLog = try looking(at: StoreLog.name, in: directory) { () throws(SystemCallError) in
            try directory.holds(StoreLog.name)
        }
        guard holdsLog else { return nil }
        try dropSecondNames(in: directory)
        // SQLite deletes the log of a database without a byte, also where it only reads.
        guard try !StoreHeader.isEmpty(in: directory) else { return nil }
        try StoreHeader.refuseNewer(in: directory)
        return try StoreLog.mend(in: directory, keptAs: try freeName(in: directory, at: moment) + companions[0])
    }

    /// Takes away the names of logs that were set aside without a database and are the live log: a
    /// crash came before the one that was put right had its place (``StoreLog/mend(in:keptAs:)``),
    /// or its rename did not reach the disk. Nothing names such a file as a predecessor yet, and
    /// what is written to the live log would change what is kept.
    private static func dropSecondNames(in directory: PrivateDirectory) throws(KeychainError) {
        let names = Set(try directory.names().filter { $0.hasPrefix(prefix) })
        let logs = names.filter { $0.hasSuffix(companions[0]) && !names.contains(database(of: $0)) }
        if logs.isEmpty { return }
        try looking(at: StoreLog.name, in: directory) { () throws(SystemCallError) in
            let live = try identity(of: StoreLog.name, in: directory)
            for log in logs where try identity(of: log, in: directory) == live { drop(log, in: directory) }
        }
    }

    private static func identity(
        of name: String, in directory: PrivateDirectory
    ) throws(SystemCallError) -> FileIdentity {
        try FileStatus(at: FilePath(name), in: directory.descriptor, followingLink: false).identity
    }

    /// What was acknowledged of databases that were gone when their logs were set aside, by the
    /// names that these would have without "-wal".
    static func testimonies(
        in directory: PrivateDirectory
    ) throws(KeychainError) -> [(name: String, testimony: StoreTestimony)] {
        try directory.names().filter { $0.hasPrefix(prefix) && $0.hasSuffix(witnessSuffix) }.compactMap { file in
            StoreWitness.testimony(in: directory, named: file).map { (String(file.dropLast(witnessSuffix.count)), $0) }
        }
    }

    /// The name that the database of a log which was set aside has, or would have.
    static func database(of log: String) -> String {
        log.hasSuffix(companions[0]) ? String(log.dropLast(companions[0].count)) : log
    }

    static func dropWitness(of name: String, in directory: PrivateDirectory) {
        drop(name + witnessSuffix, in: directory)
        // What is back after a loss of power says once more what is known.
        synchronize(directory)
    }

    /// Where it fails, a loss of power undoes what can be done again.
    static func synchronize(_ directory: PrivateDirectory) {
        do throws(SystemCallError) { try directory.synchronize() } catch { return }
    }

    /// Keeps a copy of a log of which the database does not take everything over.
    ///
    /// - Returns: its name; nil where there is nothing to keep, or no room.
    static func copyLog(in directory: PrivateDirectory, at moment: Double) -> String? {
        let log = directory.path + "/" + StoreLog.name
        let files = FileManager.default
        guard let size = StoreLog.byteCount(in: directory), size > 0 else { return nil }
        let name: String
        do throws(KeychainError) { name = try freeName(in: directory, at: moment) + "-wal" } catch { return nil }
        do {
            try files.copyItem(atPath: log, toPath: directory.path + "/" + name)
            try directory.synchronize(name)
            try directory.synchronize()
            return name
        } catch {
            // Half a copy tells less than none.
            drop(name, in: directory)
            return nil
        }
    }

    /// Whether there is as much free space as the log takes; also where nobody can say.
    static func hasFreeSpaceForLog(in directory: PrivateDirectory) -> Bool {
        guard let size = StoreLog.byteCount(in: directory) else { return true }
        do {
            let room = try FileManager.default.attributesOfFileSystem(forPath: directory.path)
            guard let free = room[.systemFreeSize] as? NSNumber else { return true }
            return free.int64Value >= size
        } catch { return true }
    }

    /// Whether a copy of the log finds room now.
    static func hasRoomForLog(in directory: PrivateDirectory) -> Bool {
        // A file that is being made has such a name (``PrivateDirectory/replace(_:with:mode:)``).
        guard hasFreeSpaceForLog(in: directory) else { return false }
        let trial = ".\(StoreLog.name).new"
        drop(trial, in: directory)
        defer { drop(trial, in: directory) }
        do {
            try FileManager.default.copyItem(
                atPath: directory.path + "/" + StoreLog.name, toPath: directory.path + "/" + trial)
            try directory.synchronize(trial)
            return true
        } catch { return false }
    }

    /// Takes a copy away again; one that cannot be is named by doctor.
    static func drop(_ name: String, in directory: PrivateDirectory) {
        do throws(SystemCallError) { try directory.remove(name) } catch { return }
    }

    /// The new store is there and has its id.
    package func finish(in directory: PrivateDirectory) throws(KeychainError) {
        try translatingFiles { () throws(SystemCallError) in
            try directory.remove(Self.markerName)
            try directory.synchronize()
        }
    }

    // MARK: What was set aside

    /// What was set aside, oldest first: databases, and logs whose database is gone.
    ///
    /// - Throws: where the folder cannot be read: they are not gone for that.
    package static func files(in directory: PrivateDirectory) throws(KeychainError) -> [String] {
        let names = Set(try directory.names().filter { $0.hasPrefix(prefix) })
        return names.filter { name in
            if name.hasSuffix(witnessSuffix) { return false }
            guard let companion = companions.first(where: name.hasSuffix) else { return true }
            return companion == "-wal" && !names.contains(String(name.dropLast(companion.count)))
        }.sorted()
    }
}
