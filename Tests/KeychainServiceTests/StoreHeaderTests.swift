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
    private static let filler = String(repeating: "x", count: 2500)
    private static let kept = ["0", "2", "3"]

    /// A store that was closed; with pages that are in no use, or none.
    private func filled(withFreePages: Bool) throws -> EngineUnderTest {
        let keychain = try EngineUnderTest()
        for account in Self.kept { try keychain.add(account, "v" + account) }
        if withFreePages {
            for index in 10..<20 { try keychain.add("\(index)", Self.filler) }
            for index in 10..<20 { _ = try keychain.call(.delete, keychain.item("\(index)")) }
        }
        try keychain.close()
        let free = try EngineUnderTest.number("PRAGMA freelist_count", in: keychain.databasePath)
        #expect((free > 0) == withFreePages)
        return keychain
    }

    private func copy(of keychain: EngineUnderTest, _ file: Data) throws -> EngineUnderTest {
        let folder = try TemporaryDirectory()
        for name in ["keychain.db.witness", "enclave"] {
            try FileManager.default.copyItem(
                atPath: keychain.folder.path + "/" + name, toPath: folder.path + "/" + name)
        }
        try file.write(to: URL(fileURLWithPath: folder.path + "/keychain.db"))
        return try EngineUnderTest(at: folder, keychain.clock)
    }

    private func expectServing(_ keychain: EngineUnderTest, _ note: Comment) throws {
        for account in Self.kept { #expect(try keychain.value(account) == "v" + account, note) }
        for index in 20..<30 { try keychain.add("\(index)", Self.filler) }
        for index in 20..<30 { #expect(try keychain.value("\(index)") == Self.filler, note) }
        for account in Self.kept { #expect(try keychain.value(account) == "v" + account, note) }
        let report = try keychain.engine.doctor(.verify)
        #expect(report.isIntact == true && report.inspection?.sound == 13, note)
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

    /// What of them is put right where it lies: nothing is told malformed.
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
                let count = try tellings(damaged, note)
                #expect(count <= (Self.mended.contains(offset) ? 0 : 1), note)
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
        let keychain = try EngineUnderTest()
        for account in Self.kept { try keychain.add(account, "before") }
        try keychain.reopen()
        for account in Self.kept { _ = try keychain.call(.update, keychain.item(account), value: "v" + account) }
        let folder = try TemporaryDirectory()
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
