public import Foundation

/// The kinds of object that `CFGetTypeID` tells apart.
///
/// The numbers are ours. Apple's are given out at run time, so no program keeps
/// them: it compares `CFGetTypeID(item)` with `SecKeyGetTypeID()`.
package enum TypeNumber: CFTypeID {
    case string = 1
    case dictionary, array, set, data, boolean, number, date, url, error, null
    case accessControl, certificate, identity, key, policy, trust, access, trustedApplication

    var name: String {
        switch self {
        case .string: "CFString"
        case .dictionary: "CFDictionary"
        case .array: "CFArray"
        case .set: "CFSet"
        case .data: "CFData"
        case .boolean: "CFBoolean"
        case .number: "CFNumber"
        case .date: "CFDate"
        case .url: "CFURL"
        case .error: "CFError"
        case .null: "CFNull"
        case .accessControl: "SecAccessControl"
        case .certificate: "SecCertificate"
        case .identity: "SecIdentity"
        case .key: "SecKey"
        case .policy: "SecPolicy"
        case .trust: "SecTrust"
        case .access: "SecAccess"
        case .trustedApplication: "SecTrustedApplication"
        }
    }
}

/// An object for which `CFGetTypeID` has an answer.
package protocol TypeNumbered: AnyObject {
    var typeNumber: TypeNumber { get }
}

extension NSString: TypeNumbered {
    package var typeNumber: TypeNumber { .string }
}

extension NSDictionary: TypeNumbered {
    package var typeNumber: TypeNumber { .dictionary }
}

extension NSArray: TypeNumbered {
    package var typeNumber: TypeNumber { .array }
}

extension NSSet: TypeNumbered {
    package var typeNumber: TypeNumber { .set }
}

extension NSData: TypeNumbered {
    package var typeNumber: TypeNumber { .data }
}

extension NSNumber: TypeNumbered {
    /// Foundation keeps one object for true and one for false.
    package var typeNumber: TypeNumber {
        self === kCFBooleanTrue || self === kCFBooleanFalse ? .boolean : .number
    }
}

extension NSDate: TypeNumbered {
    package var typeNumber: TypeNumber { .date }
}

extension NSURL: TypeNumbered {
    package var typeNumber: TypeNumber { .url }
}

extension NSError: TypeNumbered {
    package var typeNumber: TypeNumber { .error }
}

extension NSNull: TypeNumbered {
    package var typeNumber: TypeNumber { .null }
}

extension SecCertificate: TypeNumbered {
    package var typeNumber: TypeNumber { .certificate }
}

extension SecIdentity: TypeNumbered {
    package var typeNumber: TypeNumber { .identity }
}

extension SecKey: TypeNumbered {
    package var typeNumber: TypeNumber { .key }
}

extension SecPolicy: TypeNumbered {
    package var typeNumber: TypeNumber { .policy }
}

extension SecTrust: TypeNumbered {
    package var typeNumber: TypeNumber { .trust }
}

extension SecAccess: TypeNumbered {
    package var typeNumber: TypeNumber { .access }
}

extension SecTrustedApplication: TypeNumbered {
    package var typeNumber: TypeNumber { .trustedApplication }
}

/// The number of an object's type; 0 for an object of any other type, and for
/// nil.
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID {
    guard let object: AnyObject = cf, let numbered = object as? any TypeNumbered else { return 0 }
    return numbered.typeNumber.rawValue
}

/// The name of the type that has this number; nil for a number that is no type's.
public func CFCopyTypeIDDescription(_ type_id: CFTypeID) -> CFString! {
    TypeNumber(rawValue: type_id).map { NSString(string: $0.name) }
}

/// The type number of a ``CFString``.
public func CFStringGetTypeID() -> CFTypeID { TypeNumber.string.rawValue }
/// The type number of a ``CFDictionary``.
public func CFDictionaryGetTypeID() -> CFTypeID { TypeNumber.dictionary.rawValue }
/// The type number of a ``CFArray``.
public func CFArrayGetTypeID() -> CFTypeID { TypeNumber.array.rawValue }
/// The type number of a ``CFSet``.
public func CFSetGetTypeID() -> CFTypeID { TypeNumber.set.rawValue }
/// The type number of a ``CFData``.
public func CFDataGetTypeID() -> CFTypeID { TypeNumber.data.rawValue }
/// The type number of a ``CFBoolean``, true or false.
public func CFBooleanGetTypeID() -> CFTypeID { TypeNumber.boolean.rawValue }
/// The type number of a ``CFNumber`` that is not a ``CFBoolean``.
public func CFNumberGetTypeID() -> CFTypeID { TypeNumber.number.rawValue }
/// The type number of a ``CFDate``.
public func CFDateGetTypeID() -> CFTypeID { TypeNumber.date.rawValue }
/// The type number of a ``CFURL``.
public func CFURLGetTypeID() -> CFTypeID { TypeNumber.url.rawValue }
/// The type number of a ``CFError``.
public func CFErrorGetTypeID() -> CFTypeID { TypeNumber.error.rawValue }
/// The type number of a ``CFNull``.
public func CFNullGetTypeID() -> CFTypeID { TypeNumber.null.rawValue }
/// The type number of a `SecAccessControl`.
public func SecAccessControlGetTypeID() -> CFTypeID { TypeNumber.accessControl.rawValue }
/// The type number of a ``SecCertificate``.
public func SecCertificateGetTypeID() -> CFTypeID { TypeNumber.certificate.rawValue }
/// The type number of a ``SecIdentity``.
public func SecIdentityGetTypeID() -> CFTypeID { TypeNumber.identity.rawValue }
/// The type number of a ``SecKey``.
public func SecKeyGetTypeID() -> CFTypeID { TypeNumber.key.rawValue }
/// The type number of a ``SecPolicy``.
public func SecPolicyGetTypeID() -> CFTypeID { TypeNumber.policy.rawValue }
/// The type number of a ``SecTrust``.
public func SecTrustGetTypeID() -> CFTypeID { TypeNumber.trust.rawValue }
/// The type number of a ``SecAccess``.
public func SecAccessGetTypeID() -> CFTypeID { TypeNumber.access.rawValue }
/// The type number of a ``SecTrustedApplication``.
public func SecTrustedApplicationGetTypeID() -> CFTypeID { TypeNumber.trustedApplication.rawValue }
