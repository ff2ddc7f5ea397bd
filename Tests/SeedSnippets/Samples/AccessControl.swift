import Foundation
import Security

/// Access controls: made, refused, compared, stored.
func accessControl() throws {
    var error: Unmanaged<CFError>?
    guard
        let access = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .userPresence, &error)
    else { throw error!.takeRetainedValue() as Error }
    let same = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.userPresence], nil)!
    expect(access == same)
    expect(["a": access] as [String: AnyHashable] == ["a": same])

    func make() throws -> SecAccessControl {
        var failure: Unmanaged<CFError>?
        let flags: SecAccessControlCreateFlags = [.biometryAny, .biometryCurrentSet]
        guard let made = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, &failure) else {
            throw failure!.takeRetainedValue() as Error
        }
        return made
    }
    do {
        _ = try make()
        expect(false, "two kinds of biometry")
    } catch let failure as NSError {
        expect(failure.domain == NSOSStatusErrorDomain)
        expect(failure.code == Int(errSecParam))
    }

    // Without a passcode nobody could ever meet the constraint; none is stored.
    var item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "sample.access",
        kSecAttrAccount as String: "dora", kSecValueData as String: Data("guarded".utf8),
        kSecAttrAccessControl as String: access,
    ]
    expect(SecItemAdd(item as CFDictionary, nil) == errSecAuthFailed)
    item[kSecAttrAccessControl as String] = SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, [], nil)
    expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    expect(
        SecItemDelete([kSecClass: kSecClassGenericPassword, kSecAttrService: "sample.access"] as CFDictionary)
            == errSecSuccess)
}
