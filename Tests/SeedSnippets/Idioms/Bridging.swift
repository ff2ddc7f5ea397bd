import Foundation
import Security

// How wrappers build dictionaries and take results apart.

private func identity(_ account: String) -> [String: Any] {
    [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "idiom.bridging",
        kSecAttrAccount as String: account,
    ]
}

/// Each way to write the argument, for the same item.
func dictionariesOfEachKind() throws {
    let value = Data("one".utf8)
    let spelled: [String: Any] = identity("ann").merging([kSecValueData as String: value]) { $1 }
    expect(SecItemAdd(spelled as CFDictionary, nil) == errSecSuccess)

    let literal =
        [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "idiom.bridging", kSecAttrAccount: "ann",
        ] as NSDictionary
    expect(SecItemCopyMatching(literal, nil) == errSecSuccess)
    expect(SecItemCopyMatching(literal as CFDictionary, nil) == errSecSuccess)

    let keyed: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "idiom.bridging", kSecAttrAccount: "ann",
    ]
    expect(SecItemCopyMatching(keyed as CFDictionary, nil) == errSecSuccess)

    let objects: [String: AnyObject] = [
        String(kSecClass): kSecClassGenericPassword, String(kSecAttrService): "idiom.bridging" as NSString,
        String(kSecAttrAccount): "ann" as AnyObject, String(kSecReturnData): kCFBooleanTrue,
    ]
    expect(SecItemCopyMatching(objects as CFDictionary, nil) == errSecSuccess)

    let mutable = NSMutableDictionary(dictionary: identity("ann"))
    mutable[kSecValueData] = Data()
    mutable.setObject(kSecAttrAccessibleWhenUnlocked, forKey: kSecAttrAccessible)
    mutable.removeObject(forKey: kSecAttrAccount)
    mutable.setValue("ann", forKey: kSecAttrAccount as String)
    expect(mutable[kSecValueData] as? Data == Data())
    expect(SecItemAdd(mutable, nil) == errSecDuplicateItem)
    expect(SecItemDelete(identity("ann") as CFDictionary) == errSecSuccess)
}

/// The variable that receives the result, in each of its types.
func resultsOfEachKind() throws {
    let added = identity("ben").merging([kSecValueData as String: "zwei".data(using: .utf8)!]) { $1 }
    SecItemAdd(added as CFDictionary, nil)
    let data = identity("ben").merging([kSecReturnData as String: true]) { $1 } as CFDictionary
    let attributes = identity("ben").merging([kSecReturnAttributes as String: true]) { $1 } as CFDictionary
    let all =
        identity("ben").merging([
            kSecReturnAttributes as String: true, kSecMatchLimit as String: kSecMatchLimitAll,
        ]) { $1 } as CFDictionary

    var object: AnyObject?
    expect(SecItemCopyMatching(data, &object) == errSecSuccess)
    expect(object as? Data == Data("zwei".utf8))
    expect((object as! CFData) as Data == Data("zwei".utf8))
    var reference: CFTypeRef?
    expect(SecItemCopyMatching(data, UnsafeMutablePointer(&reference)) == errSecSuccess)
    expect(String(decoding: reference as! Data, as: UTF8.self) == "zwei")
    let optional = reference as! CFData?
    expect((optional as Data?)?.count == 4)

    var one: CFTypeRef?
    expect(withUnsafeMutablePointer(to: &one) { SecItemCopyMatching(attributes, UnsafeMutablePointer($0)) } == 0)
    expect((one as! [String: Any])[kSecAttrAccount as String] as! String == "ben")
    expect((one as? NSDictionary)?.object(forKey: kSecAttrAccount) as? String == "ben")
    expect((one as! CFDictionary as! [CFString: Any])[kSecAttrService] as? String == "idiom.bridging")

    var list: CFTypeRef?
    expect(SecItemCopyMatching(all, &list) == errSecSuccess)
    expect((list as! [[String: Any]]).count == 1)
    expect((list as? [NSDictionary])?.first?[kSecAttrAccount] as? String == "ben")
    expect((list as? [[AnyHashable: Any]])?.first?[kSecAttrAccount] as? String == "ben")
    expect((list as! NSArray).compactMap { ($0 as? [String: Any])?["acct"] as? String } == ["ben"])
    // No certificate is here, and no dictionary is taken for one.
    expect(list as? [SecCertificate] == nil)
    expect(SecItemDelete(identity("ben") as CFDictionary) == errSecSuccess)
}

/// A failure that hands out its error, as an error of Swift.
func unmanagedErrors() throws {
    func access() throws -> SecAccessControl {
        var failure: Unmanaged<CFError>?
        guard
            let made = SecAccessControlCreateWithFlags(
                kCFAllocatorDefault, "no such protection" as CFString, .userPresence, &failure)
        else { throw failure!.takeRetainedValue() as Error }
        return made
    }
    do {
        _ = try access()
        expect(false, "an unknown protection")
    } catch {
        let error = error as NSError
        expect(error.domain == NSOSStatusErrorDomain && error.code == Int(errSecParam))
        expect(CFErrorGetCode(error) == CFIndex(errSecParam))
        expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
        let information = CFErrorCopyUserInfo(error) as? [String: Any]
        expect(information?[NSLocalizedDescriptionKey] is String)
    }
}

/// A key is the same as `CFString`, as `NSString` and as `String`, boxed or not.
func oneKeyInEverySpelling() throws {
    let add = identity("cleo").merging([
        kSecValueData as String: Data([3]), kSecReturnAttributes as String: true, kSecAttrLabel as String: "L",
    ]) { $1 }
    var result: CFTypeRef?
    expect(SecItemAdd(add as CFDictionary, &result) == errSecSuccess)
    let boxed = result as! [AnyHashable: Any]
    expect(boxed[kSecAttrLabel] as? String == "L")
    expect(boxed[AnyHashable(kSecAttrLabel as String)] as? String == "L")
    expect(boxed["labl"] as? String == "L")
    expect(AnyHashable(kSecAttrLabel) == AnyHashable("labl"))
    expect(Set<AnyHashable>([kSecAttrLabel, "labl", "labl" as NSString]).count == 1)
    var counts: [AnyHashable: Int] = [:]
    counts[kSecAttrLabel, default: 0] += 1
    counts[kSecAttrLabel as String, default: 0] += 1
    expect(counts == ["labl": 2])
    expect(SecItemDelete(identity("cleo") as CFDictionary) == errSecSuccess)
}

/// The truth value that is declared `CFBoolean!`, wherever a value may stand.
func trueInEveryDictionary() throws {
    var query: [String: Any] = identity("dan")
    query[kSecReturnData as String] = kCFBooleanTrue
    query[kSecReturnAttributes as String] = kCFBooleanFalse
    query.updateValue(kCFBooleanTrue!, forKey: kSecReturnPersistentRef as String)
    let hashable: [String: AnyHashable] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "idiom.bridging",
        kSecAttrAccount as String: "dan", kSecReturnData as String: kCFBooleanTrue,
        kSecAttrSynchronizable as String: kCFBooleanFalse,
    ]
    SecItemAdd(identity("dan").merging([kSecValueData as String: Data([1])]) { $1 } as CFDictionary, nil)
    var result: AnyObject?
    expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
    let found = result as? [String: Any]
    expect(found?[kSecValueData as String] as? Data == Data([1]))
    expect(found?[kSecValuePersistentRef as String] is Data)
    var data: AnyObject?
    expect(SecItemCopyMatching(hashable as CFDictionary, &data) == errSecSuccess)
    expect(data as? Data == Data([1]))
    expect(SecItemDelete(identity("dan") as CFDictionary) == errSecSuccess)
}

/// What a dictionary meets on its way: optionals, null, boxes, numbers of every width.
func valuesOfEveryKind() throws {
    let service: String? = "idiom.bridging"
    let query: [String: Any] = [
        kSecClass as String: AnyHashable(kSecClassGenericPassword as String),
        kSecAttrService as String: service as Any,
        kSecAttrAccount as String: NSString(string: "eve"),
        kSecAttrSynchronizable as String: NSNumber(value: false),
        kSecAttrCreator as String: UInt32(0x6C61_7463),
        kSecAttrType as String: Int16(7) as NSNumber,
    ]
    let add = query.merging([kSecValueData as String: NSData(data: Data([9]))]) { $1 }
    expect(SecItemAdd(add as CFDictionary, nil) == errSecSuccess)

    var result: CFTypeRef?
    let find = query.merging([kSecReturnAttributes as String: true]) { $1 }
    expect(SecItemCopyMatching(find as CFDictionary, &result) == errSecSuccess)
    // Enumerating gives values of Swift.
    var read: [String: Any] = [:]
    for (key, value) in result as! NSDictionary { read[key as! String] = value }
    expect(read["acct"] as? String == "eve" && read["crtr"] as? Int == 0x6C61_7463 && read["type"] as? UInt16 == 7)
    expect(read["sync"] as? Bool == false && read["sync"] as? Int == 0 && read["cdat"] is Date)

    // A query with nothing in a place for a name is malformed, and finds no item by accident.
    let nothing: String? = nil
    let null = query.merging([kSecAttrService as String: nothing as Any]) { $1 }
    expect(SecItemCopyMatching(null as CFDictionary, nil) == errSecParam)
    expect(
        SecItemCopyMatching(query.merging([kSecAttrAccount as String: NSNull()]) { $1 } as CFDictionary, nil)
            == errSecParam)
    expect(SecItemDelete(query as CFDictionary) == errSecSuccess)
}
