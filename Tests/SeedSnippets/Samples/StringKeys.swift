import Foundation
import Security

/// The commonest form of all: `[String: Any]`, bridged at the call.
func stringKeys() throws {
    var query: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: "sample.string-keys",
        kSecAttrAccount as String: "alice",
    ]
    var add = query
    add[kSecValueData as String] = "s3cret".data(using: .utf8)!
    add[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlock
    add[String(kSecAttrLabel)] = "A label"
    expect(SecItemAdd(add as CFDictionary, nil) == errSecSuccess)

    query[kSecReturnData as String] = kCFBooleanTrue
    query[kSecReturnAttributes as String] = true
    query[kSecMatchLimit as String] = kSecMatchLimitOne
    var item: CFTypeRef?
    switch SecItemCopyMatching(query as CFDictionary, &item) {
    case errSecSuccess:
        guard let found = item as? [String: Any], let data = found[kSecValueData as String] as? Data else {
            return expect(false, "a dictionary with data")
        }
        expect(String(data: data, encoding: .utf8) == "s3cret")
        expect(found[kSecAttrLabel as String] as? String == "A label")
        expect(found[kSecAttrAccessible as String] as? String == kSecAttrAccessibleAfterFirstUnlock as String)
        expect(found[kSecAttrCreationDate as String] is Date)
    case errSecItemNotFound, errSecInteractionNotAllowed:
        expect(false, "the item")
    case let status:
        expect(false, "status \(status)")
    }

    query[kSecReturnData as String] = nil
    query[kSecReturnAttributes as String] = nil
    query[kSecMatchLimit as String] = nil
    expect(SecItemDelete(query as CFDictionary) == noErr)
}
