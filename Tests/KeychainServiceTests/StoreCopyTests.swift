import Enclave
import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Testing

/// What nothing opens without stands in two pages: either may be lost.
@Suite struct StoreCopyTests {
    private static let tables = ["store", "store_copy", "metadata_keys", "metadata_keys_copy"]
    private static let accounts = ["ak", "ck", "dk", "aku", "cku", "dku"]

    /// Two keys have places for everything that a page of keys has.
    private static let few = ["ak", "dku"]

    /// Made once and copied.
    private static let prepared = Result { try prepare(accounts) }
    private static let preparedFew = Result { try prepare(few) }

    private static func prepare(_ accounts: [String]) throws -> StoreSnapshot {
        let keychain = try EngineUnderTest(at: TemporaryDirectory.inMemory(), ManualClock())
        try keychain.open()
        for tag in accounts { try keychain.add(tag, "value of \(tag)", [("pdmn", .string(tag))]) }
        try keychain.close()
        return try StoreSnapshot(of: keychain.folder)
    }

    private func filled() throws -> EngineUnderTest { try EngineUnderTest(Self.prepared.get()) }

    /// The place of a table's page in the file.
    private func offset(_ table: String, _ path: String) throws -> Int {
        (try EngineUnderTest.number("SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'", in: path) - 1) * 4096
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    /// Opens the store, which may be told once that it is malformed.
    private func open(_ keychain: EngineUnderTest) throws {
        do throws(KeychainError) { try attempt(keychain) } catch {
            guard error.reason == .storeMalformed else { throw error }
            try keychain.open()
        }
        guard keychain.engine.isSpent else { return }
        // Found behind the opening: the call that comes says so, and the daemon opens it anew.
        let told = #expect(throws: KeychainError.self) { try keychain.value("ak") }
        #expect(told?.reason == .storeMalformed)
        try keychain.reopen()
    }

    private func attempt(_ keychain: EngineUnderTest) throws(KeychainError) {
        do { try keychain.open() } catch {
            throw error as? KeychainError ?? KeychainError(.notAvailable, reason: .storeUnreadable)
        }
    }

    private func expectAll(
        of keychain: EngineUnderTest, _ accounts: [String] = accounts, _ note: Comment? = nil
    ) throws {
        for tag in accounts { #expect(try keychain.value(tag) == "value of \(tag)", note) }
        try expectSound(keychain, try keychain.engine.doctor(.verify), accounts.count, note)
    }

    private func expectSound(
        _ keychain: EngineUnderTest, _ report: DoctorReport, _ count: Int, _ note: Comment?
    ) throws {
        #expect(report.isIntact == true && report.inspection?.sound == count, note)
        #expect(report.damaged == 0 && !report.hasNewDamage, note)
        let pairs = [("store", "store_copy"), ("metadata_keys", "metadata_keys_copy")]
        let counts = pairs.flatMap { [$0, ($0.1, $0.0)] }.map { one, other in
            "(SELECT count(*) FROM (SELECT * FROM \(one) EXCEPT SELECT * FROM \(other)))"
        }
        #expect(try keychain.number("SELECT \(counts.joined(separator: " + "))") == 0, note)
    }

    @Test(arguments: tables) func aPageThatIsZeroedTakesNothingAlong(_ table: String) throws {
        let keychain = try filled()
        let place = try offset(table, keychain.databasePath)
        var file = try bytes(keychain.databasePath)
        file.replaceSubrange(place..<place + 4096, with: Data(count: 4096))
        try file.write(to: URL(fileURLWithPath: keychain.databasePath))
        try open(keychain)
        #expect(keychain.engine.openingEvent?.contains("items brought back: 6, not opening: 0") == true)
        try expectAll(of: keychain)
        #expect(keychain.failure("none")?.reason == .nothingMatches, "nothing is missing")
        try keychain.reopen()
        #expect(keychain.engine.openingEvent == nil)
        try expectAll(of: keychain)
    }

    /// Both pages of a kind: the id is the keybag's, keys are in no other place.
    @Test func bothPagesOfTheRecordsMayBeZeroed() throws {
        let keychain = try filled()
        var file = try bytes(keychain.databasePath)
        for table in ["store", "store_copy"] {
            let place = try offset(table, keychain.databasePath)
            file.replaceSubrange(place..<place + 4096, with: Data(count: 4096))
        }
        try file.write(to: URL(fileURLWithPath: keychain.databasePath))
        try open(keychain)
        try expectAll(of: keychain)
    }

    @Test func whereBothPagesOfTheKeysAreGoneThatIsSaidAndTheFileKept() throws {
        let keychain = try filled()
        var file = try bytes(keychain.databasePath)
        for table in ["metadata_keys", "metadata_keys_copy"] {
            let place = try offset(table, keychain.databasePath)
            file.replaceSubrange(place..<place + 4096, with: Data(count: 4096))
        }
        try file.write(to: URL(fileURLWithPath: keychain.databasePath))
        try open(keychain)
        for tag in Self.accounts { #expect(keychain.failure(tag)?.reason == .mayBeSetAside) }
        let report = try keychain.engine.doctor(.salvage)
        #expect(report.salvage?.restored == 0 && report.salvage?.unopened == Self.accounts.count)
        let kept = try #require(report.setAsideFiles.first)
        #expect(try bytes("\(keychain.folder.path)/\(kept)") == file)
    }

    /// A bit in each byte of the page that is used: its header, its pointers, its cells.
    @Test(arguments: tables) func aBitThatChangedInAPageTakesNothingAlong(_ table: String) throws {
        let keychain = try EngineUnderTest(Self.preparedFew.get())
        let whole = try bytes(keychain.databasePath)
        let place = try offset(table, keychain.databasePath)
        let used = (0..<4096).filter { index in
            index < 8 || whole[place + index] != 0 || index > 0 && whole[place + index - 1] != 0
        }
        #expect(used.count > 70)
        // Every byte of the header, and a third of the others.
        for index in used where index < 24 || index % 3 == 0 {
            let note: Comment = "byte \(index) of the page of \(table)"
            let copy = try EngineUnderTest(Self.preparedFew.get())
            var file = whole
            file[place + index] ^= 1 << UInt8(index % 8)
            try file.write(to: URL(fileURLWithPath: copy.databasePath))
            try expectAllAfterOpenings(copy, note)
        }
    }

    /// Every item opens with the first, second or third opening, whatever is told meanwhile.
    private func expectAllAfterOpenings(_ keychain: EngineUnderTest, _ note: Comment) throws {
        defer { try? keychain.close() }
        try open(keychain)
        let values = Dictionary(uniqueKeysWithValues: Self.few.map { ($0, "value of \($0)") })
        #expect(try keychain.values() == values, note)
        let report = try keychain.engine.doctor(.verify)
        guard report.isIntact == false else { return try expectSound(keychain, report, values.count, note) }
        // What is read is right, and what nobody reads is found by whoever looks.
        let told = #expect(throws: KeychainError.self, note) { try keychain.engine.doctor(.salvage) }
        #expect(told?.reason == .storeMalformed, note)
        try keychain.reopen()
        try expectAll(of: keychain, Self.few, note)
    }

    // MARK: Single records

    @Test(arguments: [
        "DELETE FROM metadata_keys", "DELETE FROM metadata_keys_copy", "DELETE FROM metadata_keys WHERE class = 7",
        "UPDATE metadata_keys SET wrapped = zeroblob(60)", "UPDATE metadata_keys_copy SET wrapped = zeroblob(60)",
        "UPDATE metadata_keys SET \"check\" = zeroblob(16) WHERE class = 6",
        "UPDATE metadata_keys SET gen = 4 WHERE class = 6", "UPDATE metadata_keys_copy SET class = 44 WHERE class = 6",
        "DELETE FROM store", "DELETE FROM store_copy", "UPDATE store SET value = zeroblob(16) WHERE name = 'id'",
        "UPDATE store SET value = x'00' WHERE name = 'id'", "UPDATE store_copy SET value = x'00' WHERE name = 'id'",
        "UPDATE store SET value = zeroblob(16) WHERE name = 'history'",
        "UPDATE store SET value = x'00' WHERE name = 'history'",
        "UPDATE store SET name = 'hostory' WHERE name = 'history'",
        "UPDATE store SET value = zeroblob(8) WHERE name = 'format'",
        "UPDATE store_copy SET value = x'4022000000000000' WHERE name = 'format'",
    ])
    func aRecordIsWrittenAgainFromItsOtherCopy(_ damage: String) throws {
        let keychain = try filled()
        let name = "SELECT hex(value) FROM store WHERE name = 'history'"
        let history = try EngineUnderTest.text(name, in: keychain.databasePath)
        try EngineUnderTest.execute(damage, in: keychain.databasePath)
        try keychain.open()
        #expect(keychain.engine.openingEvent?.contains("were put right from their other copy") == true)
        try expectAll(of: keychain)
        #expect(try EngineUnderTest.text(name, in: keychain.databasePath) == history)
        try keychain.reopen()
        #expect(keychain.engine.openingEvent == nil, "it is told once")
        try expectAll(of: keychain)
    }

    /// Each is damaged in another place, so that neither leads to its class key: of one box one stays.
    @Test func ofTwoCopiesThatOpenNowhereOneStays() throws {
        let keychain = try filled()
        let path = keychain.databasePath
        let box = try EngineUnderTest.text("SELECT hex(wrapped) FROM metadata_keys WHERE class = 6", in: path)
        for damage in [
            "UPDATE metadata_keys SET class = 99 WHERE class = 6",
            "UPDATE metadata_keys_copy SET gen = 77 WHERE class = 6",
        ] { try EngineUnderTest.execute(damage, in: path) }
        try keychain.open()
        let kept = ["metadata_keys", "metadata_keys_copy"].map {
            "SELECT hex(wrapped) FROM \($0) WHERE gen = 77"
        }.joined(separator: " UNION ")
        #expect(try EngineUnderTest.text(kept, in: path) == box)
    }

    /// The number is what a page is in order by: a search for the others would pass them over.
    @Test func aNumberThatIsDamagedInBothCopiesHidesNoOthers() throws {
        let keychain = try filled()
        let path = keychain.databasePath
        let first = "SELECT hex(wrapped) FROM metadata_keys ORDER BY class LIMIT 1"
        let box = try EngineUnderTest.text(first, in: path)
        let wrapped = Data(
            stride(from: 0, to: box.count, by: 2).map { index in
                UInt8(box.dropFirst(index).prefix(2), radix: 16) ?? 0
            })
        var bytes = try bytes(path)
        var places: [Int] = []
        var rest = bytes.startIndex..<bytes.endIndex
        while let found = bytes.range(of: wrapped, in: rest) {
            places.append(found.lowerBound)
            rest = found.upperBound..<bytes.endIndex
        }
        #expect(places.count == 2)
        // Of the first generation nothing stands between the two (a record of SQLite's).
        for place in places { bytes[place - 1] = 100 }
        try bytes.write(to: URL(fileURLWithPath: path))
        try keychain.open()
        let readable = Self.accounts.filter { (try? keychain.value($0)) == "value of \($0)" }
        #expect(readable.count == Self.accounts.count - 1)
    }

    /// Before the next opening the other copy is read.
    @Test func aKeyThatIsDamagedWhileItRunsIsReadFromItsOtherCopy() throws {
        let keychain = try filled()
        try keychain.open()
        try keychain.sql("UPDATE metadata_keys SET wrapped = zeroblob(60)")
        keychain.engine.forgetMetadataKeys()
        for tag in Self.accounts { #expect(try keychain.value(tag) == "value of \(tag)") }
        try keychain.add("new", "x")
        #expect(try keychain.engine.mendCopies()?.contains("put right from their other copy") == true)
        #expect(try keychain.engine.mendCopies() == nil)
        try keychain.engine.doctor(.verify).inspection.map { #expect($0.unopened == 0) }
    }

    /// Its class is closed, so that nobody can tell what is the matter with it; that of another
    /// class is damaged meanwhile, and put right.
    @Test(arguments: [
        "DELETE FROM metadata_keys WHERE class = 6", "DELETE FROM metadata_keys_copy WHERE class = 6",
        "UPDATE metadata_keys SET wrapped = zeroblob(60) WHERE class = 6",
        "UPDATE metadata_keys_copy SET \"check\" = zeroblob(16) WHERE class = 6",
        "UPDATE metadata_keys SET wrapped = x'00' WHERE class = 6",
    ])
    func aMetadataKeyWhoseClassIsLockedStays(_ damage: String) throws {
        let keychain = try EngineUnderTest(at: TemporaryDirectory(), ManualClock())
        let cost = try #require(PasscodeCost.fixed(passes: 1, kibibytes: 8))
        let passcode = SharedSecret(SecretBytes(copying: Array("1234".utf8)))
        var enclave = try keychain.open(passcodeCost: cost)
        try enclave.setPasscode(passcode)
        let tags = ["ak", "ck", "dk"]
        for tag in tags { try keychain.add(tag, "value of \(tag)", [("pdmn", .string(tag))]) }
        try keychain.close()
        let path = keychain.databasePath
        for edit in [damage, "UPDATE metadata_keys SET wrapped = zeroblob(60) WHERE class = 8"] {
            try EngineUnderTest.execute(edit, in: path)
        }
        func records(_ condition: String) throws -> [String] {
            try ["metadata_keys", "metadata_keys_copy"].map {
                try EngineUnderTest.text(
                    "SELECT group_concat(class || gen || hex(wrapped) || hex(\"check\")) FROM \($0) WHERE \(condition)",
                    in: path)
            }
        }
        let before = try records("class = 6")
        enclave = try keychain.open(passcodeCost: cost)
        #expect(keychain.engine.openingEvent?.contains("twice 1 were put right") == true)
        #expect(try records("class = 6") == before)
        let open = try records("class = 8")
        #expect(open[0] == open[1])
        #expect(keychain.failure("ak")?.status == .interactionNotAllowed)
        #expect(try keychain.value("dk") == "value of dk")
        #expect(try keychain.number("SELECT count(*) FROM damaged") == 0)
        try enclave.unlock(with: .passcode(passcode))
        #expect(try keychain.engine.mendCopies()?.contains("twice 1 were put right") == true)
        let after = try records("class = 6")
        #expect(after[0] == after[1] && !after[0].isEmpty && before.contains(after[0]))
        for tag in tags { #expect(try keychain.value(tag) == "value of \(tag)") }
        let report = try keychain.engine.doctor(.verify)
        #expect(report.isIntact == true && report.damaged == 0 && !report.hasNewDamage)
        try keychain.close()
    }

    /// Nobody has the bytes of the store's id but the keybag, which is another one's then.
    @Test func whereBothCopiesOfTheIDSaySomethingElseNothingIsWritten() throws {
        let keychain = try filled()
        for table in ["store", "store_copy"] {
            try EngineUnderTest.execute(
                "UPDATE \(table) SET value = zeroblob(16) WHERE name = 'id'", in: keychain.databasePath)
        }
        let before = try bytes(keychain.databasePath)
        let error = #expect(throws: KeychainError.self) { try keychain.open() }
        #expect(error?.reason == .storeMismatch)
        #expect(try bytes(keychain.databasePath) == before)
    }

    /// Neither page is written by what is done all day.
    @Test func anAddWritesNeitherCopy() throws {
        let keychain = try filled()
        let before = try bytes(keychain.databasePath)
        try keychain.open()
        try keychain.add("another", "one")
        _ = try keychain.call(.update, keychain.item("ak"), value: "value")
        _ = try keychain.call(.delete, keychain.item("ck"))
        try keychain.close()
        let after = try bytes(keychain.databasePath)
        #expect(before != after)
        for table in Self.tables {
            let place = try offset(table, keychain.databasePath)
            #expect(before[place..<place + 4096] == after[place..<place + 4096])
        }
    }
}
