import Foundation
import Security

/// Everything of one service, as a list of dictionaries.
func listAll() throws {
    for name in ["x", "y", "z"] {
        let add =
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "sample.list", kSecAttrAccount: name,
                kSecAttrGeneric: Data(name.utf8), kSecValueData: Data("value of \(name)".utf8),
            ] as NSDictionary
        expect(SecItemAdd(add, nil) == errSecSuccess)
    }
    let query: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: "sample.list",
        kSecMatchLimit as String: kSecMatchLimitAll,
        kSecReturnAttributes as String: true,
        kSecReturnData as String: true,
    ]
    var result: CFTypeRef?
    expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
    guard let items = result as? [[String: Any]] else { return expect(false, "[[String: Any]]") }
    expect(items.compactMap { $0[kSecAttrAccount as String] as? String }.sorted() == ["x", "y", "z"])
    for item in items {
        let account = item[kSecAttrAccount as String] as! String
        expect(item[kSecValueData as String] as? Data == Data("value of \(account)".utf8))
    }
    expect((result as! NSArray).count == 3)
    expect((result as! CFArray as? [NSDictionary])?.first?[kSecAttrService] as? String == "sample.list")

    var two: AnyObject?
    let limited = query.merging([kSecMatchLimit as String: 2, kSecReturnAttributes as String: false]) { $1 }
    expect(SecItemCopyMatching(limited as CFDictionary, &two) == errSecSuccess)
    expect((two as? [Data])?.count == 2)

    let everything = [kSecClass: kSecClassGenericPassword, kSecAttrService: "sample.list"] as CFDictionary
    expect(SecItemDelete(everything) == errSecSuccess)
    expect(SecItemDelete(everything) == errSecItemNotFound)
}
