import KeychainModel
import KeychainPlatform
import KeychainProtocol
import Testing

/// What somebody who can write the database file, but has no keys, can do.
@Suite struct TamperTests {
    @Test func secretOfAnotherRowDoesNotOpen() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("mine", "one")
        try keychain.add("other", "two")
        try keychain.sql(
            """
            UPDATE genp SET (wrapped_key, secret) = (SELECT wrapped_key, secret FROM genp AS o WHERE o.rowid = 2) \
            WHERE rowid = 1
            """)
        #expect(try keychain.value("mine") == nil)
        #expect(try keychain.value("other") == "two")
        #expect(try keychain.number("SELECT count(*) FROM damaged") == 1, "set aside, not thrown away")
    }

    @Test func metadataOfAnotherRowDoesNotOpen() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("mine", "one")
        try keychain.add("other", "two")
        try keychain.sql("UPDATE genp SET metadata = (SELECT metadata FROM genp WHERE rowid = 2) WHERE rowid = 1")
        #expect(try keychain.value("mine") == nil)
        #expect(try keychain.value("other") == "two")
    }

    @Test func rowMovedIntoAnotherGroupByItsColumnIsNotShownThere() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "in a", [("agrp", .string("group.a"))])
        try keychain.add("b", "in b", [("agrp", .string("group.b"))])
        try keychain.sql("UPDATE genp SET b_agrp = (SELECT b_agrp FROM genp WHERE rowid = 2) WHERE rowid = 1")
        #expect(try keychain.value("a", [("agrp", .string("group.b"))]) == nil)
        #expect(try keychain.value("b", [("agrp", .string("group.b"))]) == "in b")
    }

    @Test(arguments: [
        "pdmn = 'dk'", "sync = 1", "uuid = randomblob(16)", "persistref = randomblob(16)", "gen = gen + 1", "fmt = 1",
        "fmt = 2", "fmt = 4",
    ])
    func editedColumnMakesTheRowDamagedAndNeverReadable(_ edit: String) throws {
        let keychain = try EngineUnderTest()
        try keychain.add("mine", "one")
        // A row of the other class, so that its metadata key exists.
        try keychain.add("always", "two", [("pdmn", .string("dk"))])
        try keychain.sql("UPDATE genp SET \(edit) WHERE rowid = 1")
        #expect(try keychain.value("mine", [("sync", .string("syna"))]) == nil)
        #expect(try keychain.value("always") == "two")
        #expect(try keychain.number("SELECT count(*) FROM damaged") == 1)
    }

    @Test func flippedByteIsDamageOfThatRowAlone() throws {
        let keychain = try EngineUnderTest()
        for index in 0..<5 { try keychain.add("\(index)", "v\(index)") }
        try keychain.sql("UPDATE genp SET secret = zeroblob(length(secret)) WHERE rowid = 3")
        let answer = try keychain.call(
            .copy,
            [("class", .string("genp")), ("m_Limit", .string("m_LimitAll")), ("r_Data", .bool(true)), ("r_Attributes", .bool(true))])
        #expect(answer.rows.map { $0.attributes[.account]?.string } == ["0", "1", "3", "4"])
        try keychain.add("2", "again")
        #expect(try keychain.value("2") == "again")
    }

    @Test func limitOneSkipsADamagedRow() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("first", "one")
        try keychain.add("second", "two")
        try keychain.sql("UPDATE genp SET secret = zeroblob(length(secret)) WHERE rowid = 1")
        let answer = try keychain.call(.copy, [("class", .string("genp")), ("svce", .string("service")), ("r_Data", .bool(true))])
        #expect(answer.rows.count == 1)
        #expect(answer.rows.first?.value.map { String(decoding: $0.bytes.insecureArray(), as: UTF8.self) } == "two")
    }

    @Test func damagedMetadataKeyTakesItsRowsAlongAsOneEvent() throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.add("b", "2")
        try keychain.add("always", "3", [("pdmn", .string("dk"))])
        try keychain.reopen { try keychain.spoilKeys("wrapped = zeroblob(60)") }
        #expect(try keychain.value("a") == nil)
        #expect(try keychain.value("always") == "3")
        #expect(try keychain.number("SELECT count(*) FROM damaged WHERE cause = 'metadata key'") == 2)
        try keychain.add("a", "new")
        #expect(try keychain.value("a") == "new")
    }

    /// A cell of another type, a number that does not fit: the row's damage, and
    /// nothing that ends the process.
    @Test(arguments: [
        "gen = -1", "gen = 'x'", "metadata = 5", "metadata = x''", "fmt = 'x'", "pdmn = 5", "pdmn = 'ck'",
        "pdmn = 'akpu'", "pdmn = 'zz'", "sync = x'00'", "uuid = 'text'", "wrapped_key = NULL", "secret = 7", "secret = NULL", "(wrapped_key, secret) = (NULL, NULL)",
    ])
    func strangeCellIsThatRowsDamageAlone(_ edit: String) throws {
        let keychain = try EngineUnderTest()
        for account in ["a", "b", "c"] { try keychain.add(account, "value of \(account)") }
        try keychain.sql("UPDATE OR IGNORE genp SET \(edit) WHERE rowid = 2")
        try keychain.reopen()
        let answer = try keychain.call(
            .copy,
            [("class", .string("genp")), ("m_Limit", .string("m_LimitAll")), ("r_Data", .bool(true)), ("r_Attributes", .bool(true))])
        let found = answer.rows.compactMap { $0.attributes[.account]?.string }
        #expect(found.contains("a") && found.contains("c"))
        try? keychain.add("b", "again")
        #expect(try keychain.value("a") == "value of a")
        #expect(try keychain.value("c") == "value of c")
        #expect(try keychain.value("b") != nil)
    }

    @Test(arguments: ["gen = -1", "gen = 'x'", "wrapped = 5", "\"check\" = x''"])
    func strangeMetadataKeyEndsNothing(_ edit: String) throws {
        let keychain = try EngineUnderTest()
        try keychain.add("a", "1")
        try keychain.add("always", "2", [("pdmn", .string("dk"))])
        try keychain.reopen { try keychain.spoilKeys(edit) }
        _ = try? keychain.value("a")
        #expect(try keychain.value("always") == "2")
    }

    /// All keys gone is no row's damage: nothing is written, nothing set aside.
    @Test func storeWithoutAnyMetadataKeyIsLeftAlone() throws {
        let keychain = try EngineUnderTest()
        for index in 0..<20 { try keychain.add("\(index)", "v") }
        try keychain.reopen { try keychain.sql("DELETE FROM metadata_keys; DELETE FROM metadata_keys_copy") }
        let read = #expect(throws: KeychainError.self) { try keychain.value("1") }
        #expect(read?.reason == .storeMismatch)
        let written = #expect(throws: KeychainError.self) { try keychain.add("other", "w") }
        #expect(written?.reason == .storeMismatch)
        #expect(try keychain.number("SELECT count(*) FROM genp") == 20)
        #expect(try keychain.number("SELECT count(*) FROM damaged") == 0)
    }
}
