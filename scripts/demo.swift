import Foundation
import Security

// What any program for Apple's systems does with a password.
func check(_ what: String, _ status: OSStatus) {
    print("  \(what): \(status) \(SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "")")
}

let account: [CFString: Any] = [
    kSecClass: kSecClassGenericPassword, kSecAttrService: "demo", kSecAttrAccount: "bob",
]
var item = account
item[kSecValueData] = Data("hunter1".utf8)
check("SecItemAdd", SecItemAdd(item as CFDictionary, nil))
check("SecItemAdd again", SecItemAdd(item as CFDictionary, nil))
check("SecItemUpdate", SecItemUpdate(account as CFDictionary, [kSecValueData: Data("hunter2".utf8)] as CFDictionary))

var query = account
query[kSecReturnData] = true
var result: CFTypeRef?
check("SecItemCopyMatching", SecItemCopyMatching(query as CFDictionary, &result))
if let data = result as? Data { print("  the password is \(String(decoding: data, as: UTF8.self))") }
