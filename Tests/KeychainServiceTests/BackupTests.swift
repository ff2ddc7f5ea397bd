import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Synchronization
import Testing

@Suite struct BackupTests {
    let elsewhere: TemporaryDirectory
    var backup: String { elsewhere.path + "/keychain.backup" }

    init() throws { elsewhere = try TemporaryDirectory() }

    func make(_ keychain: EngineUnderTest, replacing: Bool = false) throws {
        try BackupMaking(of: keychain.folder.path, clock: keychain.clock).write(to: backup, replacing: replacing)
    }

    func restore(into folder: TemporaryDirectory, at moment: ManualClock = ManualClock()) throws -> Restoration.Outcome
    {
        try Restoration(into: try PrivateDirectory(folder.path, creating: false), clock: moment).run(from: backup)
    }

    /// A store with items 0 to 4, of which 3 is synchronizable and deleted.
    func filled() throws -> EngineUnderTest {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)", index == 3 ? [("sync", .bool(true))] : []) }
        _ = try keychain.call(.delete, keychain.item("3") + [("sync", .bool(true))])
        try keychain.add("large", String(repeating: "x", count: 300_000), [("pdmn", .string("ck"))])
        return keychain
    }

    func values(in folder: TemporaryDirectory) throws -> [String: String] {
        let engine = try EngineUnderTest.open(folder.path, ManualClock())
        var entitlements = Entitlements()
        entitlements.keychainAccessGroups = ["group.a", "group.b"]
        let query = QueryDictionary([
            ("class", .string("genp")), ("m_Limit", .string("m_LimitAll")), ("r_Data", .bool(true)),
            ("r_Attributes", .bool(true)),
        ])
        var found: [String: String] = [:]
        for row in try engine.answer(KeychainRequest(.copy, query: query), for: Authorization(entitlements)).rows {
            found[row.attributes[.account]?.string ?? ""] =
                row.value.map { String(decoding: $0.bytes.insecureArray(), as: UTF8.self) }
        }
        #expect(try engine.doctor(.verify).inspection?.unopened == 0)
        try engine.close()
        return found
    }

    static let expected = ["0": "v0", "1": "v1", "2": "v2", "4": "v4", "large": String(repeating: "x", count: 300_000)]

    @Test func oneFileRestoresEverythingElsewhere() throws {
        let keychain = try filled()
        try make(keychain)
        try keychain.add("later", "not in it")
        let folder = try TemporaryDirectory()
        let outcome = try restore(into: folder)
        #expect(outcome.inspection.rows == 6 && outcome.inspection.sound == 6)
        #expect(try values(in: folder) == Self.expected)
        #expect(
            try EngineUnderTest.number("SELECT count(*) FROM genp WHERE tomb = 1", in: folder.path + "/keychain.db")
                == 1)
    }

    /// SQLite deletes the log of a database without a byte, also where it only reads.
    @Test func aBackupOfADatabaseThatIsGoneLeavesItsLog() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        let log = keychain.databasePath + "-wal"
        let content = try Data(contentsOf: URL(fileURLWithPath: log))
        try keychain.reopenMalformed {
            try Data().write(to: URL(fileURLWithPath: keychain.databasePath))
            try content.write(to: URL(fileURLWithPath: log))
            let directory = try PrivateDirectory(keychain.folder.path, creating: false)
            let error = #expect(throws: KeychainError.self) {
                try StoreBackup.write(directory, to: keychain.folder.path + "/backup", at: 0) { [] }
            }
            #expect(error?.reason == .storeUnreadable)
            #expect(try Data(contentsOf: URL(fileURLWithPath: log)) == content)
        }
        #expect(try keychain.value("a") == "1")
    }

    /// Its seals are whole; without that nothing would lead to it.
    @Test func whatABackupsColumnsDoNotLeadToIsFoundAfterARestore() throws {
        let keychain = try filled()
        try make(keychain)
        try EngineUnderTest.execute(
            "UPDATE genp SET b_acct = randomblob(16), b_pair = randomblob(16), pkey = randomblob(16) WHERE rowid = 2",
            in: backup)
        let folder = try TemporaryDirectory()
        let outcome = try restore(into: folder)
        #expect(outcome.inspection.mended == 1 && outcome.inspection.sound == 5 && outcome.inspection.mismatched == 0)
        let engine = try EngineUnderTest.open(folder.path, ManualClock())
        var entitlements = Entitlements()
        entitlements.keychainAccessGroups = ["group.a"]
        let query = QueryDictionary(keychain.item("1") + [("r_Data", .bool(true))])
        let rows = try engine.answer(KeychainRequest(.copy, query: query), for: Authorization(entitlements)).rows
        #expect(rows.first?.value.map { String(decoding: $0.bytes.insecureArray(), as: UTF8.self) } == "v1")
        #expect(try engine.doctor(.verify).inspection?.sound == 6)
        try engine.close()
    }

    /// Nobody has asked for it yet, and whoever looks at the whole hears of it.
    @Test func whatDoesNotOpenInABackupIsDamageFromTheRestoreOn() throws {
        let keychain = try filled()
        try make(keychain)
        try EngineUnderTest.execute("UPDATE genp SET secret = randomblob(length(secret)) WHERE rowid = 2", in: backup)
        let folder = try TemporaryDirectory()
        let outcome = try restore(into: folder)
        #expect(outcome.inspection.unopened == 1 && outcome.inspection.sound == 5)
        let engine = try EngineUnderTest.open(folder.path, ManualClock())
        let report = try engine.doctor(.look)
        #expect(report.damaged == 1 && report.hasNewDamage)
        #expect(try engine.doctor(.verify).inspection?.sound == 5)
        try engine.close()
    }

    @Test func theFileIsForUsAloneAndNothingIsLeftBesideIt() throws {
        let keychain = try filled()
        try make(keychain)
        let attributes = try FileManager.default.attributesOfItem(atPath: backup)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == ["keychain.backup"])
        // Nobody takes it for a store.
        let folder = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: backup, toPath: folder.path + "/keychain.db")
        let error = #expect(throws: KeychainError.self) { try EngineUnderTest.open(folder.path, ManualClock()) }
        #expect(error?.reason == .storeUnreadable)
    }

    /// A sticky folder is another matter: there nobody can rename what is ours.
    @Test(arguments: [(0o777, false), (0o770, false), (0o702, false), (0o1777, true), (0o755, true)])
    func aFolderInWhichOthersCanReplaceItIsRefused(_ mode: Int, _ isTaken: Bool) throws {
        let keychain = try filled()
        let files = FileManager.default
        try files.setAttributes([.posixPermissions: mode], ofItemAtPath: elsewhere.path)
        if isTaken {
            try make(keychain)
            #expect(try files.contentsOfDirectory(atPath: elsewhere.path) == ["keychain.backup"])
        } else {
            let error = #expect(throws: BackupMaking.Failure.self) { try make(keychain) }
            let isRefused = if case .writableByOthers(elsewhere.path) = error { true } else { false }
            #expect(isRefused, "\(String(describing: error))")
            #expect(try files.contentsOfDirectory(atPath: elsewhere.path).isEmpty)
        }
    }

    /// What a killed backup left goes with the next; what is in use, or only looks
    /// like it, stays.
    @Test func whatAKilledBackupLeftIsRemoved() throws {
        let keychain = try filled()
        let files = FileManager.default
        for (name, mode) in [("left00", 0o700), ("used00", 0o700), ("open00", 0o755)] {
            let folder = elsewhere.path + "/.latchkey-unfinished-" + name
            try files.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: mode])
            try Data("half a keychain".utf8).write(to: URL(fileURLWithPath: folder + "/content"))
        }
        let used = try PrivateDirectory(elsewhere.path + "/.latchkey-unfinished-used00", creating: false)
        let lock = try #require(try FileLock.take(try used.openFile("temp.lock", creating: true)))
        try make(keychain)
        let expected = [".latchkey-unfinished-open00", ".latchkey-unfinished-used00", "keychain.backup"]
        #expect(try files.contentsOfDirectory(atPath: elsewhere.path).sorted() == expected)
        #expect(files.fileExists(atPath: used.path + "/content"))
        lock.release()
        try make(keychain, replacing: true)
        #expect(try files.contentsOfDirectory(atPath: elsewhere.path).sorted() == [expected[0], expected[2]])
    }

    @Test func aFileThatIsThereIsReplacedOnlyWhenAsked() throws {
        let keychain = try filled()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: backup))
        let error = #expect(throws: BackupMaking.Failure.self) { try make(keychain) }
        let isThere = if case .isThere = error { true } else { false }
        #expect(isThere, "\(String(describing: error))")
        #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == Data("mine".utf8))
        try make(keychain, replacing: true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == ["keychain.backup"])
        let folder = try TemporaryDirectory()
        _ = try restore(into: folder)
        #expect(try values(in: folder) == Self.expected)
    }

    /// Pairs are written in one order; a backup that has the second has the first.
    @Test func aBackupOfAStoreThatIsWrittenToIsOfOneMoment() async throws {
        let keychain = try EngineUnderTest()
        try keychain.add("before", "b")
        let (engine, entitlements) = (keychain.engine, keychain.entitlements)
        let done = Atomic(false)
        let writer = Task.detached {
            var count = 0
            while !done.load(ordering: .relaxed) {
                for kind in ["first", "second"] {
                    let query = QueryDictionary([
                        ("class", .string("genp")), ("svce", .string(kind)), ("acct", .string("\(count)")),
                    ])
                    _ = try engine.answer(KeychainRequest(.add, query: query), for: Authorization(entitlements))
                }
                count += 1
            }
            return count
        }
        for round in 0..<5 { try make(keychain, replacing: round > 0) }
        done.store(true, ordering: .relaxed)
        _ = try await writer.value
        let folder = try TemporaryDirectory()
        _ = try restore(into: folder)
        let restored = try EngineUnderTest.open(folder.path, ManualClock())
        func accounts(_ service: String) throws -> Set<String> {
            do throws(KeychainError) {
                let query = QueryDictionary([
                    ("class", .string("genp")), ("svce", .string(service)), ("m_Limit", .string("m_LimitAll")),
                    ("r_Attributes", .bool(true)),
                ])
                let rows = try restored.answer(KeychainRequest(.copy, query: query), for: Authorization(entitlements))
                    .rows
                return Set(rows.compactMap { $0.attributes[.account]?.string })
            } catch {
                guard error.status == .itemNotFound else { throw error }
                return []
            }
        }
        let (first, second) = (try accounts("first"), try accounts("second"))
        #expect(second.isSubset(of: first) && first.count - second.count <= 1)
        try restored.close()
    }

    /// Class keys that go while the database is copied may be those of its rows.
    @Test func aCopyWhoseKeysWereOthersBeforeItIsMadeAgain() throws {
        let keychain = try filled()
        let folder = try PrivateDirectory(keychain.folder.path, creating: false)
        var asked = 0
        _ = try StoreBackup.write(folder, to: backup, at: 0) { () throws(KeychainError) in
            asked += 1
            return [("keybag.0", asked < 4 ? [UInt8(asked)] : [9])]
        }
        // One pair of answers is needed that is the same.
        #expect(asked == 6)
        let copy = elsewhere.path + "/copy"
        let files = try StoreBackup.read(backup, to: copy)
        #expect(files.map(\.name) == ["keybag.0"] && files.map(\.content) == [[9]])
        #expect(try EngineUnderTest.number("SELECT count(*) FROM genp WHERE tomb = 0", in: copy) == 5)
        try FileManager.default.removeItem(atPath: backup)
        #expect(throws: KeychainError(.notAvailable, reason: .busy)) {
            _ = try StoreBackup.write(folder, to: backup, at: 0) { () throws(KeychainError) in
                asked += 1
                return [("keybag.0", [UInt8(asked)])]
            }
        }
    }

    @Test func whatWasThereIsSetAsideWholeAndOpensThere() throws {
        let keychain = try filled()
        try make(keychain)
        let other = try EngineUnderTest()
        try other.add("theirs", "old")
        try other.close()
        #expect(try Restoration.wouldReplaceItems(in: try PrivateDirectory(other.folder.path, creating: false)))
        let outcome = try restore(into: other.folder)
        #expect(try values(in: other.folder) == Self.expected)
        let aside = try EngineUnderTest.open(other.folder.path + "/" + outcome.aside, ManualClock())
        #expect(try aside.doctor(.verify).inspection?.sound == 1)
        try aside.close()
    }

    /// Killed between any two renames: nothing decided, the old store; decided, the new one.
    @Test(arguments: [true, false], 0...8)
    func aRestoreThatWasCutShortLeavesTheOldOrTheNew(isDecided: Bool, steps: Int) throws {
        let keychain = try filled()
        try make(keychain)
        let other = try EngineUnderTest()
        try other.add("theirs", "old")
        // As after kill -9: with its log.
        let folder = try TemporaryDirectory()
        for name in ["keychain.db", "keychain.db-wal", "keychain.db-shm", "enclave"] {
            try FileManager.default.copyItem(atPath: other.folder.path + "/" + name, toPath: folder.path + "/" + name)
        }
        try FileManager.default.removeItem(atPath: folder.path + "/enclave/lock")
        let data = try PrivateDirectory(folder.path, creating: false)
        let restoration = Restoration(into: data, clock: ManualClock())
        _ = try restoration.stage(backup)
        if isDecided {
            try restoration.commit()
            let pending = try #require(try RestoreSwitch(pendingIn: data, at: 0))
            for step in try pending.steps().prefix(steps) { try pending.perform(step) }
        }
        #expect(try values(in: folder) == (isDecided ? Self.expected : ["theirs": "old"]))
        let left = FolderContent.names(at: folder.path)
        #expect(!left.contains(RestoreSwitch.readyName))
        // It would open as the backup does.
        #expect(!left.contains(RestoreSwitch.stagingName))
        if isDecided {
            let aside = try #require(left.first { $0.hasPrefix("replaced-") })
            #expect(
                Set(FolderContent.names(at: folder.path + "/" + aside)).isSuperset(of: [
                    "keychain.db", "keychain.db-wal", "enclave",
                ]))
        }
    }

    @Test(arguments: ["cut", "flipped", "text", "newer", "keybag"])
    func aFileThatIsNoWholeBackupChangesNothing(_ fault: String) throws {
        let keychain = try filled()
        try make(keychain)
        let url = URL(fileURLWithPath: backup)
        var bytes = try Data(contentsOf: url)
        switch fault {
        case "cut": bytes = bytes.prefix(bytes.count / 2)
        case "flipped": for at in stride(from: 8192, to: bytes.count, by: 4096) { bytes[at] ^= 0xFF }
        case "text": bytes = Data("not a backup at all".utf8)
        default: break
        }
        try bytes.write(to: url)
        if fault == "newer" {
            // In all three places: one alone is a damaged one.
            try EngineUnderTest.execute("PRAGMA user_version = 99", in: backup)
            for table in ["store", "store_copy"] {
                try EngineUnderTest.execute(
                    "UPDATE \(table) SET value = x'4058c00000000000' WHERE name = 'format'", in: backup)
            }
        }
        if fault == "keybag" {
            try EngineUnderTest.execute("DELETE FROM backup_files WHERE name LIKE 'keybag%'", in: backup)
        }
        let other = try EngineUnderTest()
        try other.add("theirs", "old")
        try other.close()
        let error = #expect(throws: KeychainError.self) { _ = try restore(into: other.folder) }
        if fault == "newer" { #expect(error?.reason == .storeNewer(version: 99)) }
        #expect(try values(in: other.folder) == ["theirs": "old"])
    }

    /// The files of another store's keybag in a backup open nothing.
    @Test func aKeybagOfAnotherStoreIsRefused() throws {
        let keychain = try filled()
        try make(keychain)
        let other = try EngineUnderTest()
        for name in ["keybag.0", "keybag.1", "protectors.0", "protectors.1", "software-secret.0", "software-secret.1"] {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: other.folder.path + "/enclave/" + name))
            let hex = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            try EngineUnderTest.execute(
                "UPDATE backup_files SET content = x'\(hex)' WHERE name = '\(name)'", in: backup)
        }
        let folder = try TemporaryDirectory()
        let error = #expect(throws: KeychainError.self) { _ = try restore(into: folder) }
        #expect(error?.reason == .storeMismatch)
        #expect(!FolderContent.names(at: folder.path).contains("keychain.db"))
    }

    /// What THREAT_MODEL says of a backup: it opens by itself, and nothing in the
    /// restored database keeps the keybag's secret.
    @Test func theSecretOfTheKeybagIsInTheBackupAndNotInTheRestoredDatabase() throws {
        let keychain = try filled()
        try make(keychain)
        let secret = try Data(contentsOf: URL(fileURLWithPath: keychain.folder.path + "/enclave/software-secret.0"))
            .dropFirst(28).prefix(32)
        #expect(try Data(contentsOf: URL(fileURLWithPath: backup)).range(of: secret) != nil)
        let folder = try TemporaryDirectory()
        _ = try restore(into: folder)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/keychain.db")).range(of: secret) == nil)
    }
}
