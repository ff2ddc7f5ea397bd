import Enclave
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
import Synchronization
import Testing

/// What the quiet pass leaves to others: rows that are locked, much damage, and a row whose place
/// another one has.
@Suite struct QuietInspectionTests {
    private let passcode = SharedSecret(SecretBytes(copying: Array("1234".utf8)))

    private static func hide(_ row: Int, _ keychain: EngineUnderTest) throws {
        try keychain.sql("UPDATE genp SET b_agrp = randomblob(16) WHERE rowid = \(row)")
    }

    private static func groups(_ keychain: EngineUnderTest) throws -> Int {
        try keychain.number("SELECT count(DISTINCT b_agrp) FROM genp")
    }

    /// - Returns: the pass at its end, and what ended it before all rows were looked at.
    private func pass(_ keychain: EngineUnderTest) -> (inspection: QuietInspection, failure: KeychainError?) {
        var inspection = QuietInspection()
        let failure = walk(&inspection, keychain)
        return (inspection, failure)
    }

    private func walk(_ inspection: inout QuietInspection, _ keychain: EngineUnderTest) -> KeychainError? {
        for _ in 0..<100 where !inspection.isOver {
            do throws(KeychainError) { try inspection.step(keychain.engine) } catch { return error }
        }
        return nil
    }

    @Test func whatIsLockedIsWaitedFor() throws {
        let keychain = try EngineUnderTest(at: TemporaryDirectory(), ManualClock())
        let cost = try #require(PasscodeCost.fixed(passes: 1, kibibytes: 8))
        let enclave = try keychain.open(passcodeCost: cost)
        for account in ["0", "1"] { try keychain.add(account, "v") }
        try Self.hide(1, keychain)
        try enclave.setPasscode(passcode)
        try enclave.lock()
        try keychain.engine.deviceChanged()
        var (inspection, failure) = pass(keychain)
        #expect(inspection.isOver && failure == nil)
        #expect(inspection.waitsForUnlock)
        #expect(try Self.groups(keychain) == 2, "nothing is concluded of it")
        try enclave.unlock(with: .passcode(passcode))
        try keychain.engine.deviceChanged()
        #expect(try !inspection.step(keychain.engine), "nobody has said so")
        inspection.goOn()
        failure = walk(&inspection, keychain)
        #expect(inspection.isOver && !inspection.waitsForUnlock && failure == nil)
        #expect(try Self.groups(keychain) == 1)
        try keychain.close()
    }

    /// A keychain that is open for a moment at a time: each time it comes further.
    @Test func howeverShortItIsOpenItComesToItsLastRows() throws {
        let keychain = try EngineUnderTest(at: TemporaryDirectory(), ManualClock())
        let cost = try #require(PasscodeCost.fixed(passes: 1, kibibytes: 8))
        let enclave = try keychain.open(passcodeCost: cost)
        let web: [(String, RawValue)] = [("class", .string("inet")), ("srvr", .string("example.org"))]
        _ = try keychain.call(.add, web + [("acct", .string("0")), ("pdmn", .string("dk"))], value: "v")
        try enclave.setPasscode(passcode)
        for account in 0..<3 { try keychain.add("\(account)", "v") }
        try Self.hide(3, keychain)
        var inspection = QuietInspection(rowsOfAStep: 1)
        var opened = 0
        for _ in 0..<12 where try Self.groups(keychain) == 2 {
            try enclave.unlock(with: .passcode(passcode))
            try keychain.engine.deviceChanged()
            inspection.goOn()
            // The first sees that nobody calls.
            for _ in 0..<2 { try inspection.step(keychain.engine) }
            try enclave.lock()
            try keychain.engine.deviceChanged()
            inspection.goOn()
            #expect(walk(&inspection, keychain) == nil)
            #expect(inspection.isOver)
            opened += 1
        }
        #expect(try Self.groups(keychain) == 1)
        #expect(opened > 1, "one opening was enough for all of them")
        try keychain.close()
    }

    /// It takes half of what the brake lets through: what somebody asks for then has the other half.
    @Test(arguments: [(8, 0), (9, 0), (5, 4)])
    func eightDamagedRowsAreSetAsideAndNoneWhereThereAreMore(_ passwords: Int, _ ofTheWeb: Int) throws {
        let keychain = try EngineUnderTest()
        for index in 0...passwords { try keychain.add("\(index)", "v") }
        for index in 0..<ofTheWeb {
            let query: [(String, RawValue)] = [
                ("class", .string("inet")), ("srvr", .string("example.org")), ("acct", .string("\(index)")),
            ]
            _ = try keychain.call(.add, query, value: "v")
        }
        try keychain.sql("UPDATE genp SET metadata = randomblob(length(metadata)) WHERE rowid <= \(passwords)")
        try keychain.sql("UPDATE inet SET metadata = randomblob(length(metadata))")
        let (inspection, failure) = pass(keychain)
        #expect(inspection.isOver)
        let isBound = passwords + ofTheWeb > 8
        #expect(failure?.reason == (isBound ? .mayBeSetAside : nil))
        #expect((failure?.underlying?.contains("latchkey doctor --verify") == true) == isBound, "for the log")
        #expect(try keychain.number("SELECT count(*) FROM damaged") == (passwords > 8 ? 0 : passwords))
        // Seven more that somebody asks for stop nobody.
        try keychain.add("new", "w")
        #expect(try keychain.value("new") == "w")
        #expect(try !keychain.engine.doctor(.look).brakeIsOn)
        try keychain.close()
    }

    /// An item was stored a second time, because nothing led to the first: both cannot be led to, and
    /// a person has to look. The rows behind it are mended all the same.
    @Test func aRowWhosePlaceAnotherHasIsPassedOverInSilence() throws {
        let keychain = try EngineUnderTest()
        for account in ["0", "1", "2"] { try keychain.add(account, "v") }
        let hidden = "b_agrp = randomblob(16), pkey = randomblob(length(pkey)), b_pair = randomblob(16)"
        try keychain.sql("UPDATE genp SET \(hidden) WHERE rowid = 1")
        try keychain.add("0", "again")
        try keychain.sql("UPDATE genp SET \(hidden) WHERE rowid = 3")
        let told = Mutex(0)
        keychain.engine.tellMended { _ in told.withLock { $0 += 1 } }
        let (inspection, failure) = pass(keychain)
        #expect(inspection.isOver && failure == nil)
        #expect(told.withLock { $0 } == 1, "of the third alone")
        #expect(try keychain.number("SELECT count(*) FROM genp") == 4)
        #expect(try keychain.number("SELECT count(*) FROM damaged") == 0, "it is whole")
        #expect(try keychain.values() == ["0": "again", "1": "v", "2": "v"])
        try keychain.close()
    }
}
