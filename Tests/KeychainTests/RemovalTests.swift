import Foundation
import Keychain
import KeychainServices
import KeychainTesting
import Testing

/// A removal opens nothing: no lock holds it up, and nobody is asked.
@Suite struct RemovalTests {
    private let keychain: TestKeychain
    private let mail = ItemAddress.password(service: "mail", account: "alice")
    private let two = SecretStore(.group(AccessGroup("two")))

    init() throws {
        keychain = try TestKeychain(entitlements: TestEntitlements(keychainAccessGroups: ["one", "two"]))
        try keychain.setPasscode()
    }

    /// An item whose reading a person has to agree to.
    private func addGuarded(in group: String = "one") throws {
        let made = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
        let access = try #require(made)
        let given: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "mail", kSecAttrAccount: "alice",
            kSecAttrAccessGroup: group, kSecAttrAccessControl: access, kSecValueData: Data("old".utf8),
        ]
        #expect(SecItemAdd(given as CFDictionary, nil) == errSecSuccess)
    }

    @Test(arguments: ["one", "two"]) func lockedItemsAreRemoved(_ group: String) throws {
        try keychain.withScope { () throws in
            let (store, here) = (SecretStore(), SecretStore(.group(AccessGroup(group))))
            try here.set(Secret("x"), for: mail)
            try keychain.lock()
            #expect(try store.remove(mail))
            #expect(try !store.remove(mail))
            try keychain.unlock()
            #expect(try store.items(.passwords()).isEmpty)
        }
    }

    @Test func aVaultLetsGoOfASecretWhileLocked() throws {
        try keychain.withScope { () throws in
            let vault = SecretVault("v", accessible: .whenUnlocked)
            try vault.set("x", forKey: "a")
            try keychain.lock()
            #expect(try vault.removeSecret(forKey: "a"))
            #expect(try !vault.removeSecret(forKey: "a"))
        }
    }

    @Test(arguments: ["one", "two"]) func nobodyIsAskedForARemoval(_ group: String) throws {
        try keychain.withScope { () throws in
            try addGuarded(in: group)
            keychain.setAuthentication(.cancel)
            #expect(try SecretStore().remove(mail))
            #expect(keychain.prompts.isEmpty)
        }
    }

    @Test func oneOfTwoOtherGroupsIsRemovedAtATime() throws {
        let keychain = try TestKeychain(entitlements: TestEntitlements(keychainAccessGroups: ["one", "two", "three"]))
        try keychain.withScope { () throws in
            let (store, three) = (SecretStore(), SecretStore(.group(AccessGroup("three"))))
            try three.set(Secret("3"), for: mail)
            try two.set(Secret("2"), for: mail)
            let found = try #require(try store.item(at: mail))
            #expect(try store.remove(mail))
            let left = try store.items(.passwords())
            #expect(left.count == 1 && left.first?.reference != found.reference)
            #expect(try store.remove(mail) && !store.remove(mail))
        }
    }

    // MARK: Changes of what a person guards

    @Test(arguments: ["one", "two"]) func aChangeAsksOnce(_ group: String) throws {
        try keychain.withScope { () throws in
            try addGuarded(in: group)
            #expect(try SecretStore().change(mail, to: ItemAttributes(label: "new")))
            #expect(keychain.prompts.count == 1)
            #expect(try SecretStore().item(at: mail)?.attributes.label == "new")
        }
    }

    @Test func aSecretThatIsReplacedAsksOnce() throws {
        try keychain.withScope { () throws in
            try addGuarded()
            #expect(try SecretStore().set(Secret("new"), for: mail) == .replaced)
            #expect(keychain.prompts.count == 1)
            #expect(try SecretStore().secret(for: mail)?.insecureText == "new")
        }
    }

    @Test func aChangeOfALockedItemIsRefused() throws {
        try keychain.withScope { () throws in
            try two.set(Secret("x"), for: mail)
            try keychain.lock()
            for store in [SecretStore(), two] {
                do throws(KeychainError) {
                    _ = try store.change(mail, to: ItemAttributes(label: "new"))
                    Issue.record("changed while locked")
                } catch {
                    #expect(error.status == .interactionNotAllowed)
                }
            }
            #expect(try !SecretStore(.firstGroup).change(mail, to: ItemAttributes(label: "new")))
        }
    }
}
