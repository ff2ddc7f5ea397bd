import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Testing

/// What is said where the database or its log is not what was left there.
@Suite struct WitnessTests {
    private typealias Files = [String: Data]

    private static let names = ["keychain.db", "keychain.db-wal", "keychain.db.witness"]

    private func path(_ keychain: EngineUnderTest, _ name: String) -> String { keychain.folder.path + "/" + name }

    /// The files as they lie there now, while the store is open or not.
    private func files(_ keychain: EngineUnderTest) -> Files {
        Dictionary(
            uniqueKeysWithValues: Self.names.compactMap { name in
                FileManager.default.contents(atPath: path(keychain, name)).map { (name, $0) }
            })
    }

    private func put(_ files: Files, _ names: [String], _ keychain: EngineUnderTest) throws {
        for name in names {
            let url = URL(fileURLWithPath: path(keychain, name))
            guard let bytes = files[name] else {
                if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
                continue
            }
            try bytes.write(to: url)
        }
    }

    /// Opens the store as a process that was killed left it: with these files.
    private func reopen(_ keychain: EngineUnderTest, killedWith files: Files, then change: () throws -> Void) throws {
        try keychain.reopen {
            try put(files, Self.names, keychain)
            try change()
        }
    }

    /// A store with "a" in its database and "b" in its log, and what a kill would leave of it.
    private func withItemInLog() throws -> (keychain: EngineUnderTest, killed: Files) {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.reopen()
        try keychain.add("b", "1")
        return (keychain, files(keychain))
    }

    private func keptLogs(_ keychain: EngineUnderTest) throws -> [Data] {
        try FileManager.default.contentsOfDirectory(atPath: keychain.folder.path)
            .filter { $0.hasPrefix("keychain.db.damaged-") && $0.hasSuffix("-wal") }
            .map { try Data(contentsOf: URL(fileURLWithPath: path(keychain, $0))) }
    }

    @Test func aStoreThatWasKilledIsWhole() throws {
        let (keychain, killed) = try withItemInLog()
        try reopen(keychain, killedWith: killed) {}
        #expect(try keychain.value("b") == "1")
        #expect(keychain.failure("c")?.reason == .nothingMatches)
        #expect(keychain.engine.openingEvent == nil)
        #expect(try keptLogs(keychain).isEmpty)
    }

    /// The log of a session before, beside a database that was closed since: SQLite would take
    /// it over, and what came after it would be gone.
    @Test func anOlderLogBesideAClosedDatabaseTakesNothingBack() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        let older = files(keychain)
        try keychain.add("b", "1")
        _ = try keychain.call(.update, keychain.item("a"), value: "2")
        try keychain.reopen { try put(older, ["keychain.db-wal"], keychain) }
        #expect(try keychain.value("a") == "2")
        #expect(try keychain.value("b") == "1")
        #expect(keychain.failure("c")?.reason == .nothingMatches, "nothing is missing")
        #expect(try keptLogs(keychain) == [older["keychain.db-wal"]])
        #expect(keychain.engine.openingEvent?.contains("write-ahead log") == true)
    }

    /// The note lies in the database that is set aside.
    @Test func whatIsMissingIsNotForgottenWithAMalformedDatabase() throws {
        let keychain = try EngineUnderTest()
        for account in ["a", "b", "c"] { try keychain.add(account, "1") }
        try keychain.reopen()
        try keychain.add("lost", "1")
        let killed = files(keychain)
        try reopen(keychain, killedWith: killed) {
            try FileManager.default.removeItem(atPath: path(keychain, "keychain.db-wal"))
        }
        #expect(keychain.failure("lost")?.reason == .mayBeSetAside)
        // An index alone: every row opens, and the file has to be set aside.
        let page = try keychain.number("SELECT rootpage FROM sqlite_schema WHERE name = 'genp_acct'")
        try keychain.reopen {
            let file = try #require(FileHandle(forUpdatingAtPath: path(keychain, "keychain.db")))
            try file.seek(toOffset: UInt64((page - 1) * 4096))
            try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
            try file.close()
        }
        #expect(throws: KeychainError(.notAvailable, reason: .storeMalformed)) {
            try keychain.engine.doctor(.salvage)
        }
        try keychain.reopen()
        for account in ["a", "b", "c"] { #expect(try keychain.value(account) == "1") }
        #expect(keychain.failure("lost")?.reason == .mayBeSetAside)
        _ = try keychain.engine.doctor(.salvage)
        #expect(keychain.failure("lost")?.reason == .mayBeSetAside)
        _ = try keychain.engine.doctor(.acceptDamage)
        #expect(keychain.failure("lost")?.reason == .nothingMatches)
        _ = try keychain.engine.doctor(.salvage)
        try keychain.reopen()
        #expect(keychain.failure("lost")?.reason == .nothingMatches, "accepted")
    }

    /// Where the first page of a table begins.
    private func start(of table: String, _ keychain: EngineUnderTest) throws -> UInt64 {
        UInt64(try keychain.number("SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'") - 1) * 4096
    }

    private func overwrite(_ keychain: EngineUnderTest, at place: UInt64) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: path(keychain, "keychain.db")))
        try file.seek(toOffset: place)
        try file.write(contentsOf: Data(repeating: 0, count: 4096))
        try file.close()
    }

    /// Two faults at once: the log is lost, and what says how far the database had come is, too.
    @Test(arguments: ["changes", "store", "store_copy"], [0, 20_000])
    func whatALostLogHeldIsMissedBesideAMalformedDatabaseToo(_ table: String, _ left: Int) throws {
        let keychain = try EngineUnderTest()
        for account in ["a", "b", "c"] { try keychain.add(account, "1") }
        try keychain.reopen()
        let place = try start(of: table, keychain)
        for account in ["lost", "gone", "away"] { try keychain.add(account, "1") }
        let killed = files(keychain)
        try keychain.reopenMalformed {
            try put(killed, Self.names, keychain)
            try overwrite(keychain, at: place)
            try #require(killed["keychain.db-wal"]).prefix(left).write(
                to: URL(fileURLWithPath: path(keychain, "keychain.db-wal")))
        }
        for account in ["a", "b", "c"] { #expect(try keychain.value(account) == "1") }
        #expect(keychain.failure("away")?.reason == .mayBeSetAside)
        #expect(try keychain.engine.doctor(.look).hasNewDamage)
        try keychain.reopen()
        #expect(keychain.failure("away")?.reason == .mayBeSetAside)
        _ = try keychain.engine.doctor(.acceptDamage)
        #expect(keychain.failure("away")?.reason == .nothingMatches)
        try keychain.reopen()
        #expect(keychain.failure("away")?.reason == .nothingMatches, "accepted")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: keychain.folder.path)
                .filter { $0.hasPrefix("keychain.db.witness") } == ["keychain.db.witness"])
    }

    /// One fault alone: everything is there, and nothing is said to be missing.
    @Test(arguments: ["changes", "store", "store_copy"], [true, false])
    func whatIsAllThereIsNotMissedBesideAMalformedDatabase(_ table: String, _ wasClosed: Bool) throws {
        let keychain = try EngineUnderTest()
        for account in ["a", "b", "c"] { try keychain.add(account, "1") }
        try keychain.reopen()
        let place = try start(of: table, keychain)
        try keychain.add("last", "1")
        let killed = files(keychain)
        let change = {
            if !wasClosed { try put(killed, Self.names, keychain) }
            try overwrite(keychain, at: place)
        }
        // A page that the log holds is read there, and a record from its copy.
        do { try keychain.reopen(after: change) } catch let error as KeychainError {
            #expect(error.reason == .storeMalformed)
            try keychain.reopen()
        }
        for account in ["a", "b", "c", "last"] { #expect(try keychain.value(account) == "1") }
        #expect(keychain.failure("away")?.reason == .nothingMatches)
    }

    /// A file of holes: to copy it, or to look through it, would take hours.
    @Test func aLogOfATebibyteOfNothingIsMovedAway() throws {
        let (keychain, killed) = try withItemInLog()
        try reopen(keychain, killedWith: killed) {
            try #require(unsafe truncate(path(keychain, "keychain.db-wal"), 0) == 0)
            try #require(unsafe truncate(path(keychain, "keychain.db-wal"), 1 << 40) == 0)
        }
        #expect(try keychain.value("a") == "1")
        #expect(keychain.failure("b")?.reason == .mayBeSetAside)
        try keychain.add("c", "1")
        try keychain.reopen()
        #expect(try keychain.value("c") == "1")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: keychain.folder.path)
                .contains { $0.hasPrefix("keychain.db.damaged-") && $0.hasSuffix("-wal") })
        _ = try keychain.engine.doctor(.salvage)
    }

    /// Too large to be put right, and SQLite takes nothing of it over for one bit of its header: it is
    /// kept all the same, and what its pages hold comes back.
    @Test(arguments: [0, 3, 5, 9, 17, 31]) func aLargeLogWithAWrongBitIsNotThrownAway(_ place: Int) throws {
        let (keychain, killed) = try withItemInLog()
        var log = try #require(killed["keychain.db-wal"])
        log[place] ^= 1
        try reopen(keychain, killedWith: killed) {
            try put(["keychain.db-wal": log], ["keychain.db-wal"], keychain)
            try #require(unsafe truncate(path(keychain, "keychain.db-wal"), 1 << 28 + 4096) == 0)
        }
        #expect(try keychain.value("a") == "1")
        #expect(try keychain.value("b") == "1")
        let kept = try FileManager.default.contentsOfDirectory(atPath: keychain.folder.path)
            .first { $0.hasPrefix("keychain.db.damaged-") && $0.hasSuffix("-wal") }
        let name = try #require(kept)
        let file = try #require(FileHandle(forReadingAtPath: path(keychain, name)))
        #expect(try file.read(upToCount: log.count) == log)
        try file.close()
        #expect(keychain.failure("c")?.reason == .mayBeSetAside, "nobody knows all of it")
    }

    /// Its log was set aside while it was gone, and the witness is the next database's by then.
    @Test(arguments: [false, true])
    func whatADatabaseLacksThatIsPutBackIsNotSaidToBeMissing(_ isNextOneKilled: Bool) throws {
        let (keychain, killed) = try withItemInLog()
        let database = try #require(killed["keychain.db"])
        try keychain.reopenMalformed {
            try put(killed, Self.names, keychain)
            try FileManager.default.removeItem(atPath: path(keychain, "keychain.db"))
        }
        try keychain.add("meanwhile", "1")
        let next = files(keychain)
        try keychain.reopen {
            if isNextOneKilled { try put(next, Self.names, keychain) }
            try database.write(to: URL(fileURLWithPath: path(keychain, "keychain.db")))
        }
        #expect(try keychain.value("a") == "1")
        #expect(try keychain.value("b") == "1", "found in the log")
        #expect(keychain.failure("c") == KeychainError(.itemNotFound, reason: .mayBeSetAside), "nobody knows all of it")
        #expect(try keptLogs(keychain).contains(try #require(killed["keychain.db-wal"])))
        try keychain.reopen()
        #expect(try keychain.value("b") == "1")
        #expect(keychain.failure("c")?.reason == .mayBeSetAside)
        _ = try keychain.engine.doctor(.acceptDamage)
        try keychain.reopen()
        #expect(keychain.failure("c")?.reason == .nothingMatches)
    }

    @Test(arguments: ["cut", "emptied", "removed"])
    func whatALogLacksIsNotSaidToBeMissing(_ damage: String) throws {
        let (keychain, killed) = try withItemInLog()
        let log = try #require(killed["keychain.db-wal"])
        var changed: Data? = log
        switch damage {
        case "cut": changed = log.dropLast()
        case "emptied": changed = Data()
        default: changed = nil
        }
        try reopen(keychain, killedWith: killed) {
            try put(changed.map { ["keychain.db-wal": $0] } ?? [:], ["keychain.db-wal"], keychain)
        }
        #expect(try keychain.value("a") == "1")
        #expect(try keychain.value("b") == (damage == "cut" ? "1" : nil), "what is left of the commit")
        #expect(keychain.failure("c") == KeychainError(.itemNotFound, reason: .mayBeSetAside))
        #expect(try keychain.engine.doctor(.look).hasNewDamage)
        #expect(try keptLogs(keychain) == (changed.map { $0.isEmpty ? [] : [$0] } ?? []), "it is kept as it lay there")
        // As long as nobody accepts it, over openings and attempts to bring something back.
        try keychain.reopen()
        _ = try keychain.engine.doctor(.salvage)
        #expect(keychain.failure("c")?.reason == .mayBeSetAside)
        _ = try keychain.engine.doctor(.acceptDamage)
        #expect(keychain.failure("c")?.reason == .nothingMatches)
        try keychain.reopen()
        #expect(keychain.failure("c")?.reason == .nothingMatches)
        #expect(try !keychain.engine.doctor(.look).hasNewDamage)
    }

    @Test func anOlderDatabaseIsToldOf() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.close()
        let older = files(keychain)
        let reopened = try EngineUnderTest.open(keychain.folder.path, keychain.clock)
        try reopened.close()
        try keychain.open()
        try keychain.add("b", "1")
        try keychain.reopen { try put(older, ["keychain.db", "keychain.db-wal"], keychain) }
        #expect(try keychain.value("a") == "1")
        #expect(keychain.failure("b")?.reason == .mayBeSetAside)
    }

    /// An older copy of all files is what a person restores on purpose.
    @Test func anOlderCopyOfAllFilesIsWhole() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        let older = files(keychain)
        try keychain.add("b", "1")
        try reopen(keychain, killedWith: older) {}
        #expect(try keychain.value("a") == "1")
        #expect(keychain.failure("b")?.reason == .nothingMatches)
    }

    /// Database and log from before, together: what they hold is served.
    @Test func anOlderDatabaseWithItsLogIsServed() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.reopen()
        try keychain.add("b", "1")
        let older = files(keychain)
        try keychain.reopen()
        try keychain.add("c", "1")
        try keychain.reopen { try put(older, ["keychain.db", "keychain.db-wal"], keychain) }
        #expect(try keychain.value("a") == "1")
        #expect(try keychain.value("b") == "1")
        #expect(keychain.failure("c")?.reason == .mayBeSetAside)
    }

    /// Of another store, in which the same was done.
    @Test func anotherStoresLogCoversNothing() throws {
        let keychain = try EngineUnderTest()
        let other = try EngineUnderTest()
        for one in [keychain, other] {
            try one.add("a", "1")
            try one.reopen()
            try one.add("b", "1")
        }
        let (killed, others) = (files(keychain), files(other))
        try reopen(keychain, killedWith: killed) { try put(others, ["keychain.db-wal"], keychain) }
        #expect(try keychain.value("a") == "1")
        #expect(keychain.failure("b")?.reason == .mayBeSetAside)
        #expect(try keptLogs(keychain) == [others["keychain.db-wal"]])
    }

    /// A loss of power leaves an older witness: the log has gone on since, also under another
    /// name.
    @Test(arguments: [false, true]) func aWitnessThatIsBehindIsNoReason(_ isLogAnother: Bool) throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        let older = files(keychain)
        if isLogAnother { try keychain.sql("PRAGMA wal_checkpoint(RESTART)") }
        try keychain.add("b", "1")
        let killed = files(keychain)
        #expect(killed["keychain.db.witness"] != older["keychain.db.witness"])
        if isLogAnother {
            #expect(killed["keychain.db-wal"]?[16..<24] != older["keychain.db-wal"]?[16..<24], "the log began anew")
        }
        try reopen(keychain, killedWith: killed) { try put(older, ["keychain.db.witness"], keychain) }
        #expect(try keychain.value("a") == "1")
        #expect(try keychain.value("b") == "1")
        #expect(keychain.failure("c")?.reason == .nothingMatches)
        #expect(try keptLogs(keychain).isEmpty)
    }

    /// Killed while a checkpoint copied the log into the database, after any page of it: what
    /// stands there by itself may be anything, and is all right with the log.
    @Test func halfACheckpointIsNoReason() throws {
        let keychain = try EngineUnderTest()
        let items = (0..<400).map { number in
            NewItem(
                QueryDictionary([
                    ("class", .string("genp")), ("svce", .string("many")), ("acct", .string("\(number)")),
                    ("v_Data", .secret),
                ]), value: SharedSecret(SecretBytes(copying: [1])))
        }
        let request = KeychainRequest(.addItems, items: items)
        _ = try keychain.engine.answer(request, for: Authorization(keychain.entitlements))
        try keychain.reopen()
        // Pages of items become free, and others' (the log of changes among them).
        for number in 0..<60 {
            _ = try keychain.call(.delete, [("class", .string("genp")), ("acct", .string("\(number)"))])
        }
        for number in 0..<40 { try keychain.add("late \(number)", "1") }
        let killed = files(keychain)
        try keychain.close()
        let after = files(keychain)
        // As it lay under the log, and as the whole log made it.
        let (old, new) = (try #require(killed["keychain.db"]), try #require(after["keychain.db"]))
        #expect(old.count > 40 * 4096 && killed["keychain.db-wal"] != nil && after["keychain.db-wal"] == nil)
        try keychain.open()
        for pages in stride(from: 0, through: max(old.count, new.count) / 4096, by: 3) {
            var torn = killed
            torn["keychain.db"] = new.prefix(pages * 4096) + old.dropFirst(pages * 4096)
            try reopen(keychain, killedWith: torn) {}
            #expect(keychain.engine.openingEvent == nil, "after \(pages) pages")
            #expect(try keychain.value("late 39") == "1", "after \(pages) pages")
            #expect(keychain.failure("late 40")?.reason == .nothingMatches, "after \(pages) pages")
        }
        #expect(try keptLogs(keychain).isEmpty)
    }

    /// Nobody goes on with what it says, so that nothing is concluded from it later.
    @Test(.enabled(if: geteuid() != 0, "root writes what it may not: scripts/test-unprivileged runs this"))
    func aWitnessThatCannotBeWrittenIsRemoved() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        let witness = path(keychain, "keychain.db.witness")
        try keychain.reopen {
            try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: witness)
        }
        #expect(!FileManager.default.fileExists(atPath: witness))
        try keychain.add("b", "1")
        try keychain.reopen()
        #expect(try keychain.value("b") == "1")
        #expect(FileManager.default.fileExists(atPath: witness))
    }

    /// It may be the only one that holds what was acknowledged last.
    @Test(
        .enabled(if: geteuid() != 0, "root writes what it may not: scripts/test-unprivileged runs this"),
        arguments: [0o000, 0o200, 0o400])
    func aLogThatMayNotBeReadAndWrittenIsNoOtherOne(_ mode: Int) throws {
        let (keychain, killed) = try withItemInLog()
        let log = path(keychain, "keychain.db-wal")
        try keychain.close()
        try put(killed, Self.names, keychain)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: log)
        let error = #expect(throws: KeychainError.self) {
            try EngineUnderTest.open(keychain.folder.path, keychain.clock)
        }
        guard case .folderUnusable(let why)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(why.contains(log))
        #expect(try keptLogs(keychain).isEmpty)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: log)
        #expect(files(keychain) == killed)
        try keychain.open()
        #expect(try keychain.value("b") == "1")
        #expect(keychain.engine.openingEvent == nil)
    }

    /// What may not be read is not damaged.
    @Test(.enabled(if: geteuid() != 0, "root reads what it may not: scripts/test-unprivileged runs this"))
    func aDatabaseThatMayNotBeReadIsToldAsThat() throws {
        let (keychain, killed) = try withItemInLog()
        try keychain.close()
        try put(killed, Self.names, keychain)
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: keychain.databasePath)
        let error = #expect(throws: KeychainError.self) {
            try EngineUnderTest.open(keychain.folder.path, keychain.clock)
        }
        guard case .folderUnusable? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keychain.databasePath)
        #expect(files(keychain) == killed)
        try keychain.open()
        #expect(try keychain.value("b") == "1")
    }

    /// New keys, records: what nobody observes is as good a reason to miss a log.
    @Test func aCommitThatChangesNoItemIsWitnessed() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.reopen()
        let position = try keychain.engine.store.read { reader throws(KeychainError) in try reader.changeBounds().last }
        let older = files(keychain)
        _ = try keychain.engine.doctor(.acceptDamage)
        let killed = files(keychain)
        #expect(
            try keychain.engine.store.read { reader throws(KeychainError) in try reader.changeBounds().last }
                == position + 1)
        // A loss of power before the witness was on the disk.
        try reopen(keychain, killedWith: killed) { try put(older, ["keychain.db.witness"], keychain) }
        #expect(try keptLogs(keychain).isEmpty)
        #expect(try !keychain.engine.doctor(.look).hasNewDamage)
        // The log is gone.
        try reopen(keychain, killedWith: killed) { try put([:], ["keychain.db-wal"], keychain) }
        #expect(try keychain.engine.doctor(.look).hasNewDamage)
        #expect(try keychain.value("a") == "1")
    }

    @Test(arguments: ["removed", "cut", "longer", "flipped", "folder"])
    func aDamagedWitnessConcludesNothing(_ damage: String) throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        let url = URL(fileURLWithPath: path(keychain, "keychain.db.witness"))
        try keychain.reopen {
            var bytes = try Data(contentsOf: url)
            try FileManager.default.removeItem(at: url)
            switch damage {
            case "removed": return
            case "cut": bytes.removeLast()
            case "longer": bytes.append(0)
            case "flipped": bytes[31] ^= 0x40
            default: return try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            }
            try bytes.write(to: url)
        }
        try keychain.add("b", "1")
        #expect(keychain.failure("c")?.reason == .nothingMatches)
        try keychain.reopen()
        #expect(try keychain.value("b") == "1")
        if damage != "folder" { #expect(try Data(contentsOf: url).count == 48, "it is written anew") }
    }
}
