import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Synchronization
import Testing

/// A bit that changed in a column, or in an entry of an index, hides no item: another way leads to
/// it, and what was changed is written again.
@Suite struct HiddenRowTests {
    private static let accounts = ["0", "1", "2", "3"]
    private static let prepared = Result {
        let keychain = try EngineUnderTest(at: TemporaryDirectory.inMemory(), ManualClock())
        try keychain.open()
        for account in accounts { try keychain.add(account, "v" + account) }
        _ = try keychain.call(.add, web + [("ptcl", .string("htps"))], value: "of the web")
        try keychain.close()
        return try StoreSnapshot(of: keychain.folder)
    }

    private static let web: [(String, RawValue)] = [
        ("class", .string("inet")), ("srvr", .string("example.org")), ("acct", .string("me")),
    ]

    enum Place: UInt8, CaseIterable {
        case table = 0x0D
        case index = 0x0A
    }

    /// One bit of a row's column, in the row or in the index.
    private func flip(
        _ column: String, of table: String = "genp", _ row: Int, in place: Place, _ bit: UInt8,
        _ keychain: EngineUnderTest
    ) throws {
        let path = keychain.databasePath
        let hex = try EngineUnderTest.text("SELECT hex(\(column)) FROM \(table) WHERE rowid = \(row)", in: path)
        let wanted = bytes(ofHex: hex)
        try #require(wanted.count == 16)
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        var flipped = 0
        var start = file.startIndex
        while let range = file.range(of: wanted, in: start..<file.endIndex) {
            start = range.upperBound
            guard range.lowerBound >= 4096, file[range.lowerBound / 4096 * 4096] == place.rawValue, flipped == 0 else {
                continue
            }
            // Not in what the columns of other rows hold as well: the row is told by its uuid.
            if place == .table, try !isRow(row, table, at: range.lowerBound, file, path) { continue }
            file[range.lowerBound + 5] ^= 1 << bit
            flipped += 1
        }
        try #require(flipped == 1)
        try file.write(to: URL(fileURLWithPath: path))
    }

    private func bytes(ofHex hex: String) -> Data {
        Data(stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) })
    }

    /// Whether the row's uuid is the last one before a place.
    private func isRow(_ row: Int, _ table: String, at place: Int, _ file: Data, _ path: String) throws -> Bool {
        let page = place / 4096 * 4096
        let starts = try (1...4).compactMap { other -> (Int, Int)? in
            let hex = try EngineUnderTest.text("SELECT hex(uuid) FROM \(table) WHERE rowid = \(other)", in: path)
            let uuid = bytes(ofHex: hex)
            guard !uuid.isEmpty else { return nil }
            return file.range(of: uuid, options: .backwards, in: page..<place).map { (other, $0.lowerBound) } ?? nil
        }
        return starts.max { $0.1 < $1.1 }?.0 == row
    }

    private func expectAllMended(_ keychain: EngineUnderTest, _ note: Comment) throws {
        let report = try keychain.engine.doctor(.verify)
        #expect(report.isIntact == true, note)
        #expect(report.inspection?.sound == 5 && report.inspection?.mismatched == 0, note)
        #expect(report.damaged == 0, note)
    }

    /// Every place that a search by service and account goes by.
    @Test(arguments: [("b_agrp", Place.table), ("b_pair", .index), ("b_pair", .table)], [0, 3, 7] as [UInt8])
    func aChangedBitHidesNoItem(_ changed: (column: String, place: Place), _ bit: UInt8) throws {
        let note: Comment = "\(changed) \(bit)"
        for account in ["0", "2"] {
            let keychain = try EngineUnderTest(try Self.prepared.get())
            try flip(changed.column, (Int(account) ?? 0) + 1, in: changed.place, bit, keychain)
            try keychain.open()
            let told = Mutex(0)
            keychain.engine.tellMended { _ in told.withLock { $0 += 1 } }
            #expect(try keychain.value(account) == "v" + account, note)
            // A wrong column that an index stands for is not seen by a search.
            if (changed.column, changed.place) != ("b_pair", .table) {
                #expect(told.withLock { $0 } == 1, note)
                try expectAllMended(keychain, note)
            }
            for other in Self.accounts { #expect(try keychain.value(other) == "v" + other, note) }
            #expect(keychain.failure("none")?.reason == .nothingMatches, note)
            try keychain.close()
        }
    }

    @Test(arguments: [("b_agrp", Place.table), ("b_pair", .index)])
    func whatIsHiddenIsChangedAndDeleted(_ column: String, _ place: Place) throws {
        for deletes in [false, true] {
            let keychain = try EngineUnderTest(try Self.prepared.get())
            try flip(column, 2, in: place, 2, keychain)
            try keychain.open()
            if deletes {
                _ = try keychain.call(.delete, keychain.item("1"))
            } else {
                _ = try keychain.call(.update, keychain.item("1"), value: "new")
            }
            #expect(try keychain.value("1") == (deletes ? nil : "new"))
            #expect(try keychain.engine.doctor(.verify).isIntact == true)
            #expect(try keychain.values().count == (deletes ? 3 : 4))
            try keychain.close()
        }
    }

    /// Of an internet password the query says but a part of what makes it one of its kind.
    @Test func anInternetPasswordIsFoundByItsAccount() throws {
        let keychain = try EngineUnderTest(try Self.prepared.get())
        try flip("b_pair", of: "inet", 1, in: .index, 1, keychain)
        try keychain.open()
        #expect(try keychain.call(.copy, Self.web + [("r_Attributes", .bool(true))]).rows.count == 1)
        try expectAllMended(keychain, "inet")
        try keychain.close()
    }

    /// It is there, though the index of primary keys does not say so: by one call and among several.
    @Test(arguments: [false, true], [0, 7] as [UInt8])
    func whatIsHiddenIsNotStoredASecondTime(_ together: Bool, _ bit: UInt8) throws {
        let keychain = try EngineUnderTest(try Self.prepared.get())
        try flip("pkey", 2, in: .index, bit, keychain)
        try flip("pkey", of: "inet", 1, in: .index, bit, keychain)
        try keychain.open()
        let told = Mutex(0)
        keychain.engine.tellMended { _ in told.withLock { $0 += 1 } }
        for query in [keychain.item("1"), Self.web + [("ptcl", .string("htps"))]] {
            if together {
                let items = [query, keychain.item("new " + (query.first?.0 ?? "")) + [("v_Data", .secret)]].map {
                    NewItem(QueryDictionary($0), value: SharedSecret(SecretBytes(copying: [1])))
                }
                let answer = try keychain.engine.answer(
                    KeychainRequest(.addItems, items: items), for: Authorization(keychain.entitlements))
                #expect(answer.outcomes.count == 2 && answer.outcomes.first??.status == .duplicateItem)
            } else {
                let error = #expect(throws: KeychainError.self) { try keychain.call(.add, query, value: "again") }
                #expect(error?.status == .duplicateItem)
            }
        }
        #expect(told.withLock { $0 } == 2)
        #expect(try keychain.value("1") == "v1")
        #expect(try keychain.number("SELECT count(*) FROM inet") == 1)
        #expect(try keychain.number("SELECT count(*) FROM genp") == (together ? 5 : 4))
        let report = try keychain.engine.doctor(.verify)
        #expect(report.isIntact == true && report.inspection?.mismatched == 0)
        try keychain.close()
    }

    /// Nor does an item move to where it is: by a change of its name alone, or of its value as well.
    @Test(arguments: [false, true], [0, 7] as [UInt8])
    func nothingMovesBesideWhatIsHidden(_ changesValue: Bool, _ bit: UInt8) throws {
        let keychain = try EngineUnderTest(try Self.prepared.get())
        try flip("pkey", 2, in: .index, bit, keychain)
        try keychain.open()
        let told = Mutex(0)
        keychain.engine.tellMended { _ in told.withLock { $0 += 1 } }
        for _ in 0..<2 {
            let error = #expect(throws: KeychainError.self) {
                try keychain.call(
                    .update, keychain.item("0"), changes: [("acct", .string("1"))],
                    value: changesValue ? "new" : nil)
            }
            #expect(error?.status == .duplicateItem)
        }
        #expect(told.withLock { $0 } == 1)
        for account in Self.accounts { #expect(try keychain.value(account) == "v" + account) }
        #expect(try keychain.number("SELECT count(*) FROM genp") == 4)
        let report = try keychain.engine.doctor(.verify)
        #expect(report.isIntact == true && report.inspection?.mismatched == 0)
        try keychain.close()
    }

    /// A column that is sealed makes the row one that does not open: which is told.
    @Test(arguments: ["sync = 1", "tomb = 1"]) func whatDoesNotOpenIsNotToldAsMissing(_ edit: String) throws {
        let keychain = try EngineUnderTest(try Self.prepared.get())
        try EngineUnderTest.execute("UPDATE genp SET \(edit) WHERE rowid = 2", in: keychain.databasePath)
        try keychain.open()
        #expect(keychain.failure("1")?.reason == .mayBeSetAside)
        #expect(try keychain.number("SELECT count(*) FROM damaged") == 1)
        #expect(try keychain.value("2") == "v2")
        try keychain.close()
    }

    /// What no search told is found by the quiet pass, whichever index or column it is in.
    @Test(arguments: ["b_agrp", "b_pair", "b_svce", "b_acct", "pkey", "persistref"], Place.allCases)
    func theQuietPassMendsWhatNobodyAskedFor(_ column: String, _ place: Place) throws {
        if column == "b_agrp" && place == .index { return }
        let note: Comment = "\(column) \(place)"
        let keychain = try EngineUnderTest(try Self.prepared.get())
        try flip(column, 3, in: place, 4, keychain)
        try keychain.open()
        let told = Mutex(0)
        keychain.engine.tellMended { _ in told.withLock { $0 += 1 } }
        try passQuietly(keychain)
        if column == "persistref", place == .table {
            // It is sealed: the row does not open, and is said to be damaged.
            #expect(keychain.failure("2")?.reason == .mayBeSetAside, note)
        } else {
            #expect(told.withLock { $0 } == 1, note)
            try expectAllMended(keychain, note)
            #expect(try keychain.values().count == 4, note)
        }
        try keychain.close()
    }

    private func passQuietly(_ keychain: EngineUnderTest) throws {
        var inspection = QuietInspection()
        var steps = 0
        while !inspection.isOver, steps < 100 {
            try inspection.step(keychain.engine)
            steps += 1
        }
        #expect(inspection.isOver)
    }

    @Test func theQuietPassWaitsWhileThereAreCallsAndLeavesALargeStoreAlone() throws {
        let keychain = try EngineUnderTest(try Self.prepared.get())
        try flip("b_agrp", 3, in: .table, 4, keychain)
        try keychain.open()
        let told = Mutex(0)
        keychain.engine.tellMended { _ in told.withLock { $0 += 1 } }
        var inspection = QuietInspection()
        for _ in 0..<50 {
            _ = try keychain.value("0")
            try inspection.step(keychain.engine)
        }
        #expect(!inspection.isOver && told.withLock { $0 } == 0)
        try keychain.sql("UPDATE genp SET rowid = 500000 WHERE rowid = 1")
        #expect(throws: KeychainError.self, "for the log") { try inspection.step(keychain.engine) }
        #expect(inspection.isOver && told.withLock { $0 } == 0)
        try keychain.close()
    }
}
