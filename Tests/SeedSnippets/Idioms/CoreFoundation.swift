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
    expect(CFStringCompare(kSecClass, "CLASS" as CFString, .compareCaseInsensitive) == .compareEqualTo)
    var text = [CChar](repeating: 0, count: 16)
    let utf8 = CFStringBuiltInEncodings.UTF8.rawValue
    expect(CFStringGetCString(kSecClass, &text, text.count, utf8) && CFStringGetCStringPtr(kSecClass, utf8) == nil)
    expect(CFStringCreateWithCString(kCFAllocatorDefault, text, utf8) == kSecClass)
    var number = Int32(7)
    expect(CFNumberCreate(nil, .sInt32Type, &number)! as! Int == 7)
    let changing = CFDataCreateMutable(kCFAllocatorDefault, 0)!
    CFDataAppendBytes(changing, [1, 2, 3], 3)
    var part = [UInt8](repeating: 0, count: 2)
    CFDataGetBytes(changing, CFRangeMake(1, 2), &part)
    var elements: [UnsafeRawPointer?] = [UnsafeRawPointer(Unmanaged.passUnretained(kSecClass).toOpaque())]
    var callBacks = kCFTypeArrayCallBacks
    let list = CFArrayCreate(kCFAllocatorDefault, &elements, elements.count, &callBacks)
    expect(part == [2, 3] && CFArrayContainsValue(list, CFRange(location: 0, length: 1), elements[0]))
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
