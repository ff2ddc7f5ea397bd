import Enclave
import Foundation
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainStore
import KeychainTestSupport
import Synchronization
import Testing

/// What becomes of stored items when class keys get a new generation.
@Suite struct RenewalTests {
    private static let passcode = SharedSecret(SecretBytes(copying: Array("1234".utf8)))

    /// The engine and the enclave of one store, whose passcodes cost next to nothing.
    private final class Device {
        let folder: TemporaryDirectory
        let enclave: InProcessEnclave
        let engine: KeychainEngine
        private let authorization: Authorization

        init(_ folder: TemporaryDirectory? = nil) throws {
            let folder = try folder ?? TemporaryDirectory()
            self.folder = folder
            let cost = try #require(PasscodeCost.fixed(passes: 1, kibibytes: 8))
            let made = Mutex<InProcessEnclave?>(nil)
            engine = try KeychainEngine.open(dataDirectory: folder.path, clock: ManualClock()) {
                expected throws(KeychainError) in
                let enclave = try InProcessEnclave(
                    dataDirectory: folder.path, expecting: expected, clock: ManualClock(), passcodeCost: cost)
                made.withLock { $0 = enclave }
                return enclave
            }
            enclave = try #require(made.withLock { $0 })
            var entitlements = Entitlements()
            entitlements.keychainAccessGroups = ["group.a", "group.b"]
            authorization = Authorization(entitlements)
        }

        @discardableResult
        func call(
            _ operation: KeychainRequest.Operation, _ query: [(String, RawValue)],
            changes: [(String, RawValue)] = [], value: String? = nil
        ) throws -> KeychainAnswer {
            var query = QueryDictionary([("class", RawValue.string("genp")), ("svce", .string("renewal"))] + query)
            if value != nil, operation == .add { query.append(.text("v_Data"), .secret) }
            return try engine.answer(
                KeychainRequest(
                    operation, query: query, changes: QueryDictionary(changes),
                    value: value.map { SharedSecret(SecretBytes(copying: Array($0.utf8))) }), for: authorization)
        }

        func add(_ account: String, _ tag: String = "ak", value: String? = "v") throws {
            try call(
                .add, [("acct", .string(account)), ("pdmn", .string(tag))], value: value.map { "\($0) \(account)" })
        }

        func values() throws -> [String: String] {
            let rows = try call(
                .copy, [("m_Limit", .string("m_LimitAll")), ("r_Data", .bool(true)), ("r_Attributes", .bool(true))]
            ).rows
            return Dictionary(
                rows.map { row in
                    (
                        row.attributes[.account]?.string ?? "",
                        row.value.map { String(decoding: $0.bytes.insecureArray(), as: UTF8.self) } ?? ""
                    )
                }, uniquingKeysWith: { first, _ in first })
        }

        func number(_ sql: String) throws -> Int {
            try EngineUnderTest.number(sql, in: folder.path + "/keychain.db")
        }

        /// The wrapped metadata keys, each once.
        func boxes(_ condition: String) throws -> [[UInt8]] {
            try EngineUnderTest.text(
                "SELECT group_concat(hex(wrapped)) FROM metadata_keys WHERE \(condition)",
                in: folder.path + "/keychain.db"
            ).split(separator: ",").map { text in
                let digits = Array(text)
                return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                    UInt8(String(digits[$0...$0 + 1]), radix: 16)
                }
            }
        }

        func setPasscode() throws {
            try enclave.setPasscode(RenewalTests.passcode)
            try engine.deviceChanged()
        }

        func close() throws {
            try engine.close()
            enclave.close()
        }
    }

    @Test func everyItemMovesUnderTheNewKeysAndNobodySeesIt() throws {
        let device = try Device()
        for index in 0..<600 { try device.add("\(index)", ["ak", "ck", "aku", "dk"][index % 4]) }
        try device.add("without a value", value: nil)
        let before = try device.values()
        let position = try device.engine.changePosition(in: .searched, for: Self.everything).position
        try device.setPasscode()
        #expect(try device.values() == before)
        try device.engine.renewRows()
        #expect(try device.values() == before && before.count == 601)
        #expect(try device.number("SELECT count(*) FROM genp WHERE gen = 1 AND pdmn <> 'dk'") == 0)
        #expect(try device.number("SELECT count(*) FROM genp WHERE gen = 2") == 451)
        #expect(try device.engine.changes(after: position, in: .searched, for: Self.everything).changes.isEmpty)
        // The next opening forgets what nothing is under any more.
        let boxes = try device.boxes("gen = 1 AND class IN (6, 7, 9)")
        #expect(boxes.count == 3)
        try device.close()
        let again = try Device(device.folder)
        try again.enclave.unlock(with: .passcode(Self.passcode))
        try again.engine.deviceChanged()
        #expect(try again.values() == before)
        for table in ["metadata_keys", "metadata_keys_copy"] {
            #expect(try again.number("SELECT count(*) FROM \(table) WHERE gen = 1") == 1)
        }
        try again.close()
        try expectNone(of: boxes, in: device.folder)
    }

    /// A key that has gone is in no page of the file any more, and so in neither copy.
    private func expectNone(of boxes: [[UInt8]], in folder: TemporaryDirectory) throws {
        let file = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/keychain.db"))
        for box in boxes { #expect(file.range(of: Data(box)) == nil) }
    }

    /// Has a passcode set and removed, which gives the class keys new generations, and those of
    /// before forgotten.
    private func renewTwice(_ folder: TemporaryDirectory) throws {
        let renewing = try Device(folder)
        try renewing.setPasscode()
        try renewing.engine.renewRows()
        try renewing.enclave.removePasscode(with: .passcode(Self.passcode))
        try renewing.engine.deviceChanged()
        try renewing.engine.renewRows()
        try renewing.close()
        // What nothing is under any more is forgotten by the next.
        for _ in 0..<2 {
            let last = try Device(folder)
            #expect(try last.values() == ["a": "v a"])
            try last.close()
        }
    }

    /// A store whose keybag of before the passcode lies in the folder `before`.
    private func renewed() throws -> (TemporaryDirectory, before: String) {
        let device = try Device()
        try device.add("a")
        try device.close()
        let files = FileManager.default
        let before = device.folder.path + "-before"
        try files.copyItem(atPath: device.folder.path + "/enclave", toPath: before)
        try renewTwice(device.folder)
        return (device.folder, before)
    }

    private func exchange(_ folder: TemporaryDirectory, _ before: String) throws {
        let files = FileManager.default
        let enclave = folder.path + "/enclave"
        try files.moveItem(atPath: enclave, toPath: before + ".now")
        try files.moveItem(atPath: before, toPath: enclave)
        try files.moveItem(atPath: before + ".now", toPath: before)
    }

    /// It would open with no other keybag, and the store says so before it is written.
    @Test func nothingIsWrittenUnderAKeybagFromBefore() throws {
        let (folder, before) = try renewed()
        defer { try? FileManager.default.removeItem(atPath: before) }
        try exchange(folder, before)
        let old = try Device(folder)
        let refusal = #expect(throws: KeychainError.self) { try old.add("late") }
        #expect(refusal?.reason == .storeMismatch)
        try old.close()
        try exchange(folder, before)
        let again = try Device(folder)
        #expect(try again.values() == ["a": "v a"])
        try again.close()
    }

    /// An older database beside the present keybag: restored together they open, so that nothing
    /// is moved and nothing written.
    @Test func aDatabaseFromBeforeIsLeftAsItIs() throws {
        let device = try Device()
        try device.add("a")
        try device.close()
        let database = device.folder.path + "/keychain.db"
        let old = try Data(contentsOf: URL(fileURLWithPath: database))
        try renewTwice(device.folder)
        try old.write(to: URL(fileURLWithPath: database))
        let late = try Device(device.folder)
        let reading = #expect(throws: KeychainError.self) { try late.values() }
        let writing = #expect(throws: KeychainError.self) { try late.add("b") }
        #expect(reading?.reason == .storeMismatch && writing?.reason == .storeMismatch)
        #expect(try late.number("SELECT count(*) FROM damaged") == 0)
        #expect(try late.number("SELECT count(*) FROM genp") == 1)
        try late.close()
    }

    /// As versions did that did not look: the one row is damaged, the others open.
    @Test func whatWasWrittenUnderAKeybagFromBeforeTakesNothingAlong() throws {
        let (folder, before) = try renewed()
        defer { try? FileManager.default.removeItem(atPath: before) }
        let (database, kept) = (folder.path + "/keychain.db", before + ".keys")
        defer { try? FileManager.default.removeItem(atPath: kept) }
        try EngineUnderTest.execute(
            "ATTACH '\(kept)' AS k; CREATE TABLE k.keys AS SELECT * FROM metadata_keys; "
                + "DELETE FROM metadata_keys WHERE gen > 1; DELETE FROM metadata_keys_copy WHERE gen > 1", in: database)
        try exchange(folder, before)
        let old = try Device(folder)
        try old.add("late")
        try old.close()
        try exchange(folder, before)
        try EngineUnderTest.execute(
            "ATTACH '\(kept)' AS k; INSERT OR IGNORE INTO metadata_keys SELECT * FROM k.keys; "
                + "INSERT OR IGNORE INTO metadata_keys_copy SELECT * FROM k.keys", in: database)
        let again = try Device(folder)
        #expect(try again.values() == ["a": "v a"])
        #expect(try again.number("SELECT count(*) FROM damaged") == 1)
        try again.add("new")
        #expect(try again.values() == ["a": "v a", "new": "v new"])
        try again.close()
    }

    private static var everything: Authorization {
        var entitlements = Entitlements()
        entitlements.keychainAccessGroups = ["group.a", "group.b"]
        return Authorization(entitlements)
    }

    /// Cut short at any batch, the rest moves later.
    @Test func aRenewalThatIsCutShortGoesOn() throws {
        let device = try Device()
        for index in 0..<600 { try device.add("\(index)") }
        try device.setPasscode()
        var looks = 0
        try device.engine.renewRows {
            looks += 1
            return looks > 1
        }
        let moved = try device.number("SELECT count(*) FROM genp WHERE gen = 2")
        #expect((1..<600).contains(moved))
        #expect(try device.values().count == 600)
        try device.close()
        let again = try Device(device.folder)
        // Before the first unlock nothing can move, and nothing is lost.
        try again.engine.renewRows()
        #expect(try again.number("SELECT count(*) FROM genp WHERE gen = 2") == moved)
        try again.enclave.unlock(with: .passcode(Self.passcode))
        try again.engine.deviceChanged()
        try again.engine.renewRows()
        #expect(try again.number("SELECT count(*) FROM genp WHERE gen = 2") == 600)
        #expect(try again.values().count == 600)
    }

    /// A database that is set aside while its rows are under older keys: these stay
    /// until nothing of it can come back any more.
    @Test func keysThatADatabaseThatWasSetAsideNeedsStay() throws {
        let device = try Device()
        for index in 0..<20 { try device.add("\(index)") }
        let before = try device.values()
        try device.setPasscode()
        // Open from the start, under the third generation.
        try device.enclave.removePasscode(with: .passcode(Self.passcode))
        try device.engine.deviceChanged()
        #expect(try device.number("SELECT count(*) FROM genp WHERE gen = 1") == 20)
        let page = try device.number("SELECT rootpage FROM sqlite_schema WHERE name = 'genp_acct'")
        try device.close()
        // An index alone: every row is still there.
        try MalformedTests().overwrite(device.folder.path + "/keychain.db", at: UInt64((page - 1) * 4096), 4096)
        let malformed = try Device(device.folder)
        let error = #expect(throws: KeychainError.self) { try malformed.add("new") }
        #expect(error?.reason == .storeMalformed)
        try malformed.close()
        let again = try Device(device.folder)
        #expect(try again.values() == before)
        #expect(try again.number("SELECT count(*) FROM genp WHERE gen < 3") == 0)
    }

    /// What is locked is not damaged: nothing is said of it before it opens.
    @Test func aMalformedDatabaseThatIsMetWhileLockedComesBackOnceItIsOpen() throws {
        let device = try Device()
        for number in 0..<5 { try device.add("\(number)") }
        try device.setPasscode()
        let before = try device.values()
        try device.close()
        _ = try StoreSetAside.mark(
            in: PrivateDirectory(device.folder.path, creating: false), storeID: device.engine.storeID, at: 0)
        func refusal(_ device: Device, _ operation: KeychainRequest.Operation = .copy) -> KeychainError? {
            #expect(throws: KeychainError.self) { try device.call(operation, [("acct", .string("3"))]) }
        }
        for _ in 1...2 {
            let locked = try Device(device.folder)
            #expect(refusal(locked)?.status == .interactionNotAllowed)
            #expect(refusal(locked, .delete)?.status == .interactionNotAllowed)
            try locked.engine.goOnSalvaging()
            #expect(locked.engine.needsSalvage)
            try locked.close()
        }
        let again = try Device(device.folder)
        try again.enclave.unlock(with: .passcode(Self.passcode))
        try again.engine.goOnSalvaging()
        #expect(!again.engine.needsSalvage)
        #expect(try again.values() == before)
        #expect(try !again.engine.doctor(.look).hasNewDamage)
    }

    @Test func changesWhileItemsAreUnderOldKeysAreRight() throws {
        let device = try Device()
        for name in ["label", "value", "move", "class", "delete"] { try device.add(name) }
        try device.setPasscode()
        try device.call(.update, [("acct", .string("label"))], changes: [("labl", .string("new"))])
        try device.call(.update, [("acct", .string("value"))], changes: [("v_Data", .secret)], value: "another")
        try device.call(.update, [("acct", .string("move"))], changes: [("acct", .string("moved"))])
        try device.call(.update, [("acct", .string("class"))], changes: [("pdmn", .string("akpu"))])
        try device.call(.delete, [("acct", .string("delete"))])
        let expected = ["label": "v label", "value": "another", "moved": "v move", "class": "v class"]
        #expect(try device.values() == expected)
        try device.engine.renewRows()
        #expect(try device.values() == expected)
    }

    /// What older programs stored: values bound to their generation, rows without one.
    @Test func itemsOfTheFirstFormatMoveAsWell() throws {
        let folder = try MigrationTests().fixture()
        let device = try Device(folder)
        try MigrationTests().expectItems(of: device.engine)
        try device.setPasscode()
        try device.engine.renewRows()
        try MigrationTests().expectItems(of: device.engine)
        #expect(try device.number("SELECT count(*) FROM genp WHERE gen < 2 AND pdmn IN ('ak', 'ck')") == 0)
        #expect(try device.number("SELECT count(*) FROM genp WHERE fmt = 3") > 0)
    }

    /// Whoever has the keys of before has nothing of what came after.
    @Test func theOldMetadataKeyOpensNoNewAttribute() throws {
        let device = try Device()
        try device.add("old")
        try device.setPasscode()
        try device.engine.renewRows()
        try device.add("new")
        #expect(try device.number("SELECT count(*) FROM genp WHERE gen = 1") == 0)
        #expect(try device.number("SELECT count(*) FROM metadata_keys WHERE class = 6") == 2)
    }

    // MARK: Locking

    @Test func aLockWaitsForCallsThatAreUnderWay() throws {
        let device = try Device()
        try device.add("a")
        try device.setPasscode()
        try device.enclave.lock()
        try device.engine.deviceChanged()
        let error = #expect(throws: KeychainError.self) { try device.values() }
        #expect(error?.status == .interactionNotAllowed && error?.reason == .locked(class: "ak"))
        try device.enclave.unlock(with: .passcode(Self.passcode))
        try device.engine.deviceChanged()
        #expect(try device.values() == ["a": "v a"])
    }

    /// As after a start at which a slot opened the keychain: what takes a person is closed
    /// and stays, the rest is served.
    @Test func whatTakesAPersonStaysClosedWhereASlotOpenedTheRest() throws {
        let device = try Device()
        try device.setPasscode()
        try device.add("open")
        try device.add("person", "akpu")
        let credential = try device.enclave.addCredentialSlot(passcode: Self.passcode)
        try device.close()

        let again = try Device(device.folder)
        try again.enclave.unlock(bySlot: credential)
        try again.engine.deviceChanged()
        func value(_ account: String) throws -> String? {
            try again.call(.copy, [("acct", .string(account)), ("r_Data", .bool(true))]).rows.first?.value.map {
                String(decoding: $0.bytes.insecureArray(), as: UTF8.self)
            }
        }
        #expect(try value("open") == "v open")
        try again.add("another")
        for attempt in [{ _ = try value("person") }, { try again.add("later", "akpu") }] as [() throws -> Void] {
            let error = #expect(throws: KeychainError.self) { try attempt() }
            #expect(error?.status == .interactionNotAllowed && error?.reason == .locked(class: "akpu"))
        }
        #expect(try again.number("SELECT count(*) FROM genp WHERE pdmn = 'akpu'") == 1)
        try again.enclave.unlock(with: .passcode(Self.passcode))
        try again.engine.deviceChanged()
        #expect(try again.values() == ["open": "v open", "person": "v person", "another": "v another"])
    }

    @Test func itemsOfARemovedPasscodeArePurgedFromTheFile() throws {
        let device = try Device()
        try device.setPasscode()
        try device.add("kept")
        try device.add("lost", "akpu")
        let boxes = try device.boxes("class = 12")
        #expect(boxes.count == 1)
        try device.enclave.removePasscode(with: .passcode(Self.passcode))
        try device.engine.deviceChanged()
        #expect(try device.values() == ["kept": "v kept"])
        #expect(try device.number("SELECT count(*) FROM genp WHERE pdmn = 'akpu'") == 0)
        for table in ["metadata_keys", "metadata_keys_copy"] {
            #expect(try device.number("SELECT count(*) FROM \(table) WHERE class = 12") == 0)
        }
        try device.close()
        try expectNone(of: boxes, in: device.folder)
        let again = try Device(device.folder)
        let error = #expect(throws: KeychainError.self) { try again.add("again", "akpu") }
        #expect(error?.status == .authFailed && error?.reason == .passcodeNotSet)
    }
}
