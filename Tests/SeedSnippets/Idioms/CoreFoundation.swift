import Foundation
import Security

// Functions of Core Foundation around the calls of Security, as older wrappers write them.

/// What is asked of keys, values and errors.
func functionsOfCoreFoundation() throws {
    expect(CFEqual(kSecClassKey, "keys" as CFString) && CFHash(kSecClass) == CFHash("class" as CFString))
    expect(!CFEqual(kCFBooleanTrue, 1 as NSNumber) && CFBooleanGetValue(kCFBooleanTrue))
    let data = Data([1, 2, 3]) as CFData
    let bytes = UnsafeBufferPointer(start: CFDataGetBytePtr(data), count: CFDataGetLength(data))
    expect(Array(bytes) == [1, 2, 3] && CFDataCreate(kCFAllocatorDefault, [1, 2, 3], 3) as Data == data as Data)
    var status: Int32 = 0
    expect(CFNumberGetValue(NSNumber(value: errSecItemNotFound), .sInt32Type, &status) && status == errSecItemNotFound)
    let words = [kCFErrorLocalizedDescriptionKey: "no item"] as CFDictionary
    let error = CFErrorCreate(kCFAllocatorDefault, kCFErrorDomainOSStatus, CFIndex(status), words)!
    expect((error as Error as NSError).localizedDescription == "no item" && CFErrorGetCode(error) == -25300)
    expect(CFStringGetLength(kSecClass) == 5 && CFArrayGetCount([kSecClass] as CFArray) == 1)
    expect(CFAbsoluteTimeGetCurrent() > 0 && CFEqual(kCFNull, NSNull()))
}

/// A query made by C's functions, and by a key that is known as `NSCopying` alone.
func dictionariesOfPointers() throws {
    let query = CFDictionaryCreateMutable(kCFAllocatorDefault, 0, nil, nil)!
    CFDictionaryAddValue(
        query, Unmanaged.passUnretained(kSecClass).toOpaque(),
        Unmanaged.passUnretained(kSecClassGenericPassword).toOpaque())
    let service = "idiom.pointers" as CFString
    CFDictionarySetValue(
        query, Unmanaged.passUnretained(kSecAttrService).toOpaque(), Unmanaged.passUnretained(service).toOpaque())
    expect(SecItemAdd(query, nil) == errSecSuccess)
    query.setObject(kCFBooleanTrue!, forKey: kSecReturnAttributes as NSCopying)
    let result = UnsafeMutablePointer<CFTypeRef?>.allocate(capacity: 1)
    defer { result.deallocate() }
    expect(SecItemCopyMatching(query, result) == errSecSuccess)
    let found = result.move() as? [String: Any]
    expect(found?[kSecAttrService as String] as? String == "idiom.pointers" && CFDictionaryGetCount(query) == 3)
}
