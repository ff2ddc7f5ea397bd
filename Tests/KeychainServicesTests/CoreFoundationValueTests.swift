import Foundation
import KeychainServices
import Testing

/// Data, arrays and numbers by the functions of C, and the codes of SecureTransport.
@Suite struct CoreFoundationValueTests {
    private func pointer(_ object: AnyObject) -> UnsafeRawPointer {
        unsafe UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }

    @Test func dataIsPutTogetherAndCut() {
        let data: CFMutableData = CFDataCreateMutable(nil, 2)
        unsafe CFDataAppendBytes(data, [1, 2, 3], 3)
        CFDataAppendBytes(data, nil, 3)
        unsafe CFDataAppendBytes(data, [9], -1)
        #expect(data as Data == Data([1, 2, 3]))
        CFDataIncreaseLength(data, 2)
        CFDataIncreaseLength(data, -4)
        #expect(data as Data == Data([1, 2, 3, 0, 0]))
        unsafe CFDataGetMutableBytePtr(data)[4] = 7
        let copy: CFMutableData = CFDataCreateMutableCopy(nil, 0, data)
        CFDataSetLength(data, 2)
        CFDataSetLength(data, -1)
        #expect(data as Data == Data([1, 2]) && copy as Data == Data([1, 2, 3, 0, 7]))
        CFDataSetLength(data, 4)
        #expect(data as Data == Data([1, 2, 0, 0]) && CFDataGetLength(data) == 4)
        #expect(CFGetTypeID(data) == CFDataGetTypeID())
    }

    @Test(
        arguments: [
            (1, 2, [2, 3, 0]), (0, 2, [1, 2, 0]), (0, 9, [1, 2, 3]), (2, CFIndex.max, [3, 0, 0]), (3, 1, [0, 0, 0]),
            (-1, 2, [0, 0, 0]),
            (4, 1, [0, 0, 0]), (0, -1, [0, 0, 0]),
        ] as [(CFIndex, CFIndex, [UInt8])])
    func bytesOfARangeAreCopied(_ location: CFIndex, _ length: CFIndex, _ expected: [UInt8]) {
        var buffer: [UInt8] = [0, 0, 0]
        unsafe CFDataGetBytes(Data([1, 2, 3]) as CFData, CFRangeMake(location, length), &buffer)
        #expect(buffer == expected)
    }

    @Test func arraysAreMadeOfPointersToObjects() {
        let (one, other, third) = ("one" as CFString, NSNumber(value: 1), kCFBooleanTrue as NSNumber)
        var values = unsafe [pointer(one) as UnsafeRawPointer?, pointer(other)]
        var callBacks = kCFTypeArrayCallBacks
        let array: CFArray = unsafe CFArrayCreate(kCFAllocatorDefault, &values, values.count, &callBacks)
        #expect(array as? [AnyHashable] == ["one", 1] && CFGetTypeID(array) == CFArrayGetTypeID())
        let changing: CFMutableArray = CFArrayCreateMutable(nil, 0, nil)
        unsafe CFArrayAppendValue(changing, pointer(third))
        let copy: CFArray = CFArrayCreateCopy(nil, changing)
        unsafe CFArrayAppendValue(changing, pointer(one))
        #expect(CFArrayGetCount(copy) == 1 && CFArrayGetCount(changing) == 2)
        let longer: CFMutableArray = CFArrayCreateMutableCopy(nil, 0, array)
        unsafe CFArrayAppendValue(longer, pointer(third))
        #expect(CFArrayGetCount(longer) == 3 && CFArrayGetCount(array) == 2)
        #expect(CFArrayGetCount(CFArrayCreate(nil, nil, 0, nil)) == 0)
        #expect(CFArrayGetCount(CFArrayCreate(nil, nil, -1, nil)) == 0)
        withExtendedLifetime((one, other, third)) {}
    }

    /// An object outlives the one who made the array of it.
    @Test func elementsAreKeptAlive() {
        weak var seen: SecPolicy?
        var array: CFArray?
        do {
            let policy = SecPolicyCreateSSL(true, "example.com" as CFString)
            seen = policy
            var values = unsafe [pointer(policy) as UnsafeRawPointer?]
            array = unsafe CFArrayCreate(nil, &values, 1, nil)
        }
        #expect(seen != nil && (array?[0] as? SecPolicy) == seen)
        array = nil
        #expect(seen == nil)
    }

    @Test func elementsAreFoundInTheirPart() {
        let array: CFArray = [1, "two", kCFBooleanTrue as Any, SecPolicyCreateBasicX509()] as NSArray
        let all = CFRangeMake(0, 4)
        func index(of object: AnyObject, in range: CFRange) -> CFIndex {
            let isThere = unsafe CFArrayContainsValue(array, range, pointer(object))
            let index = unsafe CFArrayGetFirstIndexOfValue(array, range, pointer(object))
            #expect(isThere == (index != kCFNotFound))
            return index
        }
        #expect(index(of: "two" as NSString, in: all) == 1 && index(of: "2" as NSString, in: all) == -1)
        // A truth value is no number.
        #expect(index(of: NSNumber(value: 1), in: all) == 0 && index(of: NSNumber(value: true), in: all) == 2)
        #expect(index(of: NSNumber(value: 1), in: CFRangeMake(1, 3)) == kCFNotFound)
        #expect(index(of: SecPolicyCreateBasicX509(), in: CFRangeMake(1, 99)) == 3)
        #expect(index(of: SecPolicyCreateBasicX509(), in: CFRangeMake(1, 2)) == kCFNotFound)
        #expect(index(of: NSNumber(value: 1), in: CFRangeMake(-1, 3)) == kCFNotFound)
        #expect(index(of: NSNumber(value: 1), in: CFRangeMake(9, 1)) == kCFNotFound)
        #expect(CFArrayContainsValue(array, all, nil) == false)
    }

    @Test func numbersAreMadeOfWhatMemoryHolds() {
        var (small, short, int, long, real, double) = (Int8(-5), Int16(-300), Int32.min, Int64.max, Float(1.5), 2.5)
        #expect(unsafe CFNumberCreate(nil, .charType, &small) == -5)
        #expect(unsafe CFNumberCreate(nil, .sInt16Type, &short) == -300)
        #expect(unsafe CFNumberCreate(nil, .intType, &int).int64Value == Int64(Int32.min))
        #expect(unsafe CFNumberCreate(nil, .cfIndexType, &long).int64Value == Int64.max)
        #expect(unsafe CFNumberCreate(nil, .floatType, &real) == 1.5)
        let made: CFNumber? = unsafe CFNumberCreate(kCFAllocatorDefault, .cgFloatType, &double)
        #expect(made == 2.5 && CFNumberCreate(nil, .intType, nil) == nil)
        #expect(CFNumberGetType(made) == .float64Type && CFNumberIsFloatType(made))
        #expect(CFNumberGetType(NSNumber(value: Int64.max)) == .sInt64Type)
        #expect(CFNumberGetType(NSNumber(value: Float(1))) == .float32Type)
        #expect(CFNumberGetType(kCFBooleanTrue) == .charType && !CFNumberIsFloatType(NSNumber(value: 1)))
    }

    @Test func numbersAreCompared() {
        func order(_ one: NSNumber, _ other: NSNumber) -> CFComparisonResult { CFNumberCompare(one, other, nil) }
        #expect(
            order(1, 2) == .compareLessThan && order(2, 1.5) == .compareGreaterThan && order(2, 2.0) == .compareEqualTo)
        #expect(order(NSNumber(value: Double.nan), 1) == .compareLessThan)
        #expect(order(1, NSNumber(value: Double.nan)) == .compareGreaterThan)
        #expect(order(NSNumber(value: -0.0), NSNumber(value: 0.0)) == .compareLessThan)
        #expect(order(0, NSNumber(value: -0.0)) == .compareGreaterThan && order(0, 0.0) == .compareEqualTo)
        #expect(order(NSNumber(value: Double.nan), NSNumber(value: Double.nan)) == .compareEqualTo)
        #expect(order(NSNumber(value: Int64.max), NSNumber(value: UInt64.max)) == .compareLessThan)
    }

    @Test func typesHaveNames() {
        #expect(CFCopyTypeIDDescription(CFStringGetTypeID()) == "CFString")
        #expect(CFCopyTypeIDDescription(CFGetTypeID(kCFBooleanTrue)) == "CFBoolean")
        #expect(CFCopyTypeIDDescription(CFURLGetTypeID()) == "CFURL")
        #expect(CFCopyTypeIDDescription(CFGetTypeID(SecPolicyCreateBasicX509())) == "SecPolicy")
        #expect(CFCopyTypeIDDescription(0) == nil && CFCopyTypeIDDescription(CFTypeID.max) == nil)
    }

    @Test func truthValuesInMemoryAreOneByte() {
        let value: DarwinBoolean = true
        #expect(value.boolValue && value == DarwinBoolean(true) && value != false && "\(value)" == "true")
        #expect(MemoryLayout<DarwinBoolean>.size == 1)
        let two = unsafe UInt8(2).withBytes { unsafe $0.load(as: DarwinBoolean.self) }
        #expect(two.boolValue && two == true)
    }

    @Test func rangesBeginSomewhere() {
        let range = CFRange(location: 2, length: 3)
        #expect(range.location == 2 && range.length == 3 && CFRange().length == 0 && CFRangeMake(1, 0).location == 1)
    }

    /// As code for Apple's systems looks at an error of the network.
    @Test func codesOfSecureTransportAreCases() {
        func kind(_ error: NSError) -> String {
            switch OSStatus(error.code) {
            case errSSLClosedGraceful, errSSLClosedAbort, errSSLWouldBlock: "closed"
            case errSSLCertExpired, errSSLHostNameMismatch, errSSLXCertChainInvalid: "certificate"
            case errSSLATSCertificateTrustViolation...errSSLATSViolation: "ATS"
            default: "other"
            }
        }
        #expect(kind(NSError(domain: NSOSStatusErrorDomain, code: -9814)) == "certificate")
        #expect(kind(NSError(domain: NSOSStatusErrorDomain, code: -9806)) == "closed")
        #expect(kind(NSError(domain: NSOSStatusErrorDomain, code: -9883)) == "ATS")
        #expect(kind(NSError(domain: NSOSStatusErrorDomain, code: -9813)) == "other")
        #expect(errSSLProtocol == -9800 && errSSLPeerAuthCompleted == errSSLServerAuthCompleted)
        #expect(errSSLUnrecognizedName == -9865 && errSSLEarlyDataRejected == -9890)
        #expect(OSStatus(userCanceledErr) == errSecUserCanceled && OSStatus(paramErr) == errSecParam)
        #expect(SecCopyErrorMessageString(errSSLProtocol, nil) as String? == "OSStatus -9800")
    }
}

extension UInt8 {
    fileprivate func withBytes<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
        unsafe Swift.withUnsafeBytes(of: self) { unsafe body($0) }
    }
}
