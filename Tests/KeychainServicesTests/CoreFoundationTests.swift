import Foundation
import KeychainServices
import Testing

/// What keychain code calls of Core Foundation, on the Foundation classes that stand for
/// its types here.
@Suite struct CoreFoundationTests {
    @Test func objectsAreEqualByTypeAndValue() {
        #expect(CFEqual("a" as CFString, NSMutableString(string: "a")) && !CFEqual("a" as CFString, "b" as CFString))
        #expect(CFHash("a" as CFString) == CFHash(NSMutableString(string: "a")))
        #expect(CFEqual(kSecClassKey, kSecClassKey) && !CFEqual(NSNumber(value: 1), "1" as CFString))
        // A truth value is no number, whatever Foundation says.
        #expect(!CFEqual(kCFBooleanTrue, NSNumber(value: 1)) && CFEqual(kCFBooleanTrue, NSNumber(value: true)))
        #expect(!CFEqual(kCFNull, kCFBooleanFalse) && CFEqual(kCFNull, NSNull()))
        #expect(CFCopyDescription("text" as CFString) as String == "text")
    }

    @Test func stringsDataAndArraysTellTheirLength() {
        #expect(CFStringGetLength("e\u{301}" as CFString) == 2)
        #expect(CFArrayGetCount([1, 2, 3] as CFArray) == 3)
        let bytes: [UInt8] = [1, 2, 255]
        let data: CFData = unsafe bytes.withUnsafeBufferPointer { unsafe CFDataCreate(nil, $0.baseAddress, $0.count) }
        #expect(CFDataGetLength(data) == 3 && data as Data == Data(bytes))
        let read = unsafe Array(UnsafeBufferPointer(start: CFDataGetBytePtr(data), count: CFDataGetLength(data)))
        #expect(read == bytes)
    }

    @Test func numbersAreWrittenAsTheTypeThatIsNamed() {
        var small: Int16 = 0
        #expect(unsafe CFNumberGetValue(NSNumber(value: 8443), .sInt16Type, &small) && small == 8443)
        // What does not fit is written cut, and said to be.
        #expect(unsafe !CFNumberGetValue(NSNumber(value: 70000), .sInt16Type, &small) && small == 4464)
        var real = 0.0
        #expect(unsafe CFNumberGetValue(NSNumber(value: 1.5), .doubleType, &real) && real == 1.5)
        var long: Int64 = 0
        #expect(unsafe !CFNumberGetValue(NSNumber(value: 1.5), .sInt64Type, &long) && long == 1)
        #expect(CFBooleanGetValue(kCFBooleanTrue) && !CFBooleanGetValue(kCFBooleanFalse))
    }

    @Test func dictionariesAreMadeOfPointersToObjects() {
        let (name, value, other) = ("acct" as CFString, "alice" as CFString, "bob" as CFString)
        let keys = kCFTypeDictionaryKeyCallBacks
        let values = kCFTypeDictionaryValueCallBacks
        let dictionary: CFMutableDictionary = unsafe withUnsafePointer(to: keys) { keys in
            unsafe withUnsafePointer(to: values) { unsafe CFDictionaryCreateMutable(kCFAllocatorDefault, 0, keys, $0) }
        }
        func pointer(_ object: AnyObject) -> UnsafeRawPointer {
            unsafe UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        }
        unsafe CFDictionaryAddValue(dictionary, pointer(name), pointer(value))
        unsafe CFDictionaryAddValue(dictionary, pointer(name), pointer(other))
        #expect(dictionary[kSecAttrAccount] as? String == "alice" && CFDictionaryGetCount(dictionary) == 1)
        unsafe CFDictionarySetValue(dictionary, pointer(name), pointer(other))
        #expect((dictionary as? [String: String]) == ["acct": "bob"])
        var made = unsafe (keys: [pointer(name) as UnsafeRawPointer?], values: [pointer(value) as UnsafeRawPointer?])
        let fixed: CFDictionary = unsafe CFDictionaryCreate(nil, &made.keys, &made.values, 1, nil, nil)
        #expect((fixed as? [String: String]) == ["acct": "alice"])
        withExtendedLifetime((name, value, other)) {}
    }

    @Test func errorsAndDatesAreMade() {
        let given = [kCFErrorLocalizedDescriptionKey: "what", NSLocalizedFailureReasonErrorKey as NSString: "why"]
        let error: CFError = CFErrorCreate(nil, kCFErrorDomainOSStatus, CFIndex(errSecParam), given as CFDictionary)
        #expect(CFErrorGetCode(error) == -50 && CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
        #expect(CFErrorCopyDescription(error) as String == "what" && CFErrorCopyFailureReason(error) as String == "why")
        let bare: CFError = CFErrorCreate(nil, kCFErrorDomainOSStatus, 2, nil)
        #expect(bare.domain == NSOSStatusErrorDomain && CFErrorCopyFailureReason(bare) == nil)
        #expect((CFDateCreate(nil, 1) as Date).timeIntervalSinceReferenceDate == 1)
        #expect(kCFErrorDomainPOSIX as String == NSPOSIXErrorDomain)
        #expect(kCFErrorDomainCocoa as String == NSCocoaErrorDomain)
        #expect(abs(CFAbsoluteTimeGetCurrent() - Date().timeIntervalSinceReferenceDate) < 60)
    }

    /// Which of the two overloads is meant is clear in each spelling.
    @Test func keysMayBeKnownAsWhatCanBeCopied() {
        let dictionary = NSMutableDictionary()
        dictionary.setObject(true, forKey: kSecReturnData as any NSCopying)
        dictionary.setObject(false, forKey: kSecReturnAttributes)
        dictionary.setObject("x", forKey: kSecAttrAccount as String)
        #expect(dictionary[kSecReturnData] as? Bool == true && dictionary.count == 3)
        #expect(dictionary[kSecReturnAttributes as String] as? Bool == false)
    }

    @Test func keysThatCanBeCopiedAreSubscripts() {
        let dictionary = NSMutableDictionary()
        let key = kSecClass as any NSCopying
        dictionary[key] = kSecClassGenericPassword
        dictionary[kSecAttrAccount as NSString] = "alice"
        dictionary[kSecReturnData] = kCFBooleanTrue
        #expect(dictionary[key] as? String == "genp" && dictionary.count == 3)
        dictionary[key] = nil
        #expect(dictionary[kSecClass] == nil && dictionary.count == 2)
        let service = kSecAttrService as any NSCopying
        let made = NSMutableDictionary(objects: [kSecClassGenericPassword, "mail"], forKeys: [key, service])
        #expect((made as? [String: String]) == ["class": "genp", "svce": "mail"])
        #expect(NSDictionary(objects: ["mail"], forKeys: [service]) == ["svce": "mail"])
        #expect(NSDictionary(objects: ["mail"], forKeys: [kSecAttrService as NSString]) == ["svce": "mail"])
    }

    @Test func dictionariesAreCopied() {
        let query: CFDictionary = [kSecReturnData: kCFBooleanTrue as Any, kSecAttrAccount: "alice"] as CFDictionary
        let copy = NSMutableDictionary(dictionary: query)
        copy[kSecAttrAccount] = "bob"
        #expect(copy.count == 2 && query.count == 2 && query[kSecAttrAccount] as? String == "alice")
        // What is true stays that, and no number.
        #expect(CFGetTypeID(copy[kSecReturnData] as CFTypeRef) == CFBooleanGetTypeID())
        #expect(NSDictionary(dictionary: query) == query && NSDictionary(dictionary: NSDictionary()).count == 0)
        let changing: CFMutableDictionary = CFDictionaryCreateMutableCopy(nil, 0, query)
        let name: CFString = "acct"
        unsafe CFDictionaryRemoveValue(changing, Unmanaged.passUnretained(name).toOpaque())
        #expect(unsafe !CFDictionaryContainsKey(changing, Unmanaged.passUnretained(name).toOpaque()))
        #expect(unsafe CFDictionaryContainsKey(query, Unmanaged.passUnretained(name).toOpaque()))
        #expect(CFDictionaryCreateCopy(nil, query) as NSDictionary == query)
        withExtendedLifetime(name) {}
    }

    /// Apple's sample "Storing CryptoKit Keys in the Keychain".
    @Test func dataOfBytesThatStayWithTheCallerIsACopy() {
        var bytes: [UInt8] = [1, 2, 3]
        let data: CFData = unsafe bytes.withUnsafeBytes { bytes in
            unsafe CFDataCreateWithBytesNoCopy(
                nil, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, kCFAllocatorNull)
        }
        bytes[0] = 9
        #expect(data as Data == Data([1, 2, 3]) && CFDataCreateCopy(nil, data) as Data == data as Data)
        let block = unsafe UnsafeMutablePointer<UInt8>(mutating: malloc(2)?.assumingMemoryBound(to: UInt8.self))
        unsafe block?.initialize(repeating: 7, count: 2)
        let owned: CFData = unsafe CFDataCreateWithBytesNoCopy(nil, block, 2, kCFAllocatorMalloc)
        #expect(owned as Data == Data([7, 7]))
    }

    @Test func identifiersAreText() {
        let one: CFString = CFUUIDCreateString(nil, CFUUIDCreate(nil))
        #expect(UUID(uuidString: one as String)?.uuidString == one as String)
        #expect(one != CFUUIDCreateString(kCFAllocatorDefault, CFUUIDCreate(kCFAllocatorDefault)))
        #expect(CFStringCreateCopy(nil, one) == one && CFDateGetAbsoluteTime(CFDateCreate(nil, 7)) == 7)
    }
}
