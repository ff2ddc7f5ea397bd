import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Testing

/// Databases through which SQLite finds no way: what lies whole in a page comes back.
@Suite struct PageSalvageTests {
    /// One item fills more than half of a page, so that each has one of its own.
    private static let filler = String(repeating: "x", count: 2500)
    /// More than one interior page has room to name.
    private static let itemCount = 640

    /// - Parameter zeroed: numbers of pages.
    private func zero(_ pages: [Int], _ path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        for page in pages {
            try file.seek(toOffset: UInt64(page - 1) * 4096)
            try file.write(contentsOf: Data(count: 4096))
        }
        try file.close()
    }

    private func pages(_ keychain: EngineUnderTest, _ table: String, _ kind: String) throws -> [Int] {
        try EngineUnderTest.text(
            "SELECT group_concat(pageno) FROM dbstat WHERE name = '\(table)' AND pagetype = '\(kind)'",
            in: keychain.databasePath
        ).split(separator: ",").compactMap { Int($0) }
    }

    /// Closes the store, damages it, and has it found: at the opening, or by the first call that
    /// meets the place.
    private func recover(_ keychain: EngineUnderTest, after damage: () throws -> Void) throws {
        try keychain.close()
        try damage()
        do throws(KeychainError) { try open(keychain) } catch {
            guard error.reason == .storeMalformed else { throw error }
            try keychain.open()
        }
        do throws(KeychainError) {
            for name in ["genp", "inet", "cert", "keys"] {
                do throws(KeychainError) {
                    _ = try keychain.call(
                        .copy,
                        [("class", .string(name)), ("m_Limit", .string("m_LimitAll")), ("r_Attributes", .bool(true))])
                } catch { guard error.status == .itemNotFound else { throw error } }
            }
        } catch {
            guard error.reason == .storeMalformed else { throw error }
            try keychain.reopen()
        }
    }

    private func open(_ keychain: EngineUnderTest) throws(KeychainError) {
        do { try keychain.open() } catch {
            throw error as? KeychainError ?? KeychainError(.notAvailable, reason: .storeUnreadable)
        }
    }

    private func expectFound(_ count: Int, of keychain: EngineUnderTest, _ note: Comment? = nil) throws {
        var found = 0
        for index in 0..<Self.itemCount {
            guard let value = try keychain.value("\(index)") else { continue }
            #expect(value == "v\(index)" + Self.filler)
            found += 1
        }
        #expect(found == count, note)
        #expect(try keychain.engine.doctor(.verify).isIntact == true)
    }

    private func filled() throws -> EngineUnderTest {
        let keychain = try EngineUnderTest()
        for index in 0..<Self.itemCount { try keychain.add("\(index)", "v\(index)" + Self.filler) }
        return keychain
    }

    enum Place: String, CaseIterable, Sendable {
        case first, root, interiors, firstAndInteriors, leafAndFirst
    }

    @Test(arguments: Place.allCases) func everyItemWhosePageIsWholeComesBack(_ place: Place) throws {
        let keychain = try filled()
        try keychain.reopen()
        let interiors = try pages(keychain, "genp", "internal")
        let leaves = try pages(keychain, "genp", "leaf")
        #expect(interiors.count >= 3 && leaves.count == Self.itemCount)
        let root = try keychain.number("SELECT rootpage FROM sqlite_schema WHERE name = 'genp'")
        let zeroed =
            switch place {
            case .first: [1]
            case .root: [root]
            case .interiors: interiors
            case .firstAndInteriors: [1] + interiors
            case .leafAndFirst: [leaves[7], 1, leaves[100]]
            }
        let kept = Self.itemCount - (place == .leafAndFirst ? 2 : 0)
        try recover(keychain) { try zero(zeroed, keychain.databasePath) }
        let event = try #require(keychain.engine.openingEvent)
        #expect(event.contains("items brought back: \(kept), not opening: 0"), "\(event)")
        try expectFound(kept, of: keychain)
        #expect(keychain.failure("none")?.reason == .mayBeSetAside, "nobody knows that nothing is missing")
        _ = try keychain.engine.doctor(.acceptDamage)
        #expect(keychain.failure("none")?.reason == .nothingMatches)
        // Once is enough.
        let report = try keychain.engine.doctor(.salvage)
        #expect(report.salvage?.restored == 0 && report.salvage?.unopened == 0)
    }

    /// What was under way says nothing of how many pages the file keeps.
    @Test func aLogWithoutACommitCutsNothingOff() throws {
        let keychain = try filled()
        try keychain.reopen()
        try keychain.add("under way", "1")
        let files = try ["", "-wal"].map { name in
            try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath + name))
        }
        try recover(keychain) {
            try files[0].write(to: URL(fileURLWithPath: keychain.databasePath))
            try files[1].prefix(32 + 2 * (24 + 4096)).write(to: URL(fileURLWithPath: keychain.databasePath + "-wal"))
            try zero([1], keychain.databasePath)
        }
        try expectFound(Self.itemCount, of: keychain)
    }

    @Test func theItemAloneIsLostWhoseOverflowPageIs() throws {
        let keychain = try EngineUnderTest()
        let long = String(repeating: "y", count: 30_000)
        for index in 0..<8 { try keychain.add("\(index)", index % 2 == 0 ? "v\(index)" : "v\(index)" + long) }
        try keychain.reopen()
        let overflow = try pages(keychain, "genp", "overflow")
        #expect(overflow.count >= 4 * 7)
        try recover(keychain) { try zero([overflow[3], 1], keychain.databasePath) }
        let event = try #require(keychain.engine.openingEvent)
        #expect(event.contains("items brought back: 7, not opening: 1"), "\(event)")
        var lost: [Int] = []
        for index in 0..<8 {
            switch try keychain.value("\(index)") {
            case nil: lost.append(index)
            case let value?: #expect(value == (index % 2 == 0 ? "v\(index)" : "v\(index)" + long))
            }
        }
        #expect(lost.count == 1 && lost[0] % 2 == 1)
        #expect(keychain.failure("\(lost.first ?? 0)")?.reason == .mayBeSetAside)
    }

    @Test func whatWasDeletedOrChangedBeforeStaysSo() throws {
        let keychain = try filled()
        for index in 0..<Self.itemCount where index % 3 == 0 {
            _ = try keychain.call(.delete, keychain.item("\(index)"))
        }
        for index in 0..<Self.itemCount where index % 3 == 1 {
            _ = try keychain.call(.update, keychain.item("\(index)"), value: "new \(index)")
        }
        try keychain.reopen()
        // Neither the trees nor the list of free pages can be read.
        let interiors = try pages(keychain, "genp", "internal")
        try recover(keychain) { try zero([1] + interiors, keychain.databasePath) }
        for index in 0..<Self.itemCount {
            let expected = [nil, "new \(index)", "v\(index)" + Self.filler][index % 3]
            #expect(try keychain.value("\(index)") == expected)
        }
    }

    /// As another program would delete that does not overwrite: pages on the list of free ones,
    /// and cells that no page names, are no rows.
    @Test func whatLiesInFreePagesIsNoItem() throws {
        let keychain = try filled()
        try keychain.add("short 1", "1")
        try keychain.add("short 2", "2")
        try keychain.reopen {
            try keychain.sql(
                "PRAGMA secure_delete = OFF; DELETE FROM genp WHERE rowid <= 100 OR rowid = \(Self.itemCount + 1)")
        }
        #expect(try keychain.number("PRAGMA freelist_count") > 90)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: keychain.databasePath))
        #expect(bytes.count > 4096 * Self.itemCount, "the file has all of them still")
        let interiors = try pages(keychain, "genp", "internal")
        try recover(keychain) { try zero(interiors, keychain.databasePath) }
        try expectFound(Self.itemCount - 100, of: keychain)
        #expect(try keychain.value("short 1") == nil)
        #expect(try keychain.value("short 2") == "2")
    }

    /// Pages that no tree leads to any more, from before a change or from behind it.
    @Test(arguments: [true, false]) func ofTwoFormsOfAnItemTheNewerCounts(_ isOldBehind: Bool) throws {
        let keychain = try EngineUnderTest()
        let url = URL(fileURLWithPath: keychain.databasePath)
        for index in 0..<20 { try keychain.add("\(index)", "v\(index)" + Self.filler) }
        try keychain.close()
        let old = try Data(contentsOf: url)
        let oldLeaves = try pages(keychain, "genp", "leaf")
        try keychain.open()
        for index in 0..<10 {
            _ = try keychain.call(.update, keychain.item("\(index)"), value: "new \(index)" + Self.filler)
        }
        try keychain.close()
        let new = try Data(contentsOf: url)
        let newLeaves = try pages(keychain, "genp", "leaf")
        try keychain.open()
        func leaves(_ file: Data, _ numbers: [Int]) -> Data {
            numbers.reduce(Data()) { $0 + file[($1 - 1) * 4096..<$1 * 4096] }
        }
        let root = try keychain.number("SELECT rootpage FROM sqlite_schema WHERE name = 'genp'")
        try recover(keychain) {
            try (isOldBehind ? new + leaves(old, oldLeaves) : old + leaves(new, newLeaves)).write(to: url)
            try zero([1, root], keychain.databasePath)
        }
        for index in 0..<20 {
            #expect(try keychain.value("\(index)") == (index < 10 ? "new " : "v") + "\(index)" + Self.filler)
        }
        #expect(keychain.engine.openingEvent?.contains("items brought back: 20, not opening: 0") == true)
    }

    @Test func itemsOfEveryClassAndKeysOfTheirOwnComeBack() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("open", "1", [("pdmn", .string("dk"))])
        try keychain.add("first", "2", [("pdmn", .string("ck"))])
        _ = try keychain.call(
            .add, [("class", .string("inet")), ("srvr", .string("example.com")), ("acct", .string("a"))], value: "3")
        _ = try keychain.call(.add, [("class", .string("keys")), ("atag", .data(Array("tag".utf8)))], value: "4")
        // Gone to the table `damaged`, and opening again.
        try keychain.add("spoilt", "5")
        try keychain.sql("CREATE TABLE kept AS SELECT rowid AS number, metadata FROM genp")
        try keychain.sql("UPDATE genp SET metadata = randomblob(length(metadata)) WHERE rowid = 3")
        #expect(try keychain.value("spoilt") == nil)
        try keychain.sql("UPDATE damaged SET metadata = (SELECT metadata FROM kept WHERE number = rowid_was)")
        let keys = try keychain.number("SELECT rootpage FROM sqlite_schema WHERE name = 'damaged_keys'")
        try recover(keychain) { try zero([1, keys], keychain.databasePath) }
        #expect(try keychain.value("open") == "1")
        #expect(try keychain.value("first") == "2")
        #expect(try keychain.value("spoilt") == "5")
        for (query, value) in [
            ([("class", RawValue.string("inet")), ("srvr", .string("example.com"))], "3"),
            ([("class", .string("keys")), ("atag", .data(Array("tag".utf8)))], "4"),
        ] {
            let row = try keychain.call(.copy, query + [("r_Data", .bool(true))]).rows.first
            #expect(row?.value.map { String(decoding: $0.bytes.insecureArray(), as: UTF8.self) } == value)
        }
    }
}
