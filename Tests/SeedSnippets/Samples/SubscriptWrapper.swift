import Foundation
import Security

/// The small wrapper that every second application has: text by name.
final class Vault: Sendable {
    static let shared = Vault(service: "sample.vault")
    let service: String

    init(service: String) { self.service = service }

    subscript(name: String) -> String? {
        get {
            var result: CFTypeRef?
            var query = identity(name)
            query[kSecReturnData as String] = true
            guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return nil }
            return (result as? Data).flatMap { String(data: $0, encoding: .utf8) }
        }
        set {
            guard let data = newValue?.data(using: .utf8) else {
                SecItemDelete(identity(name) as CFDictionary)
                return
            }
            let status = SecItemUpdate(identity(name) as CFDictionary, [kSecValueData: data] as CFDictionary)
            guard status == errSecItemNotFound else { return }
            SecItemAdd(identity(name).merging([kSecValueData as String: data]) { $1 } as CFDictionary, nil)
        }
    }

    private func identity(_ name: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
            kSecAttrAccount as String: name,
        ]
    }
}

/// The wrapper from several tasks at once, and a value that is coded.
func subscriptWrapper() async throws {
    struct Token: Codable, Equatable { var access: String, expires: Date }
    let vault = Vault.shared
    await withTaskGroup(of: Void.self) { group in
        for number in 0..<8 { group.addTask { vault["key \(number)"] = "value \(number)" } }
    }
    for number in 0..<8 { expect(vault["key \(number)"] == "value \(number)") }
    vault["key 0"] = "changed \u{1F511} e\u{301}"
    expect(vault["key 0"] == "changed \u{1F511} e\u{301}")
    for number in 0..<8 { vault["key \(number)"] = nil }
    expect(vault["key 7"] == nil)

    let token = Token(access: "abc", expires: Date(timeIntervalSinceReferenceDate: 8))
    vault["token"] = String(decoding: try JSONEncoder().encode(token), as: UTF8.self)
    let read = try JSONDecoder().decode(Token.self, from: Data((vault["token"] ?? "").utf8))
    expect(read == token)
    vault["token"] = nil
}
