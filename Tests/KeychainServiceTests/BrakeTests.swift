import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
import Testing

/// Damage that comes all at once stops writing, not reading.
@Suite struct BrakeTests {
    /// An engine with items 0 to `count` - 1, all of whose secrets were damaged but the spared ones'.
    static func broken(_ count: Int, sparing spared: Set<Int> = []) throws -> EngineUnderTest {
        let keychain = try EngineUnderTest()
        for index in 0..<count { try keychain.add("\(index)", "v\(index)") }
        let kept = spared.map { "\($0 + 1)" }.joined(separator: ",")
        try keychain.sql(
            "UPDATE genp SET secret = zeroblob(length(secret)) WHERE rowid NOT IN (\(kept))")
        return keychain
    }

    func readAll(_ keychain: EngineUnderTest) throws -> [String] {
        do throws(KeychainError) {
            let answer = try keychain.call(
                .copy,
                [
                    ("class", .string("genp")), ("m_Limit", .string("m_LimitAll")), ("r_Data", .bool(true)),
                    ("r_Attributes", .bool(true)),
                ])
            return answer.rows.compactMap { $0.attributes[.account]?.string }
        } catch {
            guard error.status == .itemNotFound else { throw error }
            return []
        }
    }

    func refusal(_ body: () throws -> Void) -> KeychainError? {
        do { try body() } catch let error as KeychainError { return error } catch { return nil }
        return nil
    }

    @Test func sixteenDamagedRowsGoAsideAndSeventeenStopEverything() throws {
        let sixteen = try Self.broken(17, sparing: [3])
        #expect(try readAll(sixteen) == ["3"])
        #expect(try sixteen.number("SELECT count(*) FROM damaged") == 16)
        try sixteen.add("new", "w")

        let seventeen = try Self.broken(18, sparing: [3])
        #expect(try readAll(seventeen) == ["3"], "reads of good rows go on")
        #expect(try seventeen.number("SELECT count(*) FROM damaged") == 0, "nothing was moved")
        #expect(try seventeen.number("SELECT count(*) FROM genp") == 18)
        let suspect = KeychainError(.notAvailable, reason: .storeSuspect)
        #expect(refusal { try seventeen.add("new", "w") } == suspect)
        #expect(refusal { _ = try seventeen.call(.update, seventeen.item("3"), value: "w") } == suspect)
        #expect(refusal { _ = try seventeen.call(.delete, seventeen.item("3")) } == suspect)
        #expect(try seventeen.value("3") == "v3")
        #expect(try seventeen.value("5") == nil)
        #expect(try seventeen.number("SELECT count(*) FROM genp") == 18)
    }

    @Test func theWindowIsAMinuteOfTheInjectedClock() throws {
        for (pause, stops) in [(Duration.seconds(59), true), (.seconds(60), false)] {
            let keychain = try Self.broken(20, sparing: [19])
            for index in 0..<16 { #expect(try keychain.value("\(index)") == nil) }
            keychain.clock.advance(by: pause)
            #expect(try keychain.value("16") == nil)
            let error = refusal { try keychain.add("new", "w") }
            #expect((error?.reason == .storeSuspect) == stops)
            #expect(try keychain.number("SELECT count(*) FROM damaged") == (stops ? 16 : 17))
        }
    }

    @Test func itSurvivesARestartAndIsLetGoByAcceptingTheDamage() throws {
        let keychain = try Self.broken(30, sparing: [0])
        #expect(try readAll(keychain) == ["0"])
        try keychain.reopen()
        #expect(refusal { try keychain.add("new", "w") }?.reason == .storeSuspect)
        let looked = try keychain.engine.doctor(.look)
        #expect(looked.brakeIsOn && looked.brakeSince == keychain.clock.wallClock && looked.damaged == 0)
        let accepted = try keychain.engine.doctor(.acceptDamage)
        #expect(!accepted.brakeIsOn && !accepted.hasNewDamage)
        #expect(accepted.damaged == 29 && accepted.inspection?.moved == 29 && accepted.inspection?.sound == 1)
        try keychain.add("new", "w")
        #expect(try readAll(keychain) == ["0", "new"])
        try keychain.reopen()
        try keychain.add("newer", "w")
        #expect(try keychain.number("SELECT count(*) FROM damaged") == 29, "nothing was thrown away")
    }

    /// The file was written back as it was: every row opens again.
    @Test func salvageLetsItGoOnceEveryRowOpens() throws {
        let keychain = try EngineUnderTest()
        for index in 0..<20 { try keychain.add("\(index)", "v\(index)") }
        try keychain.sql("CREATE TABLE kept AS SELECT rowid AS id, secret FROM genp")
        try keychain.sql("UPDATE genp SET secret = zeroblob(length(secret))")
        #expect(try readAll(keychain) == [])
        let tried = try keychain.engine.doctor(.salvage)
        #expect(tried.brakeIsOn && tried.inspection?.unopened == 20, "it cannot help yet")
        try keychain.sql("UPDATE genp SET secret = (SELECT secret FROM kept WHERE id = genp.rowid)")
        try keychain.sql("DROP TABLE kept")
        let report = try keychain.engine.doctor(.salvage)
        #expect(!report.brakeIsOn && report.inspection?.sound == 20)
        try keychain.add("new", "w")
        #expect(try readAll(keychain).count == 21)
    }

    @Test(arguments: ["copy", "update", "delete", "add"])
    func aMetadataKeyThatDoesNotOpenIsOneEventWhoeverMeetsIt(_ call: String) throws {
        let keychain = try EngineUnderTest()
        for index in 0..<40 { try keychain.add("\(index)", "v") }
        try keychain.add("always", "other", [("pdmn", .string("dk"))])
        try keychain.reopen { try keychain.spoilKeys("wrapped = zeroblob(60)") }
        let all: [(String, RawValue)] = [("class", .string("genp")), ("svce", .string("service"))]
        switch call {
        case "copy": #expect(try readAll(keychain) == ["always"])
        case "update": _ = try keychain.call(.update, all, changes: [("labl", .string("l"))])
        case "delete": _ = try keychain.call(.delete, all + [("m_Limit", .string("m_LimitAll"))])
        default: try keychain.add("3", "again")
        }
        // An item that an add put in a damaged one's place keeps that from coming back.
        let superseded = try keychain.number("SELECT count(*) FROM damaged WHERE cause = 'superseded'")
        #expect(superseded == (call == "add" ? 1 : 0))
        #expect(try keychain.number("SELECT count(*) FROM damaged WHERE cause = 'metadata key'") == 40 - superseded)
        #expect(try keychain.number("SELECT count(*) FROM damaged_keys WHERE length(wrapped) = 60") == 1)
        #expect(try keychain.engine.doctor(.look).brakeIsOn == false)
        try keychain.add("7", "again")
        #expect(try keychain.value("7") == "again")
    }

    /// The key's bytes come back: so do its rows, save where a newer one is.
    @Test func rowsOfALostMetadataKeyComeBackWithIt() throws {
        let keychain = try EngineUnderTest()
        for index in 0..<20 { try keychain.add("\(index)", "v\(index)") }
        try keychain.add("always", "other", [("pdmn", .string("dk"))])
        try keychain.sql("CREATE TABLE kept AS SELECT wrapped FROM metadata_keys WHERE class = 6")
        try keychain.reopen { try keychain.spoilKeys("wrapped = zeroblob(60)") }
        try keychain.add("3", "newer")
        let none = try keychain.engine.doctor(.salvage)
        #expect(none.salvage?.restored == 0 && none.salvage?.unopened == 19)
        try keychain.sql("UPDATE damaged_keys SET wrapped = (SELECT wrapped FROM kept)")
        try keychain.sql("DROP TABLE kept")
        let report = try keychain.engine.doctor(.salvage)
        #expect(report.salvage?.restored == 19 && report.salvage?.present == 0)
        #expect(report.damaged == 0)
        #expect(try keychain.value("3") == "newer")
        for index in 0..<20 where index != 3 { #expect(try keychain.value("\(index)") == "v\(index)") }
        // What gave way is kept, and deleting the newer one does not bring it back.
        #expect(try keychain.number("SELECT count(*) FROM damaged WHERE cause = 'superseded'") == 1)
        _ = try keychain.call(.delete, keychain.item("3"))
        _ = try keychain.engine.doctor(.salvage)
        #expect(try keychain.value("3") == nil)
    }

    @Test(arguments: ["update", "delete", "add"])
    func aChangeThatMeetsTooMuchIsRolledBackWhole(_ call: String) throws {
        let keychain = try Self.broken(40, sparing: [0])
        let all: [(String, RawValue)] = [("class", .string("genp")), ("svce", .string("service"))]
        let error = refusal {
            switch call {
            case "update": _ = try keychain.call(.update, all, value: "w")
            case "delete": _ = try keychain.call(.delete, all + [("m_Limit", .string("m_LimitAll"))])
            default: for index in 1..<40 { try keychain.add("\(index)", "w") }
            }
        }
        if call == "delete" {
            // A row's metadata opens: it goes, as it was asked to.
            #expect(error == nil)
            return
        }
        #expect(error?.reason == .storeSuspect)
        #expect(try keychain.value("0") == "v0")
        #expect(try keychain.number("SELECT count(*) FROM damaged") == (call == "add" ? 16 : 0))
        try keychain.reopen()
        #expect(refusal { try keychain.add("new", "w") }?.reason == .storeSuspect)
    }
}
