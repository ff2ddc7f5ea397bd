import Foundation
import KeychainServices

/// The calls of a small program, at the C-shaped door.
enum Passwords {
    static func add(
        _ account: String, _ value: String = "secret", group: String? = nil, accessible: CFString? = nil
    ) -> OSStatus {
        var attributes: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "tests",
            kSecAttrAccount as String: account, kSecValueData as String: Data(value.utf8),
        ]
        if let group { attributes[kSecAttrAccessGroup as String] = group }
        if let accessible { attributes[kSecAttrAccessible as String] = accessible }
        return SecItemAdd(attributes as CFDictionary, nil)
    }

    static func query(_ account: String) -> CFDictionary {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "tests",
            kSecAttrAccount as String: account,
        ] as CFDictionary
    }

    static func value(_ account: String) -> String? {
        let search = query(account).mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary()
        search[kSecReturnData] = kCFBooleanTrue
        var result: CFTypeRef?
        guard unsafe SecItemCopyMatching(search, &result) == errSecSuccess else { return nil }
        return (result as? Data).map { String(decoding: $0, as: UTF8.self) }
    }

    static func status(_ account: String) -> OSStatus {
        SecItemCopyMatching(query(account), nil)
    }

    static func attributes(_ account: String) -> NSDictionary? {
        let search = query(account).mutableCopy() as? NSMutableDictionary ?? NSMutableDictionary()
        search[kSecReturnAttributes] = kCFBooleanTrue
        var result: CFTypeRef?
        guard unsafe SecItemCopyMatching(search, &result) == errSecSuccess else { return nil }
        return result as? NSDictionary
    }
}
