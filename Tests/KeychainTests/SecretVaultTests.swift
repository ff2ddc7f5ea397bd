import Foundation
import Keychain
import KeychainServices
import KeychainTesting
import Synchronization
import Testing

@testable import KeychainClient
import KeychainModel
import KeychainPlatform
import KeychainProtocol

@Suite struct SecretVaultTests {
    private let keychain: TestKeychain
    private let vault = SecretVault("com.example.app", accessible: .whenUnlocked)

    init() throws { keychain = try TestKeychain() }

    private func add(_ service: String, _ account: Any, _ value: String?) {
        var given: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
        ]
        if let value { given[kSecValueData] = Data(value.utf8) }
        #expect(SecItemAdd(given as CFDictionary, nil) == errSecSuccess)
    }

    @Test func keysLeadToSecrets() async throws {
        try await keychain.withScope {
            try await vault.set("1", forKey: "a")
            try await vault.set(Secret("2"), forKey: "b")
            try await vault.set("3", forKey: "b")
            #expect(try await vault.text(forKey: "a") == "1")
            #expect(try await vault.text(forKey: "b") == "3")
            #expect(try await vault.secret(forKey: "c")?.byteCount == nil)
            #expect(try await vault.keys() == ["a", "b"])
            #expect(try await vault.contains("a"))
            #expect(try await vault.removeSecret(forKey: "a"))
            #expect(try await !vault.removeSecret(forKey: "a"))
            #expect(try await !vault.contains("a"))
            try await vault.removeAll()
            #expect(try await vault.keys().isEmpty)
        }
    }

    /// A set of `String` would lose one.
    @Test func keysThatUnicodeCallsEquivalentAreTwo() async throws {
        try await keychain.withScope {
            for (key, value) in [("\u{e9}", "1"), ("e\u{301}", "2"), ("z", "3")] {
                try await vault.set(value, forKey: key)
            }
            let keys = try await vault.keys()
            // In the order of their bytes.
            #expect(keys.map { Array($0.utf8) } == ["e\u{301}", "z", "\u{e9}"].map { Array($0.utf8) })
            #expect(try await vault.text(forKey: keys[0]) == "2")
            #expect(keys.count == 3)
        }
    }

    /// A number is no key: no key would lead to it.
    @Test func accountsThatAreNumbersAreNoKeys() throws {
        try keychain.withScope { () throws in
            add("old", 42, "1")
            #expect(throws: MigrationRefusal.accountsThatAreNoKeys(count: 1)) {
                _ = try vault.migrate(.passwords(service: "old"), originals: .keep)
            }
        }
    }

    @Test func keysThatOccurTwiceAreAllTold() throws {
        try keychain.withScope { () throws in
            for service in ["old", "older"] {
                for account in ["\u{e9}", "e\u{301}", "z"] { add(service, account, service) }
            }
            do throws(MigrationRefusal) {
                _ = try vault.migrate(.passwords(), originals: .keep)
                Issue.record("several items for one key")
            } catch {
                guard case .severalForOneKey(let keys) = error else { throw error }
                #expect(keys.map { Array($0.utf8) } == ["e\u{301}", "z", "\u{e9}"].map { Array($0.utf8) })
            }
        }
    }

    @Test func vaultsThatDifferInAnythingShareNothing() throws {
        let keychain = try TestKeychain(entitlements: TestEntitlements(keychainAccessGroups: ["own", "shared"]))
        try keychain.withScope { () throws in
            let vaults = [
                vault, SecretVault("com.example.other", accessible: .whenUnlocked),
                SecretVault("com.example.app", accessible: .afterFirstUnlock),
                SecretVault("com.example.app", accessible: .whenUnlocked, sharedIn: AccessGroup("shared")),
            ]
            for (number, vault) in vaults.enumerated().reversed() { try vault.set("\(number)", forKey: "key") }
            for (number, vault) in vaults.enumerated().dropFirst() {
                #expect(try vault.text(forKey: "key") == "\(number)")
            }
            #expect(try SecretStore().items(.passwords()).count == 4)
        }
    }

    @Test func aVaultLeavesThatOfAnotherGroupAlone() throws {
        let keychain = try TestKeychain(entitlements: TestEntitlements(keychainAccessGroups: ["own", "shared"]))
        try keychain.withScope { () throws in
            let shared = SecretVault("com.example.app", accessible: .whenUnlocked, sharedIn: AccessGroup("shared"))
            try shared.set("theirs", forKey: "token")
            #expect(try vault.text(forKey: "token") == nil && vault.keys().isEmpty)
            #expect(try !vault.removeSecret(forKey: "token"))
            try vault.set("mine", forKey: "token")
            try vault.removeAll()
            #expect(try shared.text(forKey: "token") == "theirs")
        }
    }

    @Test func whetherItCanBeUsedIsAskedWithoutWriting() throws {
        try keychain.withScope { () throws in
            #expect(vault.access() == .open)
            #expect(
                SecretVault("v", accessible: .always, sharedIn: AccessGroup("somebody.else")).access() == .groupDenied)
            // No passcode is set, so nothing of that class can be read, and no unlock helps.
            let bound = SecretVault("v", accessible: .whenPasscodeSetThisDeviceOnly)
            #expect(bound.access() == .passcodeMissing)
            try keychain.setPasscode()
            #expect(bound.access() == .open)
            try keychain.lock()
            #expect(bound.access() == .locked && vault.access() == .locked)
            try keychain.unlock()
            #expect(try SecretStore().items(.passwords()).isEmpty)
            keychain.close()
            guard case .unreachable(let error) = vault.access() else {
                Issue.record("a closed keychain is there")
                return
            }
            #expect(error.status == .notAvailable)
        }
    }

    @Test func accessIsAwaited() async throws {
        try keychain.setPasscode()
        try await keychain.withScope {
            #expect(await vault.access() == .open)
            try keychain.lock()
            #expect(await vault.access() == .locked)
            keychain.close()
            guard case .unreachable = await vault.access() else {
                Issue.record("a closed keychain is there")
                return
            }
        }
    }

    @Test func whoMayNotStoreHasNoAccess() throws {
        func access(_ entitlements: TestEntitlements, _ vault: SecretVault) -> SecretVault.Access {
            keychain.withScope(as: entitlements) { vault.access() }
        }
        #expect(access(TestEntitlements(), vault) == .groupDenied)
        let tokens = SecretVault("v", accessible: .whenUnlocked, sharedIn: AccessGroup("com.apple.token"))
        #expect(access(TestEntitlements(keychainAccessGroups: ["own", "com.apple.token"]), tokens) == .groupDenied)
        let denied = TestEntitlements(keychainAccessGroups: ["own"], booleans: ["keychain-deny"])
        #expect(access(denied, vault) == .unreachable(KeychainError(.notAvailable, reason: .keychainDenied)))
        #expect(access(TestEntitlements(keychainAccessGroups: ["*"]), vault) == .open)
        #expect(access(TestEntitlements(keychainAccessGroups: ["own"]), vault) == .open)
    }

    // MARK: Migration

    @Test func passwordsMoveIn() throws {
        try keychain.withScope { () throws in
            add("old", "a", "1")
            add("old", "b", "2")
            let kept = try vault.migrate(.passwords(service: "old"), originals: .keep)
            #expect(kept.keys == ["a", "b"] && kept.alreadyThere.isEmpty && kept.leftAlone == 0)
            #expect(try SecretStore().items(.passwords(service: "old")).count == 2)
            let again = try vault.migrate(.passwords(service: "old"), originals: .remove)
            #expect(again.alreadyThere == ["a", "b"])
            #expect(try SecretStore().items(.passwords(service: "old")).isEmpty)
            #expect(try vault.text(forKey: "a") == "1")
            #expect(try vault.text(forKey: "b") == "2")
            #expect(throws: MigrationRefusal.nothingToMigrate) {
                _ = try vault.migrate(.passwords(service: "old"), originals: .remove)
            }
        }
    }

    /// The crash of the blog post: another library's account is bytes.
    @Test func accountsThatAreBytesAreRefusedOrLeftAlone() throws {
        try keychain.withScope { () throws in
            add("old", "a", "1")
            add("old", Data("foo".utf8), "2")
            add("old", "", "3")
            add("old", "empty", nil)
            #expect(throws: MigrationRefusal.accountsThatAreNoKeys(count: 2)) {
                _ = try vault.migrate(.passwords(service: "old"), originals: .remove)
            }
            #expect(try vault.keys().isEmpty)
            #expect(try SecretStore().items(.passwords(service: "old")).count == 4)
            let report = try vault.migrate(.passwords(service: "old"), originals: .remove, unusable: .leaveAlone)
            #expect(report.keys == ["a"] && report.leftAlone == 3)
            #expect(try SecretStore().items(.passwords(service: "old")).count == 3)
        }
    }

    @Test func itemsWithoutSecretAreTold() throws {
        try keychain.withScope { () throws in
            add("old", "a", nil)
            #expect(throws: MigrationRefusal.itemsWithoutSecret(count: 1)) {
                _ = try vault.migrate(.passwords(service: "old"), originals: .keep)
            }
        }
    }

    @Test func conflictsAreToldAndNothingIsOverwritten() throws {
        try keychain.withScope { () throws in
            add("old", "a", "new")
            add("old", "b", "1")
            add("older", "b", "2")
            try vault.set("mine", forKey: "a")
            #expect(throws: MigrationRefusal.keysInTheVault(["a"])) {
                _ = try vault.migrate(.passwords(service: "old"), originals: .remove)
            }
            #expect(throws: MigrationRefusal.severalForOneKey(["b"])) {
                _ = try vault.migrate(.passwords(), originals: .remove)
            }
            #expect(try vault.text(forKey: "a") == "mine")
            #expect(try vault.keys() == ["a"])
            #expect(try SecretStore().items(.passwords()).count == 4)
        }
    }

    @Test(arguments: 1...12)
    func whateverCallFailsNoSecretIsLost(_ number: Int) throws {
        try keychain.withScope { () throws in
            for index in 0..<3 { add("old", "key \(index)", "\(index)") }
            let failing = FailingKeychain(try CurrentKeychain.transport(), failsAt: number)
            var refusal: MigrationRefusal?
            CurrentKeychain.$scoped.withValue(failing) {
                do throws(MigrationRefusal) {
                    _ = try vault.migrate(.passwords(service: "old"), originals: .remove)
                } catch { refusal = error }
            }
            let left = Set(try SecretStore().items(.passwords(service: "old")).compactMap(\.address.account.string))
            for index in 0..<3 {
                let inVault = try vault.text(forKey: "key \(index)") == "\(index)"
                #expect(inVault || left.contains("key \(index)"), "call \(number), key \(index)")
            }
            if refusal != nil {
                #expect(left.count == 3, "call \(number): an original is gone")
                #expect(try vault.keys().isEmpty, "call \(number): not taken back")
            }
        }
    }
}

/// Fails one call, by its number, before it reaches the keychain.
private final class FailingKeychain: KeychainTransport {
    private let below: any KeychainTransport
    private let failsAt: Int
    private let calls = Mutex(0)

    init(_ below: any KeychainTransport, failsAt: Int) {
        self.below = below
        self.failsAt = failsAt
    }

    func perform(_ request: KeychainRequest) throws(KeychainError) -> KeychainAnswer {
        let number = calls.withLock { calls in
            calls += 1
            return calls
        }
        guard number != failsAt else { throw KeychainError(.io, reason: .diskFull) }
        return try below.perform(request)
    }

    func changes(
        after position: ChangePosition, in scope: ChangeScope, orUntil cancelled: EventSignal
    ) throws(KeychainError) -> ChangeBatch? {
        try below.changes(after: position, in: scope, orUntil: cancelled)
    }

    func session() throws(KeychainError) -> SessionInformation { try below.session() }

    func authenticationSession() throws(KeychainError) -> any AuthenticationSession {
        try below.authenticationSession()
    }

    func deviceStates() throws(KeychainError) -> any DeviceStates { try below.deviceStates() }
}
