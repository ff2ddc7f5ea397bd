import Foundation
import KeychainServices
import KeychainTesting
import Testing

@Suite struct InsecureTests {
    @Test func hidesACorruptItemAndLetsItBeReplaced() throws {
        let keychain = try TestKeychain()
        try keychain.withScope {
            #expect(Passwords.add("a") == errSecSuccess)
            #expect(Passwords.add("b") == errSecSuccess)
            let count = try keychain.insecureCorruptItems(matching: Passwords.query("a"))
            #expect(count == 1)
            #expect(Passwords.status("a") == errSecItemNotFound)
            #expect(Passwords.status("b") == errSecSuccess)
            #expect(Passwords.add("a", "new") == errSecSuccess)
            #expect(Passwords.value("a") == "new")
        }
    }

    @Test func looksInPasswordsOfBothKindsWithoutAClass() throws {
        let keychain = try TestKeychain()
        try keychain.withScope {
            #expect(Passwords.add("a") == errSecSuccess)
            let internet: [String: Any] = [
                kSecClass as String: kSecClassInternetPassword, kSecAttrAccount as String: "a",
                kSecAttrServer as String: "example.com", kSecAttrSynchronizable as String: true,
            ]
            #expect(SecItemAdd(internet as CFDictionary, nil) == errSecSuccess)
            let match = [kSecAttrAccount as String: "a"] as CFDictionary
            let damaged = try keychain.insecureCorruptItems(matching: match)
            let left = try keychain.insecureCorruptItems(matching: match)
            #expect(damaged == 2 && left == 0)
        }
    }

    @Test func losesAClassWithItsMetadataKey() throws {
        let keychain = try TestKeychain()
        try keychain.withScope {
            #expect(Passwords.add("a") == errSecSuccess)
            try keychain.insecureCorruptMetadataKey(of: kSecAttrAccessibleWhenUnlocked)
            #expect(Passwords.status("a") == errSecItemNotFound)
            #expect(Passwords.add("a", "new") == errSecSuccess)
            #expect(Passwords.value("a") == "new")
        }
        #expect(throws: TestKeychainError.self) { try keychain.insecureCorruptMetadataKey(of: "nonsense") }
    }

    @Test func keepsItemsOverARestart() throws {
        let keychain = try TestKeychain()
        #expect(keychain.withScope { Passwords.add("a", "one") } == errSecSuccess)
        try keychain.restart()
        #expect(keychain.withScope { Passwords.value("a") } == "one")
    }

    @Test func saysWhenTheDatabaseIsDamaged() throws {
        let keychain = try TestKeychain()
        #expect(keychain.withScope { Passwords.add("a") } == errSecSuccess)
        try keychain.insecureCorruptDatabase()
        #expect(keychain.withScope { Passwords.status("a") } == errSecNotAvailable)
    }
}
