import Foundation
import Security

/// Keys as they are, without a cast: `[CFString: Any]`.
func cfStringKeys() throws {
    let identity: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword,
        kSecAttrService: "sample.cfstring-keys",
        kSecAttrAccount: "bob",
    ]
    let add = identity.merging([kSecValueData: Data([0, 1, 2, 255])]) { $1 }
    expect(SecItemAdd(add as CFDictionary, nil) == errSecSuccess)

    let query = identity.merging([
        kSecReturnAttributes: true, kSecReturnData: true, kSecReturnPersistentRef: true,
    ]) { $1 }
    var result: AnyObject?
    expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
    guard let found = result as? NSDictionary else { return expect(false, "an NSDictionary") }
    expect(found[kSecValueData] as? Data == Data([0, 1, 2, 255]))
    expect(found[kSecAttrAccount] as? String == "bob")
    let typed = result as! [CFString: Any]
    expect(typed[kSecAttrService] as! String == "sample.cfstring-keys")

    guard let reference = found[kSecValuePersistentRef] as? Data else { return expect(false, "a reference") }
    var again: CFTypeRef?
    expect(
        SecItemCopyMatching([kSecValuePersistentRef: reference, kSecReturnData: true] as CFDictionary, &again)
            == errSecSuccess)
    expect((again as! Data).count == 4)

    let change: [CFString: Any] = [kSecValueData: Data(), kSecAttrComment: "emptied"]
    expect(SecItemUpdate(identity as CFDictionary, change as CFDictionary) == errSecSuccess)
    expect(SecItemDelete(identity as CFDictionary) == errSecSuccess)
}
