import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Testing

/// The first hundred bytes of the database: none of them is a dead end, and none makes
/// anything of it that it is not.
@Suite struct StoreHeaderTests {
    /// Of several pages.
    private static let filler = String(repeating: "x", count: 12_000)
    private static let kept = ["0", "2", "3"]
    private static let added = ["20", "21"]

    /// By whether they have pages that are in no use; both are made once and copied.
    private static let prepared = Result {
        try [false: prepare(withFreePages: false), true: prepare(withFreePages: true)]
    }

    private static func prepare(withFreePages: Bool) throws -> StoreSnapshot {
        let keychain = try EngineUnderTest(at: TemporaryDirectory.inMemory(), ManualClock())
        try keychain.open()
        for account in kept { try keychain.add(account, "v" + account) }
        if withFreePages {
            for account in ["10", "11"] { try keychain.add(account, filler) }
            for account in ["10", "11"] { _ = try keychain.call(.delete, keychain.item(account)) }
        }
        try keychain.close()
        let free = try EngineUnderTest.number("PRAGMA freelist_count", in: keychain.databasePath)
        #expect(withFreePages ? free > 4 : free == 0)
        return try StoreSnapshot(of: keychain.folder)
    }

    /// A store that was closed; with pages that are in no use, or none.
    private func filled(withFreePages: Bool) throws -> EngineUnderTest {
        try EngineUnderTest(#require(try Self.prepared.get()[withFreePages]))
    }

    private func copy(of keychain: EngineUnderTest, _ file: Data) throws -> EngineUnderTest {
        let copy = try EngineUnderTest(StoreSnapshot(of: keychain.folder), keychain.clock)
        try file.write(to: URL(fileURLWithPath: copy.databasePath))
        return copy
    }

    private func expectServing(_ keychain: EngineUnderTest, _ note: Comment) throws {
        for account in Self.kept { #expect(try keychain.value(account) == "v" + account, note) }
        for account in Self.added { try keychain.add(account, Self.filler) }
        let expected = Dictionary(
            uniqueKeysWithValues: Self.kept.map { ($0, "v" + $0) } + Self.added.map { ($0, Self.filler) })
        #expect(try keychain.values() == expected, note)
        let report = try keychain.engine.doctor(.verify)
        #expect(report.isIntact == true && report.inspection?.sound == expected.count, note)
        #expect(report.damaged == 0, note)
    }

    /// - Returns: how often it was told that the database is malformed.
    private func tellings(_ keychain: EngineUnderTest, _ note: Comment) throws -> Int {
        for round in 0..<3 {
            do throws(KeychainError) {
                try attempt(keychain, note)
                return round
            } catch {
                #expect(error.reason == .storeMalformed, note)
            }
        }
        Issue.record(note)
        return 3
    }

    private func attempt(_ keychain: EngineUnderTest, _ note: Comment) throws(KeychainError) {
        do {
            try keychain.open()
            do {
                try expectServing(keychain, note)
                try keychain.close()
            } catch {
                try keychain.close()
                throw error
            }
        } catch {
            throw error as? KeychainError
                ?? KeychainError(.notAvailable, reason: .storeUnreadable, underlying: "\(error)")
        }
    }

    /// Nothing is told malformed, and every byte is as it was: what serves from then on is the
    /// database that serves in every other test.
    private func expectMended(_ keychain: EngineUnderTest, _ whole: Data, _ note: Comment) throws {
        try keychain.open()
        #expect(try keychain.values() == Dictionary(uniqueKeysWithValues: Self.kept.map { ($0, "v" + $0) }), note)
        #expect(keychain.engine.openingEvent?.contains("header had changed") == true, note)
        try keychain.close()
        var file = try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath))
        // A format that is put right is a commit, which is counted.
        for counter in [24..<28, 92..<96] { file.replaceSubrange(counter, with: whole[counter]) }
        #expect(file == whole, note)
    }

    /// What of them is put right where it lies.
    private static let mended = Set([0..<24, 44..<72, 72..<92].joined())

    @Test(arguments: 0..<10, [false, true]) func noByteOfTheHeaderIsADeadEnd(_ ten: Int, _ withFreePages: Bool) throws {
        let keychain = try filled(withFreePages: withFreePages)
        let whole = try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath))
        for offset in ten * 10..<ten * 10 + 10 {
            for change in [1 << UInt8(offset % 8), 0xFF] as [UInt8] {
                let note: Comment = "byte \(offset) ^ \(change), free pages: \(withFreePages)"
                var file = whole
                file[offset] ^= change
                let damaged = try copy(of: keychain, file)
                if Self.mended.contains(offset) {
                    try expectMended(damaged, whole, note)
                } else {
                    #expect(try tellings(damaged, note) <= 1, note)
                }
            }
        }
    }

    /// The numbers whose every bit decides what is done with the file.
    @Test(arguments: [60..<64, 68..<72]) func noBitOfTheFormatOrTheApplicationIsADeadEnd(_ bytes: Range<Int>) throws {
        let keychain = try filled(withFreePages: false)
        let whole = try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath))
        for offset in bytes {
            for bit in 0..<8 as Range<UInt8> {
                let note: Comment = "byte \(offset), bit \(bit)"
                var file = whole
                file[offset] ^= 1 << bit
                let damaged = try copy(of: keychain, file)
                #expect(try tellings(damaged, note) == 0, note)
                let after = try Data(contentsOf: URL(fileURLWithPath: damaged.databasePath))
                #expect(after[bytes] == whole[bytes], note)
            }
        }
    }

    @Test func thatAHeaderWasMendedIsToldOnce() throws {
        let keychain = try filled(withFreePages: false)
        for offset in [7, 47, 63, 71] {
            var file = try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath))
            file[offset] ^= 0x10
            try file.write(to: URL(fileURLWithPath: keychain.databasePath))
            try keychain.open()
            #expect(keychain.engine.openingEvent?.contains("header had changed") == true, "\(offset)")
            try keychain.reopen()
            #expect(keychain.engine.openingEvent == nil, "\(offset)")
            try keychain.close()
        }
    }

    /// What is in the log is not lost for a byte in the database: SQLite deletes the log of a file
    /// that it makes nothing of.
    @Test(arguments: [0, 16, 19, 47, 56, 60, 63, 68]) func theLogBesideADamagedHeaderIsRead(_ offset: Int) throws {
        let keychain = try EngineUnderTest(at: TemporaryDirectory.inMemory(), ManualClock())
        try keychain.open()
        for account in Self.kept { try keychain.add(account, "before") }
        try keychain.reopen()
        for account in Self.kept { _ = try keychain.call(.update, keychain.item(account), value: "v" + account) }
        let folder = try TemporaryDirectory.inMemory()
        for name in ["keychain.db", "keychain.db-wal", "keychain.db.witness", "enclave"] {
            try FileManager.default.copyItem(
                atPath: keychain.folder.path + "/" + name, toPath: folder.path + "/" + name)
        }
        try FileManager.default.removeItem(atPath: folder.path + "/enclave/lock")
        var file = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/keychain.db"))
        file[offset] ^= 0xFF
        try file.write(to: URL(fileURLWithPath: folder.path + "/keychain.db"))
        let damaged = try EngineUnderTest(at: folder, keychain.clock)
        try damaged.open()
        for account in Self.kept { #expect(try damaged.value(account) == "v" + account) }
        #expect(damaged.failure("none")?.reason == .nothingMatches)
        try damaged.close()
    }

    /// It says so in all three places, or in two of them.
    @Test(arguments: [0, 1, 2, 3]) func aNewerDatabaseIsOneThatTwoOfThreePlacesSayIsNewer(_ places: Int) throws {
        let keychain = try filled(withFreePages: false)
        let edits = [
            "PRAGMA user_version = 9", "UPDATE store SET value = x'4022000000000000' WHERE name = 'format'",
            "UPDATE store_copy SET value = x'4022000000000000' WHERE name = 'format'",
        ]
        for edit in edits.prefix(places) { try EngineUnderTest.execute(edit, in: keychain.databasePath) }
        let before = try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath))
        if places < 2 {
            try keychain.open()
            #expect(try keychain.value("0") == "v0")
        } else {
            let error = #expect(throws: KeychainError.self) { try keychain.open() }
            #expect(error?.reason == .storeNewer(version: 9))
            #expect(try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath)) == before)
        }
    }

    /// What became of a newer database, in places of which none alone is believed.
    enum Newer: CaseIterable {
        case downToOurs, downToAnOldOne, downAndALaterByteWrong, downAndTheFirstBytesWrong, theFirstBytesWrong,
            firstRecordGone, secondRecordWrong

        var sql: String {
            switch self {
            case .downToOurs, .downAndALaterByteWrong, .downAndTheFirstBytesWrong: "PRAGMA user_version = 7"
            case .downToAnOldOne: "PRAGMA user_version = 2"
            case .theFirstBytesWrong: "PRAGMA user_version = 8"
            case .firstRecordGone: "DELETE FROM store WHERE name = 'format'"
            case .secondRecordWrong: "UPDATE store_copy SET value = x'401c000000000000' WHERE name = 'format'"
            }
        }

        /// That are the same in every database of ours; SQLite does not look at the one, and
        /// makes nothing of the file for the others.
        var bytes: [Int] {
            switch self {
            case .downAndALaterByteWrong: [72]
            case .downAndTheFirstBytesWrong: [0, 21]
            case .theFirstBytesWrong: [3]
            case .downToOurs, .downToAnOldOne, .firstRecordGone, .secondRecordWrong: []
            }
        }
    }

    /// A newer program may write other bytes where ours are always the same.
    @Test(arguments: Newer.allCases, [false, true])
    func aNewerDatabaseIsNotTouchedThoughOneOfThreePlacesIsWrong(_ newer: Newer, _ besideALog: Bool) throws {
        let keychain = try filled(withFreePages: false)
        if besideALog { try keychain.open() }
        try keychain.sql("UPDATE store SET value = x'4020000000000000' WHERE name = 'format'")
        try keychain.sql("UPDATE store_copy SET value = x'4020000000000000' WHERE name = 'format'")
        try keychain.sql("PRAGMA user_version = 8")
        try keychain.sql(newer.sql)
        let folder = try TemporaryDirectory.inMemory()
        for name in try FileManager.default.contentsOfDirectory(atPath: keychain.folder.path) {
            try FileManager.default.copyItem(
                atPath: keychain.folder.path + "/" + name, toPath: folder.path + "/" + name)
        }
        if besideALog { try FileManager.default.removeItem(atPath: folder.path + "/enclave/lock") }
        let path = folder.path + "/keychain.db"
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        for offset in newer.bytes { file[offset] ^= 0x10 }
        try file.write(to: URL(fileURLWithPath: path))
        let log = FileManager.default.contents(atPath: path + "-wal")
        #expect((log?.isEmpty == false) == besideALog)
        for _ in 0..<2 {
            let error = #expect(throws: KeychainError.self) { try EngineUnderTest.open(folder.path, keychain.clock) }
            #expect(error?.reason == .storeNewer(version: 8))
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == file)
            #expect(FileManager.default.contents(atPath: path + "-wal") == log)
        }
        // Who only reads is told the same.
        guard newer != .downAndTheFirstBytesWrong else { return }
        let directory = try PrivateDirectory(folder.path, creating: false)
        let refused = #expect(throws: KeychainError.self) {
            try StoreBackup.write(directory, to: folder.path + "/backup", at: 0) { () throws(KeychainError) in [] }
        }
        #expect(refused?.reason == .storeNewer(version: 8))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == file)
    }

    /// The header of a backup is one witness of three as well.
    @Test(arguments: [(7, "401c"), (9, "401c"), (7, "4020"), (8, "4020")])
    func aBackupIsOfTheFormatThatTwoOfThreePlacesSay(_ header: Int, _ record: String) throws {
        let keychain = try filled(withFreePages: false)
        let backup = keychain.folder.path + "/backup"
        let directory = try PrivateDirectory(keychain.folder.path, creating: false)
        _ = try StoreBackup.write(directory, to: backup, at: 0) { () throws(KeychainError) in [] }
        for table in ["store", "store_copy"] {
            try EngineUnderTest.execute(
                "UPDATE \(table) SET value = x'\(record)000000000000' WHERE name = 'format'", in: backup)
        }
        try EngineUnderTest.execute("PRAGMA user_version = \(header)", in: backup)
        if record == "401c" {
            try StoreBackup.check(backup)
        } else {
            let error = #expect(throws: KeychainError.self) { try StoreBackup.check(backup) }
            #expect(error?.reason == .storeNewer(version: 8))
        }
    }

    /// A file of another program, with or without our tables, is taken by nobody.
    @Test func aDatabaseOfAnotherProgramIsNoneOfOurs() throws {
        let keychain = try filled(withFreePages: false)
        try EngineUnderTest.execute(
            "PRAGMA application_id = 7; DELETE FROM store WHERE name = 'format'", in: keychain.databasePath)
        let before = try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath))
        let error = #expect(throws: KeychainError.self) { try keychain.open() }
        #expect(error?.reason == .storeUnreadable)
        #expect(try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath)) == before)
    }
}
