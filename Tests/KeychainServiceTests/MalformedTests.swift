import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Testing

/// A file that SQLite calls malformed: set aside whole, its items taken over.
@Suite struct MalformedTests {
    func overwrite(_ path: String, at offset: UInt64, _ count: Int) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data(repeating: 0xA5, count: count))
        try file.close()
    }

    func size(_ path: String) throws -> Int { try Data(contentsOf: URL(fileURLWithPath: path)).count }

    func setAside(_ keychain: EngineUnderTest) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: keychain.folder.path)
            .filter { $0.hasPrefix("keychain.db.damaged-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    }

    @Test func aFileWithoutAHeaderIsSetAsideWholeAndTheStoreKeepsItsID() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        let id = keychain.engine.storeID
        var damaged = Data()
        try keychain.reopenMalformed {
            try overwrite(keychain.databasePath, at: 0, 4096)
            damaged = try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath))
        }
        #expect(keychain.engine.storeID == id)
        let aside = try setAside(keychain)
        #expect(aside.count == 1)
        #expect(try Data(contentsOf: URL(fileURLWithPath: keychain.folder.path + "/" + aside[0])) == damaged)
        // Its page is whole.
        #expect(try keychain.value("a") == "1")
        _ = try keychain.call(.update, keychain.item("a"), value: "2")
        try keychain.reopen()
        #expect(try keychain.value("a") == "2")
        #expect(try keychain.engine.doctor(.look).setAsideFiles == aside)
    }

    /// It is read before anybody can call, so that no call finds out.
    @Test func aMalformedListOfChangesIsSetAsideAsWell() throws {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)") }
        let page = try keychain.number("SELECT rootpage FROM sqlite_schema WHERE name = 'changes'")
        try keychain.reopenMalformed {
            try overwrite(keychain.databasePath, at: UInt64((page - 1) * 4096), 4096)
        }
        for index in 0..<5 { #expect(try keychain.value("\(index)") == "v\(index)") }
        #expect(try setAside(keychain).count == 1)
    }

    /// The one warning may have gone to a helper in the background.
    @Test func aDatabaseThatIsGoneIsNoSoundStore() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.reopenMalformed { try FileManager.default.removeItem(atPath: keychain.databasePath) }
        #expect(try keychain.value("a") == nil)
        #expect(try keychain.engine.doctor(.look).hasNewDamage)
        try keychain.reopen()
        #expect(try keychain.engine.doctor(.verify).hasNewDamage)
        #expect(try !keychain.engine.doctor(.acceptDamage).hasNewDamage)
        try keychain.reopen()
        #expect(try !keychain.engine.doctor(.look).hasNewDamage)
    }

    /// The database alone was removed: its log, which SQLite would delete, is kept.
    @Test func aLogWithoutItsDatabaseIsKept() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        let log = try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath + "-wal"))
        #expect(!log.isEmpty)
        try keychain.reopenMalformed {
            try FileManager.default.removeItem(atPath: keychain.databasePath)
            try log.write(to: URL(fileURLWithPath: keychain.databasePath + "-wal"))
        }
        #expect(try keychain.value("a") == "1", "it holds the page")
        #expect(keychain.failure("b")?.reason == .mayBeSetAside, "and may not hold another")
        let kept = try FileManager.default.contentsOfDirectory(atPath: keychain.folder.path)
            .filter { $0.hasPrefix("keychain.db.damaged-") && !$0.hasSuffix("-witness") }
        #expect(kept.count == 1 && kept[0].hasSuffix("-wal"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: keychain.folder.path + "/" + kept[0])) == log)
        #expect(try keychain.engine.doctor(.look).setAsideFiles == kept, "doctor names it")
    }

    /// "Not there" is said otherwise where it may be "not readable", until a person
    /// has accepted that.
    @Test func whatMayBeInAFileThatWasSetAsideIsNotSaidToBeMissing() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        #expect(keychain.failure("b")?.reason == .nothingMatches)
        try keychain.reopenMalformed {
            try overwrite(keychain.databasePath, at: 0, try size(keychain.databasePath))
        }
        #expect(keychain.failure("a") == KeychainError(.itemNotFound, reason: .mayBeSetAside))
        try keychain.reopen()
        #expect(keychain.failure("a") == KeychainError(.itemNotFound, reason: .mayBeSetAside))
        _ = try keychain.engine.doctor(.salvage)
        #expect(keychain.failure("a")?.reason == .mayBeSetAside, "trying again changes nothing")
        _ = try keychain.engine.doctor(.acceptDamage)
        #expect(keychain.failure("a") == KeychainError(.itemNotFound, reason: .nothingMatches))
        try keychain.reopen()
        #expect(keychain.failure("a")?.reason == .nothingMatches)
    }

    @Test func whatMayBeADamagedRowIsNotSaidToBeMissing() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.sql("UPDATE genp SET metadata = randomblob(length(metadata))")
        #expect(keychain.failure("a") == KeychainError(.itemNotFound, reason: .mayBeSetAside))
        try keychain.reopen()
        #expect(keychain.failure("a")?.reason == .mayBeSetAside)
        _ = try keychain.engine.doctor(.acceptDamage)
        #expect(keychain.failure("a")?.reason == .nothingMatches)
    }

    /// Everything that opens came back: nothing is missing.
    @Test func aWholeSalvageLeavesNothingOpen() throws {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)") }
        let page = try keychain.number("SELECT rootpage FROM sqlite_schema WHERE name = 'genp_acct'")
        try keychain.reopen { try overwrite(keychain.databasePath, at: UInt64((page - 1) * 4096), 4096) }
        #expect(throws: KeychainError.self) { try keychain.add("new", "x") }
        try keychain.reopen()
        #expect(keychain.failure("new")?.reason == .nothingMatches)
    }

    /// A table page in the middle is gone: the other rows come back by themselves.
    @Test func whatStillOpensComesBackBeforeTheFirstCall() throws {
        let keychain = try EngineUnderTest()
        let filler = String(repeating: "x", count: 700)
        for index in 0..<200 { try keychain.add("\(index)", "v\(index)" + filler) }
        let page = try keychain.number(
            "SELECT pageno FROM dbstat WHERE name = 'genp' AND pagetype = 'leaf' LIMIT 1 OFFSET 7")
        var lost = 0
        try keychain.reopen {
            lost = try keychain.number("SELECT ncell FROM dbstat WHERE name = 'genp' AND pageno = \(page)")
            try overwrite(keychain.databasePath, at: UInt64((page - 1) * 4096), 4096)
        }
        // Opening reads the schema alone; the first call meets the page.
        let error = #expect(throws: KeychainError.self) {
            try keychain.call(
                .copy, [("class", .string("genp")), ("m_Limit", .string("m_LimitAll")), ("r_Data", .bool(true))])
        }
        #expect(error?.status == .notAvailable && error?.reason == .storeMalformed)
        #expect(keychain.engine.isMalformed)
        #expect(throws: KeychainError.self) { try keychain.add("new", "x") }
        try keychain.reopen()
        #expect(try setAside(keychain).count == 1)
        var found = 0
        for index in 0..<200 where try keychain.value("\(index)") == "v\(index)" + filler { found += 1 }
        #expect(lost > 0 && found == 200 - lost, "\(found) of 200, \(lost) in the page")
        #expect(try keychain.engine.doctor(.verify).isIntact == true)
        try keychain.reopen()
        #expect(try setAside(keychain).count == 1, "once is enough")
    }

    /// A deleted item does not come back with the next salvage; a newer one stays.
    @Test func whatWasTakenOverIsNotTakenAgain() throws {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)") }
        let page = try keychain.number("SELECT rootpage FROM sqlite_schema WHERE name = 'genp_acct'")
        try keychain.reopen { try overwrite(keychain.databasePath, at: UInt64((page - 1) * 4096), 4096) }
        #expect(throws: KeychainError.self) { try keychain.add("new", "x") }
        try keychain.reopen()
        #expect(try keychain.value("2") == "v2")
        _ = try keychain.call(.delete, keychain.item("2"))
        _ = try keychain.call(.update, keychain.item("3"), value: "changed")
        let report = try keychain.engine.doctor(.salvage)
        #expect(report.salvage?.restored == 0 && report.salvage?.present == 5)
        #expect(try keychain.value("2") == nil)
        #expect(try keychain.value("3") == "changed")
    }

    /// Nor after the database that it was deleted from is malformed as well.
    @Test func whatWasDeletedStaysSoAfterASecondMalformation() throws {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)") }
        func spoil() throws {
            let page = try keychain.number("SELECT rootpage FROM sqlite_schema WHERE name = 'genp_acct'")
            try keychain.reopen { try overwrite(keychain.databasePath, at: UInt64((page - 1) * 4096), 4096) }
            #expect(throws: KeychainError.self) { try keychain.add("new", "x") }
            try keychain.reopen()
        }
        try spoil()
        _ = try keychain.call(.delete, keychain.item("2"))
        _ = try keychain.call(.update, keychain.item("3"), value: "changed")
        try spoil()
        #expect(try setAside(keychain).count == 2)
        #expect(try keychain.value("1") == "v1" && keychain.value("2") == nil && keychain.value("3") == "changed")
        _ = try keychain.engine.doctor(.salvage)
        #expect(try keychain.value("2") == nil && keychain.value("3") == "changed")
    }

    /// The moment between the new database and the end of bringing back.
    @Test func aSalvageThatWasCutOffGoesOnWithTheNextOpening() throws {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)") }
        let page = try keychain.number("SELECT rootpage FROM sqlite_schema WHERE name = 'genp_acct'")
        try keychain.reopen { try overwrite(keychain.databasePath, at: UInt64((page - 1) * 4096), 4096) }
        #expect(throws: KeychainError.self) { try keychain.add("new", "x") }
        try keychain.reopen()
        // As it was left by a kill before the first row came back.
        try keychain.sql("DELETE FROM genp")
        try keychain.sql("DELETE FROM salvaged")
        try keychain.sql(
            "INSERT INTO store (name, value) SELECT 'salvaging', value FROM store WHERE name = 'predecessor'")
        try keychain.reopen()
        for index in 0..<5 { #expect(try keychain.value("\(index)") == "v\(index)") }
        #expect(try keychain.number("SELECT count(*) FROM store WHERE name = 'salvaging'") == 0)
    }

    /// The second database is malformed before everything of the first had come
    /// back: that goes on, and what was deleted or changed in between stays so.
    @Test func aSalvageThatASecondMalformationCutOffGoesOnWithTheFirstFile() throws {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)") }
        func spoil() throws {
            let page = try keychain.number("SELECT rootpage FROM sqlite_schema WHERE name = 'genp_acct'")
            try overwrite(keychain.databasePath, at: UInt64((page - 1) * 4096), 4096)
        }
        try keychain.reopen { try spoil() }
        #expect(throws: KeychainError.self) { try keychain.add("new", "x") }
        try keychain.reopen()
        _ = try keychain.call(.update, keychain.item("0"), value: "changed")
        _ = try keychain.call(.delete, keychain.item("1"))
        try keychain.add("new", "w")
        try keychain.reopen {
            // As it was left by a kill with two rows taken over, the first file's numbers 1 and 2.
            try keychain.sql("DELETE FROM genp WHERE rowid IN (3, 4, 5)")
            try keychain.sql("DELETE FROM salvaged WHERE rowid_was > 2")
            try keychain.sql(
                "INSERT INTO store (name, value) SELECT 'salvaging', value FROM store WHERE name = 'predecessor'")
            try spoil()
        }
        #expect(keychain.engine.isMalformed)
        try keychain.reopen()
        #expect(try setAside(keychain).count == 2)
        func expectAll(_ note: Comment) throws {
            #expect(try keychain.value("0") == "changed", note)
            #expect(try keychain.value("1") == nil, note)
            for index in 2..<5 { #expect(try keychain.value("\(index)") == "v\(index)", note) }
            #expect(try keychain.value("new") == "w", note)
        }
        try expectAll("at the opening")
        _ = try keychain.engine.doctor(.salvage)
        try expectAll("once more")
        _ = try keychain.call(.delete, keychain.item("3"))
        let names = try setAside(keychain).sorted()
        try FileManager.default.removeItem(atPath: keychain.folder.path + "/" + names[1])
        _ = try keychain.engine.doctor(.salvage)
        #expect(try keychain.value("1") == nil && keychain.value("3") == nil, "also where the second file is gone")
    }

    /// A file without a byte, or none, beside keys is no new store: its log is kept.
    @Test(arguments: [true, false]) func anEmptyDatabaseBesideItsKeysIsSetAside(_ isThere: Bool) throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        let path = keychain.folder.path
        let copy = try TemporaryDirectory()
        for name in ["keychain.db", "keychain.db-wal", "enclave"] {
            try FileManager.default.copyItem(atPath: path + "/" + name, toPath: copy.path + "/" + name)
        }
        try FileManager.default.removeItem(atPath: copy.path + "/enclave/lock")
        let log = try Data(contentsOf: URL(fileURLWithPath: copy.path + "/keychain.db-wal"))
        try FileManager.default.removeItem(atPath: copy.path + "/keychain.db")
        if isThere { try Data().write(to: URL(fileURLWithPath: copy.path + "/keychain.db")) }
        #expect(throws: KeychainError(.notAvailable, reason: .storeMalformed)) {
            try EngineUnderTest.open(copy.path, keychain.clock)
        }
        let engine = try EngineUnderTest.open(copy.path, keychain.clock)
        #expect(engine.storeID == keychain.engine.storeID)
        #expect(engine.openingEvent?.contains("set aside") == true)
        let kept = try FileManager.default.contentsOfDirectory(atPath: copy.path)
            .filter { $0.hasPrefix("keychain.db.damaged-") && $0.hasSuffix("-wal") }
        #expect(kept.count == 1 && !log.isEmpty)
        for name in kept { #expect(try Data(contentsOf: URL(fileURLWithPath: copy.path + "/" + name)) == log) }
        try engine.close()
    }

    /// An item that took the place of a damaged one was deleted: the damaged one,
    /// which opens again, stays where it is.
    @Test func whatALaterItemReplacedStaysDamaged() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "old")
        try keychain.sql("CREATE TABLE kept AS SELECT metadata FROM genp")
        try keychain.sql("UPDATE genp SET metadata = randomblob(length(metadata))")
        #expect(try keychain.value("a") == nil)
        try keychain.sql("UPDATE damaged SET metadata = (SELECT metadata FROM kept)")
        try keychain.add("a", "new")
        _ = try keychain.call(.delete, keychain.item("a"))
        #expect(try keychain.engine.doctor(.salvage).salvage?.restored == 0)
        #expect(try keychain.value("a") == nil)
    }

    /// Rows that somebody wrote into the file without the keys do not come in.
    @Test func whatFailsItsSealsIsNeverTakenOver() throws {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)") }
        try keychain.sql("UPDATE genp SET secret = zeroblob(length(secret)) WHERE rowid = 1")
        try keychain.sql(
            "UPDATE genp SET (wrapped_key, secret) = (SELECT wrapped_key, secret FROM genp o WHERE o.rowid = 3) WHERE rowid = 2"
        )
        try keychain.sql("UPDATE genp SET metadata = randomblob(length(metadata)) WHERE rowid = 4")
        let page = try keychain.number("SELECT rootpage FROM sqlite_schema WHERE name = 'genp_acct'")
        try keychain.reopen { try overwrite(keychain.databasePath, at: UInt64((page - 1) * 4096), 4096) }
        #expect(throws: KeychainError.self) { try keychain.add("new", "x") }
        try keychain.reopen()
        #expect(try keychain.number("SELECT count(*) FROM genp") == 2)
        #expect(try keychain.value("2") == "v2")
        #expect(try keychain.value("4") == "v4")
        let report = try keychain.engine.doctor(.salvage)
        #expect(report.salvage?.unopened == 3, "they stay in the file, counted")
    }

    /// A crash between any two steps of setting aside is carried on.
    @Test(arguments: 0...4) func aCrashWhileSettingAsideIsCarriedOn(_ steps: Int) throws {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)") }
        let copy = try TemporaryDirectory()
        // As after kill -9: the log still holds everything.
        let path = keychain.folder.path
        for name in ["keychain.db", "keychain.db-wal", "keychain.db-shm", "enclave"] {
            try FileManager.default.copyItem(atPath: path + "/" + name, toPath: copy.path + "/" + name)
        }
        try FileManager.default.removeItem(atPath: copy.path + "/enclave/lock")
        let folder = try PrivateDirectory(copy.path, creating: false)
        let marker = try StoreSetAside.mark(in: folder, storeID: keychain.engine.storeID, at: 0)
        for (from, to) in marker.renames.prefix(steps) { try folder.move(from, to: to) }
        let engine = try EngineUnderTest.open(copy.path, keychain.clock)
        let report = try engine.doctor(.verify)
        #expect(report.items[.genericPassword] == 5 && report.isIntact == true && report.inspection?.sound == 5)
        #expect(report.setAsideFiles == [marker.name])
        #expect(marker.name == "keychain.db.damaged-20010101T000000Z")
        #expect(try folder.holds(StoreSetAside.markerName) == false)
        try engine.close()
    }

    /// The next database was there already, and its opening was not over.
    @Test func aCrashBehindTheSettingAsideOfAGoneDatabaseIsCarriedOn() throws {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)") }
        let copy = try TemporaryDirectory()
        for name in ["keychain.db-wal", "keychain.db.witness", "enclave"] {
            try FileManager.default.copyItem(
                atPath: keychain.folder.path + "/" + name, toPath: copy.path + "/" + name)
        }
        try FileManager.default.removeItem(atPath: copy.path + "/enclave/lock")
        let folder = try PrivateDirectory(copy.path, creating: false)
        let marker = try StoreSetAside.mark(in: folder, storeID: keychain.engine.storeID, at: 0)
        let written = try #require(try folder.read(StoreSetAside.markerName, atMost: 4096))
        try EngineUnderTest.open(copy.path, keychain.clock).close()
        try folder.replace(StoreSetAside.markerName, with: written)
        let engine = try EngineUnderTest.open(copy.path, keychain.clock)
        let report = try engine.doctor(.verify)
        #expect(report.items[.genericPassword] == 5 && report.inspection?.sound == 5)
        #expect(report.setAsideFiles == [marker.name + "-wal"])
        try engine.close()
    }

    /// The new database is spoilt before its first opening was over.
    @Test func aSecondMalformedDatabaseIsSetAsideBesideTheFirst() throws {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)") }
        let id = keychain.engine.storeID
        try keychain.reopen {
            let folder = try PrivateDirectory(keychain.folder.path, creating: false)
            try StoreSetAside.mark(in: folder, storeID: id, at: 0).move(in: folder)
            try Data(repeating: 0xA5, count: 8192).write(to: URL(fileURLWithPath: keychain.databasePath))
        }
        #expect(try setAside(keychain).count == 2)
        #expect(keychain.engine.storeID == id)
        for index in 0..<5 { #expect(try keychain.value("\(index)") == "v\(index)") }
    }

    /// A database in the place of one that was set aside, whose page of `changes` is spoilt before the
    /// marker goes: SQLite opens it, and finds that out behind the opening's first look.
    ///
    /// - Parameter isKilled: the first one was not closed: its last commits lie in its log.
    private func spoiltBeforeItServed(settingAside count: Int, isKilled: Bool = false) throws -> EngineUnderTest {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)") }
        let id = keychain.engine.storeID
        let page = try keychain.number("SELECT rootpage FROM sqlite_schema WHERE name = 'changes'")
        let left = try (isKilled ? ["", "-wal", ".witness"] : []).map { suffix in
            let file = URL(fileURLWithPath: keychain.databasePath + suffix)
            return (file, try Data(contentsOf: file))
        }
        try keychain.close()
        for (file, bytes) in left { try bytes.write(to: file) }
        let folder = try PrivateDirectory(keychain.folder.path, creating: false)
        let made = try EngineUnderTest(at: TemporaryDirectory(), keychain.clock)
        try made.open()
        try made.close()
        try EngineUnderTest.execute("DELETE FROM store; DELETE FROM store_copy", in: made.databasePath)
        var spoilt = try Data(contentsOf: URL(fileURLWithPath: made.databasePath))
        spoilt.replaceSubrange((page - 1) * 4096..<page * 4096, with: Data(count: 4096))
        for _ in 0..<count {
            let marker = try StoreSetAside.mark(in: folder, storeID: id, at: 0)
            try marker.move(in: folder)
            try spoilt.write(to: URL(fileURLWithPath: keychain.databasePath))
        }
        return keychain
    }

    @Test func aDatabaseThatIsMalformedBeforeItsMarkerGoesIsSetAsideOnce() throws {
        let keychain = try spoiltBeforeItServed(settingAside: 1)
        let error = #expect(throws: KeychainError.self) { try keychain.open() }
        #expect(error?.reason == .storeMalformed)
        try keychain.open()
        #expect(try setAside(keychain).count == 2)
        for index in 0..<5 { #expect(try keychain.value("\(index)") == "v\(index)") }
        #expect(keychain.failure("5")?.reason == .nothingMatches)
        try keychain.reopen()
        #expect(keychain.engine.openingEvent == nil && !keychain.engine.isSpent)
        #expect(try setAside(keychain).count == 2)
    }

    /// The witness that lies there is the former one's yet: measured by it, a database that never
    /// served would lack all that was ever acknowledged.
    @Test(arguments: [1, 2]) func nothingIsMissedOfADatabaseThatNeverServed(_ count: Int) throws {
        let keychain = try spoiltBeforeItServed(settingAside: count, isKilled: true)
        #expect(throws: KeychainError.self) { try keychain.open() }
        try keychain.open()
        for index in 0..<5 { #expect(try keychain.value("\(index)") == "v\(index)") }
        #expect(keychain.failure("5")?.reason == .nothingMatches)
        try keychain.reopen()
        #expect(keychain.failure("5")?.reason == .nothingMatches)
    }

    /// A disk, or memory, that spoils each: it is said, nothing more is set aside, and the way
    /// back is a sound one.
    @Test func whereEachNewDatabaseIsMalformedNoMoreAreMade() throws {
        let keychain = try spoiltBeforeItServed(settingAside: 5)
        let before = try FileManager.default.contentsOfDirectory(atPath: keychain.folder.path).sorted()
        for _ in 0..<3 {
            let error = #expect(throws: KeychainError.self) { try keychain.open() }
            #expect(error?.reason == .inputOutput)
            #expect(error?.underlying?.contains("5 new databases in a row were malformed before they served") == true)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: keychain.folder.path).sorted() == before)
        try FileManager.default.moveItem(atPath: keychain.databasePath, toPath: keychain.folder.path + "/spoilt")
        try keychain.open()
        for index in 0..<5 { #expect(try keychain.value("\(index)") == "v\(index)") }
        try keychain.reopen()
        #expect(keychain.engine.openingEvent == nil)
    }

    /// Every row is whole, SQLite makes nothing of the file, and its header does not even say that
    /// it is ours (else it is put right where it lies: StoreHeaderTests).
    @Test(arguments: [0, 5, 15, 16, 19, 21, 22, 100])
    func aHeaderWithSeveralWrongBytesTakesNothingAlong(_ offset: Int) throws {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)") }
        try keychain.close()
        let url = URL(fileURLWithPath: keychain.databasePath)
        var bytes = try Data(contentsOf: url)
        for place in [offset, 68] { bytes[place] ^= 0xFF }
        try bytes.write(to: url)
        // What SQLite calls malformed, or ours no more, is told once.
        _ = #expect(throws: KeychainError.self) { try EngineUnderTest.open(keychain.folder.path, keychain.clock) }
        try keychain.open()
        for index in 0..<5 { #expect(try keychain.value("\(index)") == "v\(index)") }
        let kept = try #require(try setAside(keychain).first)
        #expect(FileManager.default.contents(atPath: "\(keychain.folder.path)/\(kept)") == bytes, "it is as it was")
        // Its log may have held more.
        #expect(keychain.failure("5")?.reason == .mayBeSetAside)
        _ = try keychain.engine.doctor(.acceptDamage)
        #expect(keychain.failure("5")?.reason == .nothingMatches)
    }

    /// It says nothing of the database.
    @Test(arguments: [true, false]) func aMarkerThatNobodyWroteIsSetAside(_ isFile: Bool) throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        let marker = keychain.folder.path + "/keychain.db.malformed"
        try keychain.reopen {
            if isFile {
                try Data("garbage".utf8).write(to: URL(fileURLWithPath: marker))
            } else {
                try FileManager.default.createDirectory(atPath: marker, withIntermediateDirectories: false)
            }
        }
        #expect(try keychain.value("a") == "1")
        #expect(try keychain.engine.doctor(.look).setAsideFiles.count == 1)
        #expect(!FileManager.default.fileExists(atPath: marker))
        try keychain.reopen()
        #expect(try keychain.value("a") == "1")
    }

    /// A newer version may be at work on it.
    @Test func aMarkerOfANewerVersionStaysWhereItIs() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.close()
        let marker = keychain.folder.path + "/keychain.db.malformed"
        try Data("latchkey set aside 2\n".utf8).write(to: URL(fileURLWithPath: marker))
        #expect(throws: KeychainError(.notAvailable, reason: .storeUnreadable)) {
            try EngineUnderTest.open(keychain.folder.path, keychain.clock)
        }
        #expect(FileManager.default.fileExists(atPath: marker))
    }

    /// Something called like a restore that was decided.
    @Test(arguments: ["file", "folder", "link"]) func aRestoreThatNobodyDecidedReplacesNothing(_ kind: String) throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        let ready = keychain.folder.path + "/restore.ready"
        let garbage = Data("garbage".utf8)
        try keychain.reopen {
            let files = FileManager.default
            switch kind {
            case "file": try garbage.write(to: URL(fileURLWithPath: ready))
            case "link": try files.createSymbolicLink(atPath: ready, withDestinationPath: "nowhere")
            default:
                try files.createDirectory(
                    atPath: ready, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
                try garbage.write(to: URL(fileURLWithPath: ready + "/keychain.db"))
            }
        }
        #expect(try keychain.value("a") == "1")
        let names = try FileManager.default.contentsOfDirectory(atPath: keychain.folder.path)
        let kept = try #require(names.first { $0.hasPrefix("replaced-") })
        #expect(!names.contains("restore.ready"))
        if kind == "folder" {
            #expect(FileManager.default.contents(atPath: "\(keychain.folder.path)/\(kept)/keychain.db") == garbage)
        }
    }

    @Test func aMalformedDatabaseWithoutItsKeybagIsLeftAlone() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.close()
        try overwrite(keychain.databasePath, at: 0, 4096)
        let damaged = try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath))
        try FileManager.default.moveItem(
            atPath: keychain.folder.path + "/enclave", toPath: keychain.folder.path + "/away")
        let error = #expect(throws: KeychainError.self) {
            try EngineUnderTest.open(keychain.folder.path, keychain.clock)
        }
        #expect(error?.reason == .keybagUnreadable)
        #expect(try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath)) == damaged)
        #expect(try setAside(keychain).isEmpty)
    }

    @Test func verifySeesColumnsThatLieAndSalvageMendsThem() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.add("b", "2")
        // Nothing else leads there.
        try keychain.sql(
            "UPDATE genp SET b_labl = randomblob(16), b_pair = NULL, pkey = randomblob(16) WHERE rowid = 1")
        let report = try keychain.engine.doctor(.verify)
        #expect(report.inspection?.mismatched == 1 && report.inspection?.sound == 1)
        #expect(try keychain.value("a") == nil, "it cannot be found")
        #expect(try keychain.engine.doctor(.salvage).inspection?.mended == 1)
        #expect(try keychain.value("a") == "1")
        #expect(try keychain.engine.doctor(.verify).inspection?.sound == 2)
    }
}
