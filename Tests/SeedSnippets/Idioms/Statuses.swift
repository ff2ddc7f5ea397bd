import Foundation
import Security

// Status codes as wrappers use them.

/// An enumeration over the codes, as libraries ship it.
private enum WrappedStatus: Error, Equatable, CustomNSError, RawRepresentable {
    case success, notFound, duplicate, denied, cancelled, unexpected(OSStatus)

    static let errorDomain = "idiom.status"

    init(rawValue: OSStatus) {
        self =
            switch rawValue {
            case errSecSuccess, noErr: .success
            case errSecItemNotFound: .notFound
            case errSecDuplicateItem: .duplicate
            case errSecAuthFailed, errSecInteractionNotAllowed, errSecMissingEntitlement: .denied
            case errSecUserCanceled: .cancelled
            default: .unexpected(rawValue)
            }
    }

    var rawValue: OSStatus {
        switch self {
        case .success: errSecSuccess
        case .notFound: errSecItemNotFound
        case .duplicate: errSecDuplicateItem
        case .denied: errSecAuthFailed
        case .cancelled: errSecUserCanceled
        case .unexpected(let status): status
        }
    }

    var errorCode: Int { Int(rawValue) }
}

/// A status inferred, compared, matched and turned around.
func statusesOfEveryKind() throws {
    var status = errSecNotAvailable
    let typed: OSStatus = status
    expect(typed == -25291 && type(of: status) == Int32.self)
    let query = [kSecClass: kSecClassGenericPassword, kSecAttrService: "idiom.status"] as NSDictionary
    status = SecItemCopyMatching(query, nil)
    expect(WrappedStatus(rawValue: status) == .notFound)
    status = SecItemAdd([kSecClass: kSecClassGenericPassword, kSecAttrService: "idiom.status"] as CFDictionary, nil)
    expect(status == noErr)
    guard case errSecDuplicateItem = SecItemAdd(query, nil) else { return expect(false, "a duplicate") }
    expect((WrappedStatus(rawValue: errSecParam) as NSError).code == -50)
    expect([errSecSuccess, errSecItemNotFound].contains(SecItemDelete(query)))
    expect(Set([errSecAllocate, errSecDecode, errSecUnimplemented, errSecDiskFull, errSecIO]).count == 5)
}

/// An error that a call hands out, caught as `NSError`, by its type and by its code.
func errorsAreCaughtAsObjects() throws {
    func fail() throws {
        throw NSError(domain: NSOSStatusErrorDomain, code: Int(errSecItemNotFound))
    }
    do {
        try fail()
    } catch let error as NSError where error.code == errSecItemNotFound {
        expect(error.domain == NSOSStatusErrorDomain)
    }
    // What the door hands out is such an error; one of Swift's own is not, on Linux.
    var failure: Unmanaged<CFError>?
    let none = SecKeyCreateRandomKey([kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom] as CFDictionary, &failure)
    expect(none == nil)
    do {
        throw failure!.takeRetainedValue() as Error
    } catch let error as NSError {
        expect(error.code == Int(errSecUnimplemented) && error.localizedDescription.contains("Latchkey"))
    }
}

/// A text for each code, and never the same for all.
func textsOfStatuses() throws {
    let codes = [errSecSuccess, errSecParam, errSecDuplicateItem, errSecItemNotFound, errSecInteractionNotAllowed]
    let texts = codes.compactMap { SecCopyErrorMessageString($0, nil) as String? }
    expect(Set(texts).count == codes.count && !texts.contains(""))
    expect(SecCopyErrorMessageString(12345, nil).map { $0 as String } == "OSStatus 12345")
}
