import Enclave
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
import Synchronization
import Testing

/// Several searches of the Secret Service in one call.
@Suite struct SearchEachTests {
    private let keychain: EngineUnderTest
    private static let group = AccessGroup("group.a")

    init() throws { keychain = try EngineUnderTest() }

    private func lookup(_ pairs: [String: String]) throws -> AttributeValue {
        .data(try #require(LookupAttributes(pairs.map { .init(name: $0.key, value: $0.value) })).encoded)
    }

    private func add(
        _ account: String, _ pairs: [String: String], class itemClass: ItemClass = .genericPassword,
        group: String = "group.a"
    ) throws {
        var query: [(String, RawValue)] = [
            ("class", .string(itemClass.rawValue)), ("acct", .string(account)), ("agrp", .string(group)),
            (itemClass == .genericPassword ? "svce" : "srvr", .string("service")),
        ]
        if !pairs.isEmpty, case .data(let bytes) = try lookup(pairs) { query.append(("look", .data(bytes))) }
        _ = try keychain.call(.add, query, value: "value of \(account)")
    }

    private func attributes(_ pairs: [(AttributeCode, AttributeValue)]) -> AttributeMap {
        var map = AttributeMap()
        for (code, value) in pairs { map.append(code, value) }
        return map
    }

    private func search(
        _ pairs: [(AttributeCode, AttributeValue)], class itemClass: ItemClass = .genericPassword,
        in group: AccessGroup = Self.group, telling extent: ItemSearch.Extent = .description,
        excludingLookups: Bool = false
    ) throws -> ItemSearch {
        try #require(
            ItemSearch(
                itemClass, having: attributes(pairs), in: group, telling: extent, excludingLookups: excludingLookups))
    }

    private func rows(_ searches: [ItemSearch]) throws(KeychainError) -> [AnswerRow] {
        try keychain.call(.searchEach(searches), []).rows
    }

    private func found(_ searches: [ItemSearch]) throws(KeychainError) -> [String] {
        try rows(searches).map { "\($0.search) \($0.attributes[.account]?.string ?? "")" }
    }

    @Test func eachRowSaysWhichSearchFoundIt() throws {
        try add("one", ["server": "a", "user": "x"])
        try add("two", ["server": "a", "user": "y"], class: .internetPassword)
        try add("others", ["server": "a"], group: "group.b")
        let server = (AttributeCode.lookup, try lookup(["server": "a"]))
        #expect(try found([search([server]), search([server], class: .internetPassword)]) == ["0 one", "1 two"])
        let both = (AttributeCode.lookup, try lookup(["server": "a", "user": "y"]))
        #expect(try found([search([both]), search([both], class: .internetPassword)]) == ["1 two"])
        #expect(try found([search([]), search([], in: AccessGroup("group.b"))]) == ["0 one", "1 others"])
        #expect(try found([search([(.lookup, lookup(["server": "b"]))])]) == [])
    }

    /// What goes while they look is there for all of them, and for none of the next.
    @Test func allOfThemLookAtOneMoment() throws {
        try add("one", ["server": "a"])
        try add("two", ["server": "a"], class: .internetPassword)
        let server = (AttributeCode.lookup, try lookup(["server": "a"]))
        let searches = [try search([server]), try search([server], class: .internetPassword)]
        var found: [String] = []
        let authorization = Authorization(keychain.entitlements)
        try keychain.engine.searchEach(searches, for: authorization) { row throws(KeychainError) in
            found.append(row.attributes[.account]?.string ?? "")
            guard found == ["one"] else { return }
            _ = try keychain.call(.delete, [("class", .string("inet")), ("agrp", .string("group.a"))])
        }
        #expect(found == ["one", "two"])
        #expect(try self.found(searches) == ["0 one"])
    }

    @Test func whatIsToldOfARowIsWhatWasAskedFor() throws {
        try add("one", ["server": "a"])
        let named = try #require(try rows([search([], telling: .presence)]).first)
        #expect(named.attributes.entries.map(\.code) == [.modificationDate])
        #expect(named.value == nil && named.accessControl == nil && !named.isClosed)
        let reference = try #require(PersistentReference(bytes: named.persistentReference))
        let whole = try rows([ItemSearch(reference, in: Self.group, telling: .everything)])
        #expect(whole.map { $0.value?.bytes.insecureArray() } == [Array("value of one".utf8)])
        #expect(whole.first?.attributes[.account]?.string == "one" && whole.first?.accessControl != nil)
        let partly = try rows([ItemSearch(reference, in: Self.group, telling: .value)])
        #expect(partly.map { $0.attributes.entries.map(\.code) } == [[.lookup]])
        #expect(partly.first?.value != nil && partly.first?.accessControl == nil)
        // In its own group alone, however exactly it is named.
        let elsewhere = ItemSearch(reference, in: AccessGroup("group.b"), telling: .value)
        #expect(try rows([elsewhere]).isEmpty)
    }

    @Test func whatHasLookupAttributesIsLeftOutWhereThatIsAsked() throws {
        try add("one", ["server": "a"])
        try add("two", [:])
        let service = (AttributeCode.service, AttributeValue.string("service"))
        #expect(try found([search([service]), search([service], excludingLookups: true)]) == ["0 one", "0 two", "1 two"])
    }

    @Test func anotherProgramsGroupIsRefused() throws {
        let refused = #expect(throws: KeychainError.self) {
            try rows([search([]), search([], in: AccessGroup("of.somebody.else"))])
        }
        #expect(refused?.status == .missingEntitlement)
        keychain.entitlements = Entitlements()
        #expect(throws: KeychainError.self) { try rows([search([])]) }
    }

    /// Such a row says nothing of the others, and is set aside.
    @Test func aDamagedRowDoesNotTakeTheOthersAlong() throws {
        for account in ["one", "two", "three"] { try add(account, ["server": "a"]) }
        try keychain.sql("UPDATE genp SET metadata = randomblob(length(metadata)) WHERE rowid = 2")
        let server = (AttributeCode.lookup, try lookup(["server": "a"]))
        #expect(try found([search([server]), search([server])]) == ["0 one", "0 three", "1 one", "1 three"])
        #expect(try keychain.number("SELECT count(*) FROM damaged") == 1)
    }

    @Test func whatIsLockedIsToldByItsReferenceOrFailsTheCall() throws {
        let folder = try TemporaryDirectory()
        let cost = try #require(PasscodeCost.fixed(passes: 1, kibibytes: 8))
        let made = Mutex<InProcessEnclave?>(nil)
        let engine = try KeychainEngine.open(dataDirectory: folder.path, clock: ManualClock()) {
            expected throws(KeychainError) in
            let enclave = try InProcessEnclave(dataDirectory: folder.path, expecting: expected, passcodeCost: cost)
            made.withLock { $0 = enclave }
            return enclave
        }
        try made.withLock { $0 }?.setPasscode(SharedSecret(SecretBytes(copying: Array("1234".utf8))))
        var entitlements = Entitlements()
        entitlements.keychainAccessGroups = ["group.a"]
        let authorization = Authorization(entitlements)
        guard case .data(let bytes) = try lookup(["server": "a"]) else { return }
        for (account, protection) in [("closed", ProtectionClass.whenUnlocked), ("open", .alwaysThisDeviceOnly)] {
            let query = QueryDictionary(
                keychain.item(account) + [
                    ("look", .data(bytes)), ("pdmn", .string(protection.rawValue)), ("v_Data", .secret),
                ])
            let value = SharedSecret(SecretBytes(copying: Array("value".utf8)))
            _ = try engine.answer(KeychainRequest(.add, query: query, value: value), for: authorization)
        }
        try made.withLock { $0 }?.lock()
        // As the daemon does once it hears of it.
        engine.forgetMetadataKeys()
        let server = (AttributeCode.lookup, AttributeValue.data(bytes))
        for extent in [ItemSearch.Extent.presence, .description] {
            let told = try engine.answer(
                KeychainRequest(.searchEach([search([server], telling: extent)])), for: authorization
            ).rows
            #expect(told.map(\.isClosed) == [true, false] && told.first?.attributes.isEmpty == true)
            #expect(told.allSatisfy { $0.persistentReference.count == 20 })
        }
        for extent in [ItemSearch.Extent.value, .everything] {
            let refused = #expect(throws: KeychainError.self) {
                try engine.answer(
                    KeychainRequest(.searchEach([search([server], telling: extent)])), for: authorization)
            }
            #expect(refused?.status == .interactionNotAllowed)
        }
        try engine.close()
    }

    // MARK: What cannot be asked

    @Test func whatNoItemIsFoundByMakesNoSearch() throws {
        let malformed = AttributeValue.data([0, 0, 0, 9, 1])
        let pairs: [(AttributeCode, AttributeValue)] = [
            (.lookup, malformed), (.lookup, .string("server")), (.label, .string("label")),
            (.accessGroup, .string("of.somebody.else")), (.account, .integer(1)), ("port", .integer(443)),
            ("ptcl", .string("htps")),
            (.appClipItem, .integer(1)), (.tombstone, .integer(1)), ("zzzz", .string("")),
        ]
        for (code, value) in pairs {
            let search = ItemSearch(
                .internetPassword, having: attributes([(code, value)]), in: Self.group, telling: .presence)
            #expect(search == nil, "\(code)")
        }
        let keys = ItemSearch(
            .key, having: AttributeMap(), in: Self.group, telling: .presence, excludingLookups: true)
        #expect(keys == nil)
    }
}
