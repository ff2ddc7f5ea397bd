import Foundation
import KeychainModel
import KeychainPlatform
import KeychainService
import KeychainStore
import KeychainTestSupport
import Testing

/// Files that are not what they should be: refused with a reason, never touched.
@Suite struct StoreFileTests {
    @Test func newerStoreIsRefusedUntouched() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.close()
        try keychain.sql("PRAGMA user_version = \(StoreSchema.format + 1)")
        for table in ["store", "store_copy"] {
            let value = StoreRecord.bytes(of: Double(StoreSchema.format + 1)).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
            try keychain.sql("UPDATE \(table) SET value = x'\(value)' WHERE name = 'format'")
        }
        try keychain.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        let before = try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath))
        let error = #expect(throws: KeychainError.self) { try EngineUnderTest.open(keychain.folder.path, keychain.clock) }
        #expect(error?.reason == .storeNewer(version: StoreSchema.format + 1))
        #expect(error?.status == .notAvailable)
        #expect(try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath)) == before)
    }

    @Test func databaseOfAnotherProgramIsRefusedUntouched() throws {
        let keychain = try EngineUnderTest()
        try keychain.close()
        try keychain.sql("PRAGMA application_id = 7; DROP TABLE store_copy")
        try keychain.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        let foreign = try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath))
        let error = #expect(throws: KeychainError.self) { try EngineUnderTest.open(keychain.folder.path, keychain.clock) }
        #expect(error?.reason == .storeUnreadable)
        #expect(try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath)) == foreign)
    }

    /// What may not be written is told of a store: a file of another program is none, whoever
    /// may write it.
    @Test(.enabled(if: geteuid() != 0, "root writes everywhere: scripts/test-unprivileged runs this"))
    func whatMayNotBeWrittenIsToldOfAStoreAlone() throws {
        let keychain = try EngineUnderTest()
        try keychain.close()
        func reason(ofMode mode: Int) throws -> Reason? {
            let (files, path) = (FileManager.default, keychain.databasePath)
            try files.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            defer { try? files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path) }
            let folder = try PrivateDirectory(keychain.folder.path, creating: false)
            return #expect(throws: KeychainError.self) { try Store(in: folder) }?.reason
        }
        #expect(try reason(ofMode: 0) == .folderUnusable(why: "\(keychain.databasePath) cannot be read and written"))
        let why = "\(keychain.databasePath) cannot be written: its mode is to be 0600"
        #expect(try reason(ofMode: 0o400) == .folderUnusable(why: why))
        // Nothing was made with that mode: once it is mended everything opens.
        try EngineUnderTest.open(keychain.folder.path, keychain.clock).close()
        try keychain.sql("PRAGMA journal_mode = DELETE")
        try keychain.sql("PRAGMA application_id = 7; DROP TABLE store_copy")
        #expect(try reason(ofMode: 0o400) == .storeUnreadable)
    }

    @Test func databaseWithoutItsKeybagIsRefusedAndNoNewOneIsMade() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.close()
        let enclave = keychain.folder.path + "/enclave"
        try FileManager.default.moveItem(atPath: enclave, toPath: keychain.folder.path + "/aside")
        let error = #expect(throws: KeychainError.self) { try EngineUnderTest.open(keychain.folder.path, keychain.clock) }
        #expect(error?.status == .notAvailable)
        // Put back, everything opens: nothing took its place.
        if FileManager.default.fileExists(atPath: enclave) { try FileManager.default.removeItem(atPath: enclave) }
        try FileManager.default.moveItem(atPath: keychain.folder.path + "/aside", toPath: enclave)
        let engine = try EngineUnderTest.open(keychain.folder.path, keychain.clock)
        try engine.close()
    }

    @Test func databaseOfAnotherStoreIsAMismatchNotDamage() throws {
        let one = try EngineUnderTest()
        try one.add("a", "1")
        try one.close()
        let other = try EngineUnderTest()
        try other.add("b", "2")
        try other.close()
        try one.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: other.databasePath + suffix)
        }
        try FileManager.default.copyItem(atPath: one.databasePath, toPath: other.databasePath)
        let error = #expect(throws: KeychainError.self) { try EngineUnderTest.open(other.folder.path, other.clock) }
        #expect(error?.reason == .storeMismatch)
        #expect(try other.number("SELECT count(*) FROM genp") == 1)
        #expect(try other.number("SELECT count(*) FROM damaged") == 0)
    }

    @Test func oneStoreIsOpenOnce() throws {
        let keychain = try EngineUnderTest()
        let error = #expect(throws: KeychainError.self) { try EngineUnderTest.open(keychain.folder.path, keychain.clock) }
        #expect(error?.reason == .storeInUse)
    }

    @Test(arguments: [
        ("nfs4", true), ("nfs", true), ("cifs", true), ("smb3", true), ("9p", true), ("ceph", true), ("fuse.sshfs", true),
        ("fuse.fuse-overlayfs", false), ("ext4", false), ("btrfs", false), ("xfs", false), ("tmpfs", false), ("overlay", false),
    ])
    func fileSystemsAreJudgedByTheirType(_ type: String, _ unsuitable: Bool) {
        #expect(Store.isUnsuitable(fileSystem: type) == unsuitable)
    }

    @Test func innermostMountDecides() {
        let table = """
            22 1 8:1 / / rw - ext4 /dev/sda1 rw
            30 22 0:40 / /home rw - nfs4 server:/home rw
            31 30 8:2 / /home/me/local\\040disk rw - xfs /dev/sdb rw
            """
        #expect(MountTable.type(of: "/var/lib", in: table) == "ext4")
        #expect(MountTable.type(of: "/home/me", in: table) == "nfs4")
        #expect(MountTable.type(of: "/home/me/local disk/x", in: table) == "xfs")
        #expect(MountTable.type(of: "/homes", in: table) == "ext4")
    }

    @Test func everythingIsThereAfterReopening() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.add("b", "2", [("pdmn", .string("ck"))])
        try keychain.reopen()
        #expect(try keychain.value("a") == "1")
        #expect(try keychain.value("b") == "2")
    }
}
