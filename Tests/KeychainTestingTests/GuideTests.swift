import Dispatch
import Foundation
import KeychainServices
import KeychainTesting
import Testing
import XCTest

// Every line of code in the guide (Sources/KeychainTesting/KeychainTesting.docc/
// TestingYourCode.md) stands here as well and runs; the last test sees to it.

/// Somebody's code: what the guide tests.
struct TokenStore {
    struct Failure: Error, Equatable { let status: OSStatus }

    private var item: [CFString: Any] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: "api", kSecAttrAccount: "alice"]
    }

    func save(_ token: String) throws {
        let value = [kSecValueData: Data(token.utf8)] as CFDictionary
        var status = SecItemUpdate(item as CFDictionary, value)
        if status == errSecItemNotFound {
            status = SecItemAdd(item.merging([kSecValueData: Data(token.utf8)]) { $1 } as CFDictionary, nil)
        }
        guard status == errSecSuccess else { throw Failure(status: status) }
    }

    func load() throws -> String? {
        var result: CFTypeRef?
        let query = item.merging([kSecReturnData: true]) { $1 } as CFDictionary
        let status = unsafe SecItemCopyMatching(query, &result)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw Failure(status: status) }
        return (result as? Data).map { String(decoding: $0, as: UTF8.self) }
    }

    func attributes() -> [String: Any]? {
        var result: CFTypeRef?
        let query = item.merging([kSecReturnAttributes: true]) { $1 } as CFDictionary
        return unsafe SecItemCopyMatching(query, &result) == errSecSuccess ? result as? [String: Any] : nil
    }
}

// MARK: With Swift Testing

@Test func remembersTheToken() throws {
    let keychain = try TestKeychain()
    try keychain.withScope {
        try TokenStore().save("secret")
        #expect(try TokenStore().load() == "secret")
    }
}

struct OwnKeychain: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        try await TestKeychain().withScope(body)
    }
}

@Suite(OwnKeychain()) struct TokenStoreSuite {
    @Test(arguments: ["one", "two", "three"]) func startsEmpty(_ token: String) async throws {
        #expect(try TokenStore().load() == nil)
        try TokenStore().save(token)
        await Task.yield()
        #expect(try TokenStore().load() == token)
    }
}

// MARK: With XCTest

final class TokenStoreTests: XCTestCase {
    private var keychain: TestKeychain!

    override func setUpWithError() throws {
        keychain = try TestKeychain()
        keychain.install()
    }

    override func tearDown() { keychain.close() }

    func testRemembersTheToken() throws {
        try TokenStore().save("secret")
        XCTAssertEqual(try TokenStore().load(), "secret")
        XCTAssertEqual(keychain.calls.last?.status, errSecSuccess)
    }

    func testStartsEmpty() throws {
        XCTAssertNil(try TokenStore().load())
    }
}

// MARK: The rest of the guide

@Suite struct GuideTests {
    private let store = TokenStore()

    @Test func aScopeGoesAlong() async throws {
        let keychain = try TestKeychain()
        // The guide leaves out what waits for the end of each.
        let ended = AsyncStream<String?>.makeStream()
        @Sendable func noteToken() { ended.continuation.yield(try? TokenStore().load()) }
        try keychain.withScope { try TokenStore().save("secret") }
        DispatchQueue.global().async { keychain.withScope { noteToken() } }
        Task.detached { keychain.withScope { noteToken() } }
        Thread.detachNewThread { keychain.withScope { noteToken() } }
        var seen = 0
        for await token in ended.stream {
            #expect(token == "secret")
            seen += 1
            if seen == 3 { break }
        }
        await keychain.withScope {
            async let child = TokenStore().attributes()?["acct"] as? String
            #expect(await child == "alice")
        }
    }

    @Test func callsAreSeen() throws {
        let keychain = try TestKeychain()
        try keychain.withScope { try store.save("secret") }
        #expect(keychain.calls.map(\.function) == [.update, .add])
        #expect(keychain.calls.map(\.status) == [errSecItemNotFound, errSecSuccess])
        #expect(keychain.calls[1][kSecAttrAccount] as? String == "alice")
        #expect(keychain.calls[1].carriesData)
        #expect(!keychain.calls.contains { $0.names(kSecAttrSynchronizable) })
        keychain.forgetCalls()
        #expect(keychain.calls.isEmpty)
    }

    @Test func callsFailOnPurpose() throws {
        let keychain = try TestKeychain()
        keychain.intercept { $0.function == .add ? .fail(errSecInteractionNotAllowed) : .answer }
        #expect(throws: TokenStore.Failure(status: errSecInteractionNotAllowed)) {
            try keychain.withScope { try store.save("secret") }
        }
        keychain.intercept(nil)
        try keychain.withScope { try store.save("secret") }
    }

    @Test func unexpectedCallsAreRefused() throws {
        let keychain = try TestKeychain()
        keychain.intercept { $0.function == .copyMatching ? .answer : .unexpected }
        try keychain.withScope { _ = try store.load() }
        #expect(keychain.unexpectedCalls.isEmpty)
        #expect(throws: TokenStore.Failure.self) { try keychain.withScope { try store.save("secret") } }
        #expect(keychain.unexpectedCalls.map(\.function) == [.update])
    }

    @Test func timeStands() throws {
        let clock = TestClock()
        let keychain = try TestKeychain(clock: clock)
        try keychain.withScope {
            try store.save("secret")
            let created = clock.now
            clock.advance(by: .seconds(24 * 60 * 60))
            try store.save("another")
            let item = try #require(store.attributes())
            #expect(item[kSecAttrCreationDate as String] as? Date == created)
            #expect(item[kSecAttrModificationDate as String] as? Date == clock.now)
        }
    }

    @Test func programsShareAKeychain() throws {
        let app = TestEntitlements(keychainAccessGroups: ["TEAM.own", "TEAM.shared"])
        let widget = TestEntitlements(keychainAccessGroups: ["TEAM.shared"])
        let keychain = try TestKeychain(entitlements: app)
        try keychain.withScope { try store.save("secret") }
        #expect(try keychain.withScope(as: widget) { try store.load() } == nil)
    }

    @Test func theDeviceIsLocked() throws {
        let keychain = try TestKeychain()
        try keychain.setPasscode()
        try keychain.withScope { try store.save("secret") }
        try keychain.lock()
        #expect(throws: TokenStore.Failure(status: errSecInteractionNotAllowed)) {
            try keychain.withScope { try store.load() }
        }
        try keychain.unlock()
        #expect(try keychain.withScope { try store.load() } == "secret")
        try keychain.restartDevice()
        #expect(!keychain.isUnlocked && keychain.hasPasscode)
        try keychain.unlock()
        try keychain.removePasscode()
        #expect(keychain.isUnlocked && !keychain.hasPasscode)
    }

    @Test func aPersonIsAsked() throws {
        let keychain = try TestKeychain()
        let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
        let owned: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "vault", kSecAttrAccessControl: control as Any,
        ]
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "vault", kSecUseOperationPrompt: "to open the vault",
        ]
        try keychain.setPasscode()
        keychain.addAuthentications([.cancel, .failure, .success])
        keychain.withScope {
            #expect(SecItemAdd(owned as CFDictionary, nil) == errSecSuccess)
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecUserCanceled)
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecAuthFailed)
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecSuccess)
        }
        #expect(keychain.prompts == ["to open the vault", "to open the vault", "to open the vault"])
    }

    @Test func aFingerIsEnrolled() throws {
        let keychain = try TestKeychain()
        try keychain.setPasscode()
        keychain.enrolBiometry()
        let finger = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .biometryCurrentSet, nil)
        let item: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "finger", kSecAttrAccessControl: finger as Any,
        ]
        let search: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "finger"]
        keychain.withScope {
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            #expect(SecItemCopyMatching(search as CFDictionary, nil) == errSecSuccess)
            keychain.enrolBiometry()
            #expect(SecItemCopyMatching(search as CFDictionary, nil) == errSecAuthFailed)
        }
    }

    @Test func damageIsMet() throws {
        let keychain = try TestKeychain()
        try keychain.withScope { try store.save("secret") }
        try keychain.insecureCorruptItems(matching: [kSecAttrService: "api"] as CFDictionary)
        #expect(try keychain.withScope { try store.load() } == nil)
        try keychain.restart()
    }

    /// What the guide shows is what runs here.
    @Test func everyLineOfTheGuideRuns() throws {
        let here = URL(fileURLWithPath: #filePath)
        let guide = here.appendingPathComponent("../../../Sources/KeychainTesting/KeychainTesting.docc")
            .standardizedFileURL.appendingPathComponent("TestingYourCode.md")
        let text = try String(contentsOf: guide, encoding: .utf8)
        let runs = Set(
            try String(contentsOf: here, encoding: .utf8).split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            })
        let blocks = text.components(separatedBy: "```swift\n").dropFirst()
        #expect(blocks.count > 8)
        for block in blocks {
            let code = block.components(separatedBy: "\n```")[0]
            for line in code.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) {
                #expect(runs.contains(line), "\(line)")
            }
        }
    }
}
