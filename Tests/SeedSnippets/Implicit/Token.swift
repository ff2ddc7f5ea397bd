import Foundation

// A file as it is on Apple's systems, where Foundation brings Security along: no line
// imports it. Two targets have it (scripts/stages/50-seed-snippets): one with a second
// file that imports Security for the whole module, one with a flag of the compiler.

/// Stores a token, reads it back and deletes it; the status of the first that fails.
public func tokenRoundTrip() -> OSStatus {
    let query: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "idiom.implicit",
    ]
    let add = query.merging([kSecValueData as String: Data("token".utf8)]) { $1 }
    let added = SecItemAdd(add as CFDictionary, nil)
    guard added == errSecSuccess else { return added }
    var result: CFTypeRef?
    let read = SecItemCopyMatching(query.merging([kSecReturnData as String: true]) { $1 } as CFDictionary, &result)
    guard read == errSecSuccess else { return read }
    guard result as? Data == Data("token".utf8) else { return errSecDecode }
    return SecItemDelete(query as CFDictionary)
}
