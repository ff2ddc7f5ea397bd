import Foundation
import Security

// What wrappers send on one of Apple's platforms and not on the other.

private var place: [String: Any] {
    [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "idiom.platforms"]
}

/// A deletion as it is written for macOS, with the limit, and as for iOS.
func deletionForEveryPlatform() throws {
    func fill() { for name in ["a", "b"] { put("idiom.platforms", name, "x") } }
    fill()
    var query = place
    #if !os(iOS)
        query[kSecMatchLimit as String] = kSecMatchLimitAll
    #endif
    expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
    expect(SecItemDelete(query as CFDictionary) == errSecItemNotFound)
    fill()
    query[kSecMatchLimit as String] = kSecMatchLimitOne
    expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
    query[kSecMatchLimit as String] = nil
    expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
    expect(SecItemDelete(query as CFDictionary) == errSecItemNotFound)
    query[kSecMatchCaseInsensitive as String] = true
    expect(SecItemDelete(query as CFDictionary) == errSecParam)
}

/// The keys about asking and about the kind of keychain, in each of the four calls.
func platformKeysInEveryCall() throws {
    let keys: [String: Any] = [
        kSecUseAuthenticationUI as String: kSecUseAuthenticationUIFail,
        kSecUseDataProtectionKeychain as String: true,
    ]
    let query = place.merging(keys) { $1 }
    let named = query.merging([kSecAttrAccount as String: "p"]) { $1 }
    expect(
        SecItemAdd(named.merging([kSecValueData as String: Data("1".utf8)]) { $1 } as CFDictionary, nil)
            == errSecSuccess)
    expect(SecItemUpdate(named as CFDictionary, [kSecAttrLabel as String: "l"] as CFDictionary) == errSecSuccess)
    var result: CFTypeRef?
    let skip = query.merging([
        kSecUseAuthenticationUI as String: kSecUseAuthenticationUISkip, kSecReturnData as String: true,
        kSecUseOperationPrompt as String: "Why",
    ]) { $1 }
    expect(SecItemCopyMatching(skip as CFDictionary, &result) == errSecSuccess)
    expect(result as? Data == Data("1".utf8))
    @available(*, deprecated) func older() -> OSStatus {
        SecItemCopyMatching(place.merging([kSecUseNoAuthenticationUI as String: true]) { $1 } as CFDictionary, nil)
    }
    expect((older as () -> OSStatus)() == errSecSuccess)
    // Contexts: contextsInQueries.
    let context = query.merging([kSecUseAuthenticationContext as String: NSObject()]) { $1 }
    expect(SecItemCopyMatching(context as CFDictionary, nil) == errSecParam)
    expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
}

/// The result of a call is that of iOS and of the data protection keychain of macOS.
func resultsAreThoseOfDataProtection() throws {
    put("idiom.platforms", "r", "1")
    var result: CFTypeRef?
    let query = place.merging([kSecReturnAttributes as String: true]) { $1 }
    expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
    let found = result as! [String: Any]
    expect(found[kSecAttrAccessible as String] as? String == kSecAttrAccessibleWhenUnlocked as String)
    expect(found[kSecAttrAccessGroup as String] is String && found[kSecAttrSynchronizable as String] as? Int == 0)
    expect(found[kSecAttrAccessControl as String] is SecAccessControl && found[kSecClass as String] == nil)
    // The return keys of an update are refused there, and no file keychain prunes them.
    expect(SecItemUpdate(query as CFDictionary, [kSecAttrLabel as String: "l"] as CFDictionary) == errSecParam)
    expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
}

/// Items that go along to other devices on Apple's systems are kept apart by the
/// same key; "sync" is what tests look for.
func synchronizableEverywhere() throws {
    let both = place.merging([kSecAttrSynchronizable as String: kSecAttrSynchronizableAny]) { $1 }
    for flag in [kCFBooleanTrue, kCFBooleanFalse] as [CFBoolean] {
        let item = place.merging([kSecAttrSynchronizable as String: flag, kSecAttrAccount as String: "s"]) { $1 }
        expect(item["sync"] != nil)
        expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    }
    var result: CFTypeRef?
    let all = both.merging([
        kSecMatchLimit as String: kSecMatchLimitAll, kSecReturnAttributes as String: kCFBooleanTrue as Any,
    ]) { $1 }
    expect(SecItemCopyMatching(all as CFDictionary, &result) == errSecSuccess)
    expect((result as? [[String: Any]])?.map { $0["sync"] as? Int } == [1, 0])
    expect(SecItemDelete(both as CFDictionary) == errSecSuccess)
}
