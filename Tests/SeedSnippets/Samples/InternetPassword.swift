import Foundation
import Security

/// Apple's own example of an application's server password, and random bytes for it.
func internetPassword() throws {
    var bytes = [UInt8](repeating: 0, count: 24)
    expect(SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes) == errSecSuccess)
    var data = Data(count: 24)
    let count = data.count
    let status = data.withUnsafeMutableBytes { SecRandomCopyBytes(kSecRandomDefault, count, $0.baseAddress!) }
    expect(status == 0 && Data(bytes) != data)

    let place: [String: Any] = [
        kSecClass as String: kSecClassInternetPassword,
        kSecAttrServer as String: "www.example.com",
        kSecAttrProtocol as String: kSecAttrProtocolHTTPS,
        kSecAttrPort as String: 8443,
        kSecAttrPath as String: "/login",
        kSecAttrAuthenticationType as String: kSecAttrAuthenticationTypeHTMLForm,
    ]
    let add = place.merging([kSecAttrAccount as String: "frank", kSecValueData as String: data]) { $1 }
    guard SecItemAdd(add as CFDictionary, nil) == errSecSuccess else { return expect(false, "add") }

    var item: CFTypeRef?
    let query = place.merging([
        kSecMatchLimit as String: kSecMatchLimitOne, kSecReturnAttributes as String: true,
        kSecReturnData as String: true,
    ]) { $1 }
    guard SecItemCopyMatching(query as CFDictionary, &item) == errSecSuccess,
        let existing = item as? [String: Any],
        let password = existing[kSecValueData as String] as? Data,
        let account = existing[kSecAttrAccount as String] as? String
    else { return expect(false, "the item") }
    expect(password == data && account == "frank")
    expect(existing[kSecAttrPort as String] as? Int == 8443)
    expect((existing[kSecAttrProtocol as String] as? NSString) == kSecAttrProtocolHTTPS)
    expect(SecItemDelete(place as CFDictionary) == errSecSuccess)
}
