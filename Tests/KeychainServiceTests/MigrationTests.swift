import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Testing

/// Databases that older programs wrote; Fixtures/format-1 is from the last
/// program that knew format 1 alone.
@Suite struct MigrationTests {
    /// The fixture in a folder of the test's own.
    func fixture(_ name: String = "format-1") throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        let source = try #require(Bundle.module.resourceURL).appending(path: "Fixtures/\(name)").path
        for file in ["keychain.db", "enclave"] {
            try FileManager.default.copyItem(atPath: source + "/" + file, toPath: folder.path + "/" + file)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path + "/enclave")
        return folder
    }

    func version(_ folder: TemporaryDirectory) throws -> Int {
        try EngineUnderTest.number("PRAGMA user_version", in: folder.path + "/keychain.db")
    }

    func expectItems(of engine: KeychainEngine) throws {
        var entitlements = Entitlements()
        entitlements.keychainAccessGroups = ["group.a", "group.b"]
        func value(_ query: [(String, RawValue)]) throws -> String? {
            let answer = try engine.answer(
                KeychainRequest(.copy, query: QueryDictionary(query + [("r_Data", .bool(true))])), for: Authorization(entitlements))
            return answer.rows.first?.value.map { String(decoding: $0.bytes.insecureArray(), as: UTF8.self) }
        }
        let generic: [(String, RawValue)] = [("class", .string("genp")), ("svce", .string("service"))]
        #expect(try value(generic + [("acct", .string("plain")), ("labl", .string("A label"))]) == "value of plain")
        #expect(try value(generic + [("acct", .string("afterFirstUnlock"))]) == "value of ck")
        #expect(try value(generic + [("acct", .string("always"))]) == "value of dku")
        #expect(try value(generic + [("agrp", .string("group.b"))]) == "value in b")
        #expect(try value([("class", .string("inet")), ("srvr", .string("example.com"))]) == "value of inet")
        #expect(try value([("class", .string("cert")), ("labl", .string("cert"))]) == "value of cert")
        #expect(try value([("class", .string("keys")), ("atag", .data(Array("tag".utf8)))]) == "value of key")
        let report = try engine.doctor(.verify)
        #expect(report.isIntact == true && report.inspection?.sound == 8 && report.inspection?.rows == 8)
        #expect(report.tombstones == 1 && report.damaged == 1)
    }

    /// What the last program of format 2 stored by `latchkey`.
    @Test func everyItemOfFormatTwoIsThereAfterMigration() throws {
        let folder = try fixture("format-2")
        #expect(try version(folder) == 2)
        var first: ChangePosition?
        for _ in 0..<2 {
            let engine = try EngineUnderTest.open(folder.path, ManualClock())
            try expectStoredByCommand(in: engine)
            // An observer begins at nothing, and one that has begun goes on.
            let position = try engine.changePosition(
                in: .searched, for: Authorization(Self.entitlementsOfCommand)
            ).position
            #expect(position.number == 0)
            if let first { #expect(position == first) }
            first = position
            try engine.close()
            #expect(try version(folder) == StoreSchema.format)
        }
    }

    @Test func everyItemOfFormatOneIsThereAfterMigration() throws {
        let folder = try fixture()
        #expect(try version(folder) == 1)
        for _ in 0..<2 {
            try openAndExpectItems(folder)
            #expect(try version(folder) == StoreSchema.format)
        }
    }

    func openAndExpectItems(_ folder: TemporaryDirectory) throws {
        let engine = try EngineUnderTest.open(folder.path, ManualClock())
        try expectItems(of: engine)
        try engine.close()
    }

    /// What a new store is made of and what migrations make are one thing.
    @Test func aMigratedStoreHasTheTablesOfANewOne() throws {
        let schema = "SELECT group_concat(sql, char(10)) FROM (SELECT sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY name)"
        let folder = try fixture()
        try EngineUnderTest.open(folder.path, ManualClock()).close()
        let fresh = try EngineUnderTest()
        #expect(
            try EngineUnderTest.text(schema, in: folder.path + "/keychain.db")
                == EngineUnderTest.text(schema, in: fresh.databasePath))
    }

    /// A step that fails, as after a crash in its middle, leaves the old format whole.
    @Test func aMigrationThatBreaksOffLeavesTheOldFormat() throws {
        let folder = try fixture()
        let before = try EngineUnderTest.text("SELECT group_concat(sql) FROM sqlite_schema", in: folder.path + "/keychain.db")
        let store = try Store(in: try PrivateDirectory(folder.path, creating: false))
        let chain = [
            StoreMigration(to: 2, ["CREATE TABLE half (a)", "UPDATE genp SET pdmn = 'dk'"]),
            StoreMigration(to: 3, ["DELETE FROM genp", "INSERT INTO nowhere VALUES (1)"]),
        ]
        #expect(throws: KeychainError.self) { try store.migrate(by: chain) }
        try store.close()
        #expect(try version(folder) == 1)
        #expect(try EngineUnderTest.text("SELECT group_concat(sql) FROM sqlite_schema", in: folder.path + "/keychain.db") == before)
        try openAndExpectItems(folder)
    }

    /// A keybag that is refused keeps the database from being migrated too.
    @Test func aStoreWhoseKeybagIsNewerIsNotMigrated() throws {
        let folder = try fixture()
        for copy in 0...1 {
            let path = URL(fileURLWithPath: "\(folder.path)/enclave/keybag.\(copy)")
            var bytes = try Data(contentsOf: path)
            bytes[11] = 9
            // Authentic to the newer program alone.
            bytes[bytes.count - 1] ^= 1
            try bytes.write(to: path)
        }
        let files = try contents(of: folder)
        let error = #expect(throws: KeychainError.self) { try EngineUnderTest.open(folder.path, ManualClock()) }
        #expect(error?.reason == .storeNewer(version: 9))
        #expect(try version(folder) == 1)
        #expect(try contents(of: folder) == files)
    }

    @Test(arguments: [true, false]) func aNewerStoreIsRefusedAndNothingIsWritten(inTheLogAlone: Bool) throws {
        let folder: TemporaryDirectory
        if inTheLogAlone {
            // As after a crash of the newer program: header old, log new.
            let keychain = try EngineUnderTest()
            try keychain.add("a", "1")
            try keychain.sql("PRAGMA user_version = 9")
            for table in ["store", "store_copy"] {
                try keychain.sql("UPDATE \(table) SET value = x'4022000000000000' WHERE name = 'format'")
            }
            folder = try TemporaryDirectory()
            for name in ["keychain.db", "keychain.db-wal", "keychain.db-shm", "enclave"] {
                try FileManager.default.copyItem(atPath: keychain.folder.path + "/" + name, toPath: folder.path + "/" + name)
            }
        } else {
            folder = try fixture()
            try EngineUnderTest.execute("PRAGMA user_version = 9", in: folder.path + "/keychain.db")
            try? FileManager.default.removeItem(atPath: folder.path + "/keychain.db-wal")
            try? FileManager.default.removeItem(atPath: folder.path + "/keychain.db-shm")
        }
        let before = try contents(of: folder)
        let error = #expect(throws: KeychainError.self) { try EngineUnderTest.open(folder.path, ManualClock()) }
        #expect(error?.status == .notAvailable && error?.reason == .storeNewer(version: 9))
        #expect(error?.reason.explanation.contains("install that version") == true)
        #expect(try contents(of: folder) == before)
    }

    /// Files of the store by name; the index of the log is no content.
    func contents(of folder: TemporaryDirectory) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        where !name.hasSuffix("lock") && !name.hasSuffix("-shm") && name != "enclave" {
            found[name] = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name))
        }
        return found
    }
}

extension MigrationTests {
    static var entitlementsOfCommand: Entitlements {
        var entitlements = Entitlements()
        entitlements.keychainAccessGroups = ["latchkey"]
        return entitlements
    }

    /// Three items that `latchkey` stored in more than one fixture.
    private func expectStoredByCommand(in engine: KeychainEngine) throws {
        func value(_ query: [(String, RawValue)]) throws -> String? {
            let request = KeychainRequest(.copy, query: QueryDictionary(query + [("r_Data", .bool(true))]))
            return try engine.answer(request, for: Authorization(Self.entitlementsOfCommand)).rows.first?.value.map {
                String(decoding: $0.bytes.insecureArray(), as: UTF8.self)
            }
        }
        let generic: [(String, RawValue)] = [("class", .string("genp")), ("svce", .string("service"))]
        #expect(try value(generic + [("acct", .string("plain")), ("labl", .string("A label"))]) == "value of plain")
        #expect(try value(generic + [("acct", .string("second"))]) == "value of second")
        #expect(try value([("class", .string("inet")), ("srvr", .string("example.com"))]) == "value of inet")
        let report = try engine.doctor(.verify)
        #expect(report.isIntact == true && report.inspection?.sound == 3 && report.inspection?.rows == 3)
    }

    /// What the last program of format 6 stored by `latchkey`: what stands once there stands twice then.
    @Test func everyItemOfFormatSixIsThereAfterMigration() throws {
        let folder = try fixture("format-6")
        #expect(try version(folder) == 6)
        for _ in 0..<2 {
            let engine = try EngineUnderTest.open(folder.path, ManualClock())
            try expectStoredByCommand(in: engine)
            #expect(engine.openingEvent == nil)
            try engine.close()
            #expect(try version(folder) == StoreSchema.format)
            let database = folder.path + "/keychain.db"
            func count(_ sql: String) throws -> Int { try EngineUnderTest.number(sql, in: database) }
            #expect(try count("SELECT count(*) FROM metadata_keys_copy") == 1)
            #expect(try count("SELECT count(*) FROM store_copy") == 3)
            for (table, copy) in [("store", "store_copy"), ("metadata_keys", "metadata_keys_copy")] {
                #expect(try count("SELECT count(*) FROM (SELECT * FROM \(table) EXCEPT SELECT * FROM \(copy))") == 0)
            }
        }
    }

    /// What the last program of format 5 stored by `latchkey`.
    @Test func everyItemOfFormatFiveIsThereAfterMigration() throws {
        let folder = try fixture("format-5")
        #expect(try version(folder) == 5)
        for round in 0..<2 {
            let engine = try EngineUnderTest.open(folder.path, ManualClock())
            var entitlements = Entitlements()
            entitlements.keychainAccessGroups = ["latchkey"]
            func call(
                _ operation: KeychainRequest.Operation, _ query: [(String, RawValue)],
                changes: [(String, RawValue)] = []
            ) throws -> KeychainAnswer {
                try engine.answer(
                    KeychainRequest(operation, query: QueryDictionary(query), changes: QueryDictionary(changes)),
                    for: Authorization(entitlements))
            }
            let plain: [(String, RawValue)] = [
                ("class", .string("genp")), ("svce", .string("service")), ("acct", .string("plain")),
            ]
            let row = try call(.copy, plain + [("r_Data", .bool(true)), ("r_Attributes", .bool(true))]).rows.first
            #expect(row?.value?.bytes.insecureArray() == Array("value of plain".utf8))
            #expect(row?.attributes[.label] == .string("A label"))
            let look = try #require(LookupAttributes([.init(name: "round", value: "last")])).encoded
            #expect((row?.attributes[.lookup] == nil) == (round == 0))
            _ = try call(.update, plain, changes: [("look", .data(look))])
            let found = try call(.copy, [("class", .string("genp")), ("look", .data(look)), ("r_Attributes", .bool(true))])
            #expect(found.rows.map { $0.attributes[.account] } == [.string("plain")])
            let report = try engine.doctor(.verify)
            #expect(report.isIntact == true && report.inspection?.sound == 3 && report.inspection?.rows == 3)
            try engine.close()
            #expect(try version(folder) == StoreSchema.format)
        }
    }
}
