public import Foundation

// Dictionaries as C makes them, of pointers to objects
// (`Unmanaged.passUnretained(kSecClass).toOpaque()`).

/// How a dictionary treats its keys. Here each key is an object that is kept alive,
/// also where none of these is given.
public struct CFDictionaryKeyCallBacks: Sendable {
    fileprivate init() {}
}

/// How a dictionary treats its values. Here each value is an object that is kept alive,
/// also where none of these is given.
public struct CFDictionaryValueCallBacks: Sendable {
    fileprivate init() {}
}

/// Keys are objects.
public let kCFTypeDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()
/// Keys are strings; copied here as any other.
public let kCFCopyStringDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()
/// Values are objects.
public let kCFTypeDictionaryValueCallBacks = CFDictionaryValueCallBacks()

/// A dictionary of objects; of two equal keys the first counts.
public func CFDictionaryCreate(
    _ allocator: CFAllocator!, _ keys: UnsafeMutablePointer<UnsafeRawPointer?>!,
    _ values: UnsafeMutablePointer<UnsafeRawPointer?>!, _ numValues: CFIndex,
    _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
    _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFDictionary! {
    let dictionary = NSMutableDictionary()
    for index in 0..<numValues { unsafe CFDictionaryAddValue(dictionary, keys[index], values[index]) }
    return dictionary
}

/// An empty dictionary that can change; `capacity` is ignored.
public func CFDictionaryCreateMutable(
    _ allocator: CFAllocator!, _ capacity: CFIndex, _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
    _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFMutableDictionary! {
    NSMutableDictionary()
}

/// How many keys a dictionary has.
public func CFDictionaryGetCount(_ theDict: CFDictionary!) -> CFIndex { theDict.count }

/// Sets the value of a key that is not there yet.
public func CFDictionaryAddValue(
    _ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
    let key = unsafe dictionaryKey(key)
    if theDict.object(forKey: key) == nil { unsafe theDict.setObject(object(value), forKey: key) }
}

/// Sets the value of a key, in place of what is there.
public func CFDictionarySetValue(
    _ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
    unsafe theDict.setObject(object(value), forKey: dictionaryKey(key))
}

/// Whether a key is there.
public func CFDictionaryContainsKey(_ theDict: CFDictionary!, _ key: UnsafeRawPointer!) -> Bool {
    unsafe theDict.object(forKey: dictionaryKey(key)) != nil
}

/// Removes a key and its value.
public func CFDictionaryRemoveValue(_ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!) {
    unsafe theDict.removeObject(forKey: dictionaryKey(key))
}

/// A copy.
public func CFDictionaryCreateCopy(_ allocator: CFAllocator!, _ theDict: CFDictionary!) -> CFDictionary! {
    NSDictionary(dictionary: theDict)
}

/// A copy that can change; `capacity` is ignored.
public func CFDictionaryCreateMutableCopy(
    _ allocator: CFAllocator!, _ capacity: CFIndex, _ theDict: CFDictionary!
) -> CFMutableDictionary! {
    NSMutableDictionary(dictionary: theDict)
}

/// Not here: a dictionary of Foundation on Linux makes an object anew each time it is
/// asked for one, so that a pointer to it would lead nowhere.
@available(*, unavailable, message: "a dictionary on Linux lends no pointer to a value: write dictionary[key]")
public func CFDictionaryGetValue(_ theDict: CFDictionary!, _ key: UnsafeRawPointer!) -> UnsafeRawPointer! { nil }

/// Not here, for the same reason.
@available(*, unavailable, message: "a dictionary on Linux lends no pointer to a value: write dictionary[key]")
public func CFDictionaryGetValueIfPresent(
    _ theDict: CFDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeMutablePointer<UnsafeRawPointer?>!
) -> Bool { false }

/// Not here, for the same reason.
@available(*, unavailable, message: "a dictionary on Linux lends no pointers: write allKeys and dictionary[key]")
public func CFDictionaryGetKeysAndValues(
    _ theDict: CFDictionary!, _ keys: UnsafeMutablePointer<UnsafeRawPointer?>!,
    _ values: UnsafeMutablePointer<UnsafeRawPointer?>!
) {}

/// The object that a pointer leads to.
func object(_ pointer: UnsafeRawPointer) -> AnyObject {
    unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
}

private func dictionaryKey(_ pointer: UnsafeRawPointer) -> AnyHashable {
    guard let key = unsafe object(pointer) as? NSObject else { preconditionFailure("a key is an object of Foundation") }
    return AnyHashable(key)
}
