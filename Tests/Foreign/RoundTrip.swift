import Foundation

// Every foreign program has a copy of this file; scripts/stages/40-foreign-packages
// adds the import line where the package needs one.

/// Adds, finds, changes and deletes one password, as an application does it.
func roundTrip(account: String) {
    let item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: "foreign package",
        kSecAttrAccount as String: account,
    ]
    func check(_ status: OSStatus, _ wanted: OSStatus, _ what: String) {
        guard status != wanted else { return }
        let text = SecCopyErrorMessageString(status, nil) as String? ?? "?"
        fatalError("\(what): \(status) (\(text)) instead of \(wanted)")
    }
    func value() -> Data? {
        var result: CFTypeRef?
        let query = item.merging([kSecReturnData as String: true]) { $1 }
        check(SecItemCopyMatching(query as CFDictionary, &result), errSecSuccess, "copy")
        return result as? Data
    }

    let new = item.merging([kSecValueData as String: Data("first".utf8)]) { $1 }
    check(SecItemAdd(new as CFDictionary, nil), errSecSuccess, "add")
    check(SecItemAdd(new as CFDictionary, nil), errSecDuplicateItem, "second add")
    precondition(value() == Data("first".utf8), "the value that was added")

    let change = [kSecValueData: Data("second".utf8)] as NSDictionary
    check(SecItemUpdate(item as CFDictionary, change), errSecSuccess, "update")
    precondition(value() == Data("second".utf8), "the value that was changed")

    check(SecItemDelete(item as CFDictionary), errSecSuccess, "delete")
    check(SecItemCopyMatching(item as CFDictionary, nil), errSecItemNotFound, "copy after delete")
    print("round trip: \(account)")
}
