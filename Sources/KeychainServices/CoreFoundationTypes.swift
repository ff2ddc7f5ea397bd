public import Foundation

// The Core Foundation names that code written for Security uses. On Apple's
// systems most of these types are bridged to a Foundation class; here they are
// that class, so that `[key: value] as CFDictionary`, `result as? Data` and
// `error!.takeRetainedValue() as Error` mean the same.

// MARK: Types

/// A string; `NSString` here.
public typealias CFString = NSString
/// A string that can change; `NSMutableString` here.
public typealias CFMutableString = NSMutableString
/// A dictionary; `NSDictionary` here.
public typealias CFDictionary = NSDictionary
/// A dictionary that can change; `NSMutableDictionary` here.
public typealias CFMutableDictionary = NSMutableDictionary
/// An array; `NSArray` here.
public typealias CFArray = NSArray
/// An array that can change; `NSMutableArray` here.
public typealias CFMutableArray = NSMutableArray
/// A set; `NSSet` here.
public typealias CFSet = NSSet
/// A set that can change; `NSMutableSet` here.
public typealias CFMutableSet = NSMutableSet
/// Bytes; `NSData` here.
public typealias CFData = NSData
/// Bytes that can change; `NSMutableData` here.
public typealias CFMutableData = NSMutableData
/// A number; `NSNumber` here.
public typealias CFNumber = NSNumber
/// A truth value; `NSNumber` here, as bridging makes it on Apple's systems.
public typealias CFBoolean = NSNumber
/// A date; `NSDate` here.
public typealias CFDate = NSDate
/// A URL; `NSURL` here.
public typealias CFURL = NSURL
/// An error; `NSError` here.
public typealias CFError = NSError
/// The domain of an error; `NSString` here.
public typealias CFErrorDomain = NSString
/// The null object; `NSNull` here.
public typealias CFNull = NSNull
/// Any object.
public typealias CFTypeRef = AnyObject
/// Any object that a property list may hold.
public typealias CFPropertyList = AnyObject

/// The result of a call; see ``errSecSuccess`` and its neighbours.
public typealias OSStatus = Int32
/// A four-character code.
public typealias OSType = UInt32
/// A four-character code.
public typealias FourCharCode = UInt32
/// A set of options, one bit each.
public typealias CFOptionFlags = UInt
/// A count or a position.
public typealias CFIndex = Int
/// The number of a type; see ``CFGetTypeID(_:)``.
public typealias CFTypeID = UInt
/// The hash of an object.
public typealias CFHashCode = UInt
/// A span of time in seconds.
public typealias CFTimeInterval = Double
/// A time, in seconds since the first instant of 2001 UTC.
public typealias CFAbsoluteTime = Double

/// What Core Foundation takes memory from. Every call here ignores it, but for the one that
/// is told whose bytes it gets: ``CFDataCreateWithBytesNoCopy(_:_:_:_:)``.
public final class CFAllocator: Sendable {
    fileprivate init() {}
}

/// A universally unique identifier.
public typealias CFUUID = NSUUID

// MARK: Constants

/// The allocator of the system, which is null, as on Apple's systems.
public let kCFAllocatorDefault: CFAllocator! = nil

/// The system's, by its own name.
public let kCFAllocatorSystemDefault: CFAllocator! = CFAllocator()

/// malloc(3).
public let kCFAllocatorMalloc: CFAllocator! = CFAllocator()

/// Gives no memory and takes none back: of bytes that stay with whoever has them.
public let kCFAllocatorNull: CFAllocator! = CFAllocator()

/// True, as an object.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)

/// False, as an object.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)

/// The key of the bundle identifier in an `Info.plist`.
@safe nonisolated(unsafe) public let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"

/// The key of the name of a bundle in an `Info.plist`.
@safe nonisolated(unsafe) public let kCFBundleNameKey: CFString! = "CFBundleName"

/// The key of the version of a bundle in an `Info.plist`.
@safe nonisolated(unsafe) public let kCFBundleVersionKey: CFString! = "CFBundleVersion"

/// The null object.
public let kCFNull: CFNull! = NSNull()

/// The domain of errors of Foundation.
@safe nonisolated(unsafe) public let kCFErrorDomainCocoa: CFErrorDomain! = NSString(string: NSCocoaErrorDomain)

/// The domain of errors whose code is an `errno`.
@safe nonisolated(unsafe) public let kCFErrorDomainPOSIX: CFErrorDomain! = NSString(string: NSPOSIXErrorDomain)

/// In what an error carries: what went wrong, for a person to read.
@safe nonisolated(unsafe) public let kCFErrorLocalizedDescriptionKey: CFString! = "NSLocalizedDescription"

/// In what an error carries: what went wrong, for a developer to read.
@safe nonisolated(unsafe) public let kCFErrorDescriptionKey: CFString! = "NSDescription"

/// The domain of errors whose code is an `OSStatus`.
@safe nonisolated(unsafe) public let kCFErrorDomainOSStatus: CFErrorDomain! = NSString(string: NSOSStatusErrorDomain)

// MARK: Errors

/// The code of an error.
public func CFErrorGetCode(_ err: CFError!) -> CFIndex {
    err.code
}

/// The domain of an error.
public func CFErrorGetDomain(_ err: CFError!) -> CFErrorDomain! {
    NSString(string: err.domain)
}

/// What else an error carries; empty if nothing.
public func CFErrorCopyUserInfo(_ err: CFError!) -> CFDictionary! {
    err.userInfo as NSDictionary
}

/// What went wrong, for a person to read.
public func CFErrorCopyDescription(_ err: CFError!) -> CFString! {
    NSString(string: err.localizedDescription)
}

// MARK: Strings as keys

/// Makes an `NSString` and a `String` of the same text one and the same key, as
/// on Apple's systems; else `attributes[kSecAttrAccount]` finds nothing in a
/// dictionary whose keys are `AnyHashable("acct")`.
///
/// The conformance holds for the whole process.
// swift-format-ignore: AvoidRetroactiveConformances
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    public func _toCustomAnyHashable() -> AnyHashable? {
        AnyHashable(self as String)
    }
}
