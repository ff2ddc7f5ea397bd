import Foundation
import Security

// Security's objects as values of wrappers, and what Foundation has on Apple's systems.

/// Access controls and policies in dictionaries whose values are compared.
func objectsAreValues() throws {
    func query(_ flags: SecAccessControlCreateFlags) -> [String: AnyHashable] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrAccessControl as String: SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, flags, nil),
        ]
    }
    expect(query(.userPresence) == query([.userPresence]))
    expect(query(.userPresence) != query(.devicePasscode))
    expect(query(.biometryAny).hashValue == query(.biometryAny).hashValue)
    expect(SecPolicyCreateSSL(true, "example.com" as CFString) == SecPolicyCreateSSL(true, "example.com" as CFString))
    expect(SecPolicyCreateSSL(true, nil) != SecPolicyCreateBasicX509())
    let access: SecAccessControl = query([])[kSecAttrAccessControl as String] as! SecAccessControl
    expect(CFGetTypeID(access) == SecAccessControlGetTypeID())
    expect(CFGetTypeID("text" as CFString) == CFStringGetTypeID())
    expect(Set([SecKeyGetTypeID(), SecCertificateGetTypeID(), SecIdentityGetTypeID(), SecTrustGetTypeID()]).count == 4)
    // What a wrapper does before `item as! SecKey`; text is no key.
    let item: CFTypeRef = "text" as NSString
    expect(CFGetTypeID(item) != SecKeyGetTypeID() && item as? SecKey == nil)
}

/// The constraint's bits are Apple's, so that a wrapper may keep them as numbers.
func constraintsHaveTheirBits() throws {
    let bits: [(SecAccessControlCreateFlags, Int)] = [
        (.userPresence, 0), (.biometryAny, 1), (.biometryCurrentSet, 3), (.devicePasscode, 4), (.watch, 5), (.or, 14),
        (.and, 15), (.privateKeyUsage, 30), (.applicationPassword, 31),
    ]
    for (flag, bit) in bits { expect(flag.rawValue == CFOptionFlags(1) << bit, "bit \(bit)") }
    var flags: SecAccessControlCreateFlags = [.biometryAny, .or]
    flags.insert(.devicePasscode)
    expect(flags.contains(.or) && SecAccessControlCreateFlags(rawValue: flags.rawValue) == flags)
    @available(*, deprecated) func older() -> [SecAccessControlCreateFlags] { [.touchIDAny, .touchIDCurrentSet] }
    expect((older as () -> [SecAccessControlCreateFlags])() == [.biometryAny, .biometryCurrentSet])
}

/// Constants and objects from several tasks, which the Swift 6 mode checks.
func constantsFromEveryTask() async throws {
    final class Store: Sendable {
        let access = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil)
        func has(_ account: String) -> Bool {
            let query =
                [
                    kSecClass: kSecClassGenericPassword, kSecAttrAccount: account, kSecAttrService: "idiom.tasks",
                ] as CFDictionary
            return SecItemCopyMatching(query, nil) == errSecSuccess
        }
    }
    let store = Store()
    let found = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<4 { group.addTask { store.has("\(number)") || store.access == nil } }
        return await group.reduce(false) { $0 || $1 }
    }
    expect(!found)
    let detached = await Task.detached { kSecAttrAccessible as String }.value
    expect(detached == "pdmn")
}

/// One object for one name as long as somebody holds it: the table of a wrapper
/// whose instances are shared.
func sharedInstances() throws {
    final class Box: NSObject {}
    let table = NSMapTable<NSString, Box>.strongToWeakObjects()
    var kept: Box? = Box()
    table.setObject(kept, forKey: "a")
    table.setObject(Box(), forKey: "b")
    expect(table.object(forKey: "a" as NSString) === kept)
    expect(table.object(forKey: "b") == nil && table.object(forKey: "c") == nil)
    kept = nil
    expect(table.object(forKey: "a") == nil)
    table.removeObject(forKey: "a")

    func fill(_ error: NSErrorPointer) -> Bool {
        error?.pointee = NSError(domain: "idiom", code: 3)
        return false
    }
    var error: NSError?
    expect(!fill(&error) && error?.code == 3)
    let pointer: AutoreleasingUnsafeMutablePointer<AnyObject?>? = nil
    expect(pointer == nil)
    expect(autoreleasepool { 7 } == 7)
}

/// The program's identifier as the service, without a guard: an Info.plist beside the
/// executable gives it (`latchkey app init`).
func identifierAsService() throws {
    let service = Bundle.main.bundleIdentifier!
    let info = Bundle.main.infoDictionary?[kCFBundleIdentifierKey as String] as? String
    expect(info == service)
    put(service, "identifier", "i")
    expect(value(service, "identifier") == "i")
    clear()
}
