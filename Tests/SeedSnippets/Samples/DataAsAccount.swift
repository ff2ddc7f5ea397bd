import Foundation
import Security

/// An account that is data, which is not the documented type: it comes back as
/// data, beside accounts that are strings.
func dataAsAccount() throws {
    let blob = Data([0x66, 0x6F, 0x6F, 0xFE])
    let item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "sample.data-account",
        kSecAttrAccount as String: blob, kSecValueData as String: blob,
    ]
    expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    var result: CFTypeRef?
    let query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "sample.data-account", kSecReturnAttributes: true,
        kSecMatchLimit: kSecMatchLimitAll,
    ]
    expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
    let accounts = (result as? [[CFString: Any]])?.map { $0[kSecAttrAccount] }
    expect(accounts?.count == 1)
    expect(accounts?.first as? Data == blob)
    expect(accounts?.first as? String == nil)
    expect(SecItemDelete(query.filter { $0.key != kSecReturnAttributes } as CFDictionary) == errSecSuccess)
}
