public import Foundation

// The functions of Core Foundation that keychain code calls on what it gives to
// Security and gets from it. Those that lend a pointer to an element are named
// unavailable below. The disfavored ones have the very signature of the toolchain's own
// module CoreFoundation, which goes first where a file imports both.

// MARK: Any object

/// Whether both are of one type and the same by what they say. A ``CFBoolean`` is no
/// number.
@_disfavoredOverload
public func CFEqual(_ cf1: CFTypeRef!, _ cf2: CFTypeRef!) -> Bool {
    guard let one: AnyObject = cf1, let other: AnyObject = cf2 else { return cf1 == nil && cf2 == nil }
    if one === other { return true }
    guard CFGetTypeID(one) == CFGetTypeID(other), let object = one as? NSObject else { return false }
    return object.isEqual(other)
}

/// The same for objects that ``CFEqual(_:_:)`` takes for equal.
@_disfavoredOverload
public func CFHash(_ cf: CFTypeRef!) -> CFHashCode {
    guard let object: AnyObject = cf else { return 0 }
    let hash = (object as? NSObject)?.hash ?? ObjectIdentifier(object).hashValue
    return CFHashCode(bitPattern: hash)
}

/// What an object says of itself, for a developer to read; other words than Apple's.
public func CFCopyDescription(_ cf: CFTypeRef!) -> CFString! {
    guard let object: AnyObject = cf else { return "(null)" }
    return NSString(string: String(describing: object))
}

/// Writes what an object says of itself to standard error, and an end of line.
@_disfavoredOverload
public func CFShow(_ obj: CFTypeRef!) {
    let text: NSString = CFCopyDescription(obj)
    do { try FileHandle.standardError.write(contentsOf: Data("\(text)\n".utf8)) } catch {
        // Nobody is there to read it.
        return
    }
}

// MARK: Strings

/// How many UTF-16 units a string has.
public func CFStringGetLength(_ theString: CFString!) -> CFIndex { theString.length }

/// A copy.
public func CFStringCreateCopy(_ alloc: CFAllocator!, _ theString: CFString!) -> CFString! {
    NSString(string: "\(theString as NSString)")
}

// MARK: Dates and errors

/// Now, in seconds since the first instant of 2001 UTC.
@_disfavoredOverload
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date().timeIntervalSinceReferenceDate }

/// The date so many seconds after the first instant of 2001 UTC.
public func CFDateCreate(_ allocator: CFAllocator!, _ at: CFAbsoluteTime) -> CFDate! {
    NSDate(timeIntervalSinceReferenceDate: at)
}

/// The seconds from the first instant of 2001 UTC to a date.
public func CFDateGetAbsoluteTime(_ theDate: CFDate!) -> CFAbsoluteTime { theDate.timeIntervalSinceReferenceDate }

/// A new one, which no other is like.
public func CFUUIDCreate(_ alloc: CFAllocator!) -> CFUUID! { NSUUID() }

/// As text, in capitals: "68753A44-4D6F-1226-9C60-0050E4C00067".
public func CFUUIDCreateString(_ alloc: CFAllocator!, _ uuid: CFUUID!) -> CFString! {
    NSString(string: uuid.uuidString)
}

/// An error with this domain and code; what else it carries has strings as keys.
public func CFErrorCreate(
    _ allocator: CFAllocator!, _ domain: CFErrorDomain!, _ code: CFIndex, _ userInfo: CFDictionary!
) -> CFError! {
    let given: NSDictionary? = userInfo
    return NSError(domain: "\(domain as NSString)", code: code, userInfo: given as? [String: Any])
}

/// Why it failed, for a person to read; nil where the error does not say.
public func CFErrorCopyFailureReason(_ err: CFError!) -> CFString! {
    err.localizedFailureReason.map { NSString(string: $0) }
}
