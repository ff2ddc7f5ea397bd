import Foundation
import Security

/// Results and queries whose keys or values are `AnyHashable`.
func hashableValues() throws {
    let query: [String: AnyHashable] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: "sample.hashable",
        kSecAttrAccount as String: "erin",
        kSecAttrSynchronizable as String: false,
    ]
    expect(query == query.merging([kSecAttrAccount as String: "erin"]) { $1 })
    expect(query[kSecAttrSynchronizable as String] == AnyHashable(false))
    expect(query["sync"] != nil && query["svce"] != nil)

    let add = query.merging([kSecValueData as String: Data("h".utf8)]) { $1 }
    var added: CFTypeRef?
    let returning = add.merging([kSecReturnAttributes as String: true]) { $1 }
    expect(SecItemAdd(returning as NSDictionary, &added) == errSecSuccess)
    guard let attributes = added as? [AnyHashable: Any] else { return expect(false, "[AnyHashable: Any]") }
    expect(attributes[kSecAttrAccount] as? String == "erin")
    expect(attributes[kSecAttrAccount as String] as? String == "erin")
    expect(attributes["acct"] as? String == "erin")

    var result: CFTypeRef?
    let find = query.merging([kSecReturnAttributes as String: true]) { $1 }
    expect(SecItemCopyMatching(find as CFDictionary, &result) == errSecSuccess)
    let list = [result as! NSDictionary] as NSArray
    expect((list as? [[String: AnyHashable]])?.first?[kSecAttrService as String] == AnyHashable("sample.hashable"))
    expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
}
