import Foundation
import Security

/// Dictionaries built step by step, and the pointer spelled out.
func mutableDictionary() throws {
    func base() -> NSMutableDictionary {
        let dictionary = NSMutableDictionary()
        dictionary[kSecClass] = kSecClassGenericPassword
        dictionary.setObject("sample.mutable", forKey: kSecAttrService)
        dictionary.setValue("carol", forKey: kSecAttrAccount as String)
        return dictionary
    }
    let add = base()
    add[kSecValueData] = Data("one".utf8)
    expect(SecItemAdd(add, nil) == errSecSuccess)
    expect(SecItemAdd(add as CFDictionary, nil) == errSecDuplicateItem)

    let query = base()
    query[kSecReturnData] = kCFBooleanTrue
    query[kSecMatchLimit] = kSecMatchLimitOne
    var result: CFTypeRef?
    let status = withUnsafeMutablePointer(to: &result) { SecItemCopyMatching(query, $0) }
    expect(status == errSecSuccess)
    expect(result as? NSData == NSData(data: Data("one".utf8)))

    let mutable = base().mutableCopy() as! NSMutableDictionary
    mutable.removeObject(forKey: kSecAttrAccount)
    expect(SecItemDelete(mutable) == errSecSuccess)
    expect(SecItemCopyMatching(base(), nil) == errSecItemNotFound)
}
