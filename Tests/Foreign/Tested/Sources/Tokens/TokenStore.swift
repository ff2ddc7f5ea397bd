import Foundation

/// Keeps one token, as an application does it.
public struct TokenStore {
    private let place: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "tokens",
    ]

    public init() {}

    public func save(_ token: String) -> OSStatus {
        SecItemAdd(place.merging([kSecValueData as String: Data(token.utf8)]) { $1 } as CFDictionary, nil)
    }

    public func load() -> String? {
        var found: CFTypeRef?
        let query = place.merging([kSecReturnData as String: true]) { $1 } as CFDictionary
        guard SecItemCopyMatching(query, &found) == errSecSuccess else { return nil }
        return (found as? Data).map { String(decoding: $0, as: UTF8.self) }
    }
}
