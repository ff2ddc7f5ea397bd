import Enclave
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
import Synchronization
import Testing

/// Several searches in one call.
@Suite struct CopyEachTests {
    private let keychain: EngineUnderTest

    init() throws { keychain = try EngineUnderTest() }

    private func search(_ account: String, _ more: [(String, RawValue)] = []) -> QueryDictionary {
        QueryDictionary(
            [
                ("class", .string("genp")), ("acct", .string(account)), ("r_Data", .bool(true)),
                ("r_Attributes", .bool(true)),
            ] + more)
    }

    private func found(_ searches: [QueryDictionary]) throws -> [(search: Int, value: String)] {
        try keychain.call(.copyEach(searches), []).rows.map { row in
            (row.search, String(decoding: row.value?.bytes.insecureArray() ?? [], as: UTF8.self))
        }
    }

    @Test func eachRowSaysWhichSearchFoundIt() throws {
        for account in ["a", "b", "c"] { try keychain.add(account, "value of \(account)") }
        let found = try found([search("b"), search("nobody"), search("a"), search("b")])
        #expect(found.map(\.search) == [0, 2, 3])
        #expect(found.map(\.value) == ["value of b", "value of a", "value of b"])
    }

    @Test func whatOneSearchFailsWithEndsTheCall() throws {
        try keychain.add("a", "value")
        let malformed = QueryDictionary([("class", .string("no class"))])
        #expect(throws: KeychainError.self) { try found([search("a"), malformed]) }
        let others = search("a", [("agrp", .string("of.somebody.else"))])
        let refused = #expect(throws: KeychainError.self) { try found([search("a"), others]) }
        #expect(refused?.status == .missingEntitlement)
    }

    /// A prompt would come up in the middle of several searches.
    @Test func nobodyIsAsked() throws {
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
        let control = try #require(
            AccessControl(protection: ProtectionClass.whenUnlocked.rawValue, flags: .userPresence))
        for (account, more) in [("asks", [("accc", RawValue.accessControl(control))]), ("open", [])] {
            let query = QueryDictionary(keychain.item(account) + more + [("v_Data", .secret)])
            let value = SharedSecret(SecretBytes(copying: Array("value".utf8)))
            _ = try engine.answer(KeychainRequest(.add, query: query, value: value), for: authorization)
        }
        let answer = { (words: String?) in
            let more = words.map { [("u_AuthUI", RawValue.string($0))] } ?? []
            let searches = [search("open"), search("asks", more)]
            return try engine.answer(KeychainRequest(.copyEach(searches)), for: authorization)
        }
        for words in [nil, "u_AuthUIA", "u_AuthUIF"] as [String?] {
            let refused = #expect(throws: KeychainError.self) { try answer(words) }
            #expect(refused?.status == .interactionNotAllowed, "\(words ?? "nothing"): \(String(describing: refused))")
        }
        #expect(try answer("u_AuthUIS").rows.map(\.search) == [0])
        try engine.close()
    }
}
