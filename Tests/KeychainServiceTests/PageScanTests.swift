import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Testing

/// What is read from pages is what SQLite reads from the same file and log.
@Suite struct PageScanTests {
    /// Number and metadata of each row of the class, by SQLite.
    private func rowsBySQLite(_ path: String, _ table: String) throws -> [String] {
        try EngineUnderTest.text(
            "SELECT group_concat(line, char(10)) FROM (SELECT rowid || ' ' || hex(metadata) || ' ' || "
                + "iif(secret IS NULL, 'none', hex(secret)) AS line FROM \(table) ORDER BY rowid DESC)", in: path
        ).split(separator: "\n").map(String.init)
    }

    private func scan(_ folder: String, _ name: String = "keychain.db") throws -> PageScan {
        let directory = try PrivateDirectory(folder, creating: false)
        return try #require(try PageScan(name, in: directory, until: { false }))
    }

    private func rows(_ scan: PageScan, _ itemClass: ItemClass = .genericPassword) throws -> [String] {
        var lines: [String] = []
        var scan = scan
        try scan.forEachRow(of: itemClass, where: { _ in true }) { rowid, found in
            guard rowid > 0 else { return }
            guard case .row(let row) = found else { return lines.append("\(rowid) broken") }
            lines.append("\(rowid) \(hex(row.metadata)) \(row.secret.map(hex) ?? "none")")
        }
        return lines
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { (($0 < 16 ? "0" : "") + String($0, radix: 16)).uppercased() }.joined()
    }

    private func copy(_ keychain: EngineUnderTest, _ names: [String]) throws -> TemporaryDirectory {
        let copy = try TemporaryDirectory()
        for name in names {
            try FileManager.default.copyItem(atPath: keychain.folder.path + "/" + name, toPath: copy.path + "/" + name)
        }
        return copy
    }

    private func filled() throws -> EngineUnderTest {
        let keychain = try EngineUnderTest()
        for index in 0..<30 { try keychain.add("\(index)", String(repeating: "\(index)", count: index * 400)) }
        try keychain.reopen()
        for index in 0..<10 { _ = try keychain.call(.delete, keychain.item("\(index)")) }
        for index in 10..<20 { _ = try keychain.call(.update, keychain.item("\(index)"), value: "changed") }
        for index in 30..<40 { try keychain.add("\(index)", String(repeating: "\(index)", count: index * 200)) }
        return keychain
    }

    @Test func fileAndLogTogetherAreReadAsSQLiteReadsThem() throws {
        let keychain = try filled()
        let copy = try copy(keychain, ["keychain.db", "keychain.db-wal"])
        let log = try Data(contentsOf: URL(fileURLWithPath: copy.path("keychain.db-wal")))
        #expect(log.count > 100_000)
        let found = try rows(try scan(copy.path))
        #expect(found.count == 30)
        #expect(try found == rowsBySQLite(copy.path("keychain.db"), "genp"))
    }

    /// SQLite reads such a log as far as it is whole.
    @Test(arguments: [2, 3, 5, 10]) func whatIsBehindAChangedByteCountsAsWell(_ part: Int) throws {
        let keychain = try filled()
        let copy = try copy(keychain, ["keychain.db", "keychain.db-wal"])
        let url = URL(fileURLWithPath: copy.path("keychain.db-wal"))
        var log = try Data(contentsOf: url)
        let whole = log
        // The lowest bit of a word, which its checksum finds.
        log[log.count / part & ~3] ^= 1
        try log.write(to: url)
        let found = try rows(try scan(copy.path))
        #expect(try found != rowsBySQLite(copy.path("keychain.db"), "genp"))
        try whole.write(to: url)
        #expect(try found == rowsBySQLite(copy.path("keychain.db"), "genp"))
    }

    @Test func aLogOfAnotherRoundIsPassedOver() throws {
        let keychain = try filled()
        let copy = try copy(keychain, ["keychain.db", "keychain.db-wal"])
        let url = URL(fileURLWithPath: copy.path("keychain.db-wal"))
        var log = try Data(contentsOf: url)
        // Frames of the round before, behind the header of the next (section 4.2 of the format).
        log[17] ^= 1
        var sums: (UInt32, UInt32) = (0, 0)
        func word(_ offset: Int) -> UInt32 { log[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) } }
        for offset in stride(from: 0, to: 24, by: 8) {
            sums.0 = sums.0 &+ word(offset) &+ sums.1
            sums.1 = sums.1 &+ word(offset + 4) &+ sums.0
        }
        for (index, sum) in [sums.0, sums.1].enumerated() {
            for byte in 0..<4 { log[24 + 4 * index + byte] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * UInt32(byte))) }
        }
        try log.write(to: url)
        let found = try rows(try scan(copy.path))
        try FileManager.default.removeItem(at: url)
        #expect(found.count == 30)
        #expect(try found == rowsBySQLite(copy.path("keychain.db"), "genp"))
    }

    @Test(arguments: ["format-1", "format-2", "format-4", "format-5"])
    func whatOlderVersionsWroteIsReadAlike(_ name: String) throws {
        let source = try #require(Bundle.module.resourceURL).appending(path: "Fixtures/\(name)").path
        let folder = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: source + "/keychain.db", toPath: folder.path("keychain.db"))
        let scan = try scan(folder.path)
        var count = 0
        for itemClass in ItemClass.stored {
            let found = try rows(scan, itemClass)
            #expect(try found == rowsBySQLite(folder.path("keychain.db"), itemClass.rawValue))
            count += found.count
        }
        #expect(count > 0)
        let keys = ProtectionClass.allCases.reduce(0) { $0 + scan.metadataKeys(of: $1).count }
        let path = folder.path("keychain.db")
        #expect(try keys >= EngineUnderTest.number("SELECT count(*) FROM metadata_keys", in: path) && keys > 0)
    }

    @Test func noTwoTablesHaveRowsOfOneShape() {
        let counts = ItemClass.stored.map { StoreSchema.columnCount(of: $0) }
        #expect(Set(counts).count == counts.count)
        // `damaged` and the tables of keys.
        #expect(Set(counts).isDisjoint(with: [17, 6, 4]))
    }

    /// A file that claims much and holds nothing.
    @Test func aFileOfTwoGigabytesOfHolesEndsWhenItsTimeIsOver() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("keychain.db")
        try Data("SQLite format 3\0".utf8).write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.truncate(atOffset: 2 << 30)
        try file.close()
        var looked = 0
        let directory = try PrivateDirectory(folder.path, creating: false)
        let scan = try #require(
            try PageScan(
                "keychain.db", in: directory,
                until: {
                    looked += 1
                    return looked > 10_000
                }))
        #expect(!scan.isWhole && looked == 10_001)
        #expect(try rows(scan).isEmpty)
    }
}
