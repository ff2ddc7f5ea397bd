public import Foundation

// Arrays as C makes them, of pointers to objects
// (`Unmanaged.passUnretained(certificate).toOpaque()`).

/// How an array treats its elements. Here each is an object that is kept alive, also where
/// none of these is given.
public struct CFArrayCallBacks: Sendable {
    fileprivate init() {}
}

/// Elements are objects.
public let kCFTypeArrayCallBacks = CFArrayCallBacks()

/// An array of objects; none where there are fewer than one.
public func CFArrayCreate(
    _ allocator: CFAllocator!, _ values: UnsafeMutablePointer<UnsafeRawPointer?>!, _ numValues: CFIndex,
    _ callBacks: UnsafePointer<CFArrayCallBacks>!
) -> CFArray! {
    let array = NSMutableArray()
    for index in 0..<max(numValues, 0) { unsafe CFArrayAppendValue(array, values[index]) }
    return NSArray(array: array as [AnyObject])
}

/// An empty array that can change; `capacity` is ignored.
public func CFArrayCreateMutable(
    _ allocator: CFAllocator!, _ capacity: CFIndex, _ callBacks: UnsafePointer<CFArrayCallBacks>!
) -> CFMutableArray! {
    NSMutableArray()
}

/// A copy.
public func CFArrayCreateCopy(_ allocator: CFAllocator!, _ theArray: CFArray!) -> CFArray! {
    let given: NSArray = theArray
    return NSArray(array: given.map { $0 })
}

/// A copy that can change; `capacity` is ignored.
public func CFArrayCreateMutableCopy(
    _ allocator: CFAllocator!, _ capacity: CFIndex, _ theArray: CFArray!
) -> CFMutableArray! {
    let given: NSArray = theArray
    return NSMutableArray(array: given.map { $0 })
}

/// Puts an object behind the last.
public func CFArrayAppendValue(_ theArray: CFMutableArray!, _ value: UnsafeRawPointer!) {
    unsafe theArray.add(object(value))
}

/// Whether an object that ``CFEqual(_:_:)`` takes for the same is in that part of an array.
/// What of the range lies outside is passed over.
public func CFArrayContainsValue(_ theArray: CFArray!, _ range: CFRange, _ value: UnsafeRawPointer!) -> Bool {
    unsafe CFArrayGetFirstIndexOfValue(theArray, range, value) != kCFNotFound
}

/// Where the first such object is in that part of an array; ``kCFNotFound`` where there is
/// none.
public func CFArrayGetFirstIndexOfValue(
    _ theArray: CFArray!, _ range: CFRange, _ value: UnsafeRawPointer!
) -> CFIndex {
    guard let value = unsafe value else { return kCFNotFound }
    let (array, sought): (NSArray, AnyObject) = unsafe (theArray, object(value))
    return range.within(array.count).first { CFEqual(array.object(at: $0) as AnyObject, sought) } ?? kCFNotFound
}

/// How many elements an array has.
public func CFArrayGetCount(_ theArray: CFArray!) -> CFIndex { theArray.count }

/// Not here: an array of Foundation on Linux makes an object anew each time it is
/// asked for one, so that a pointer to it would lead nowhere.
@available(*, unavailable, message: "an array on Linux lends no pointer to an element: write array[index]")
public func CFArrayGetValueAtIndex(_ theArray: CFArray!, _ idx: CFIndex) -> UnsafeRawPointer! { nil }

/// Not here, for the same reason.
@available(*, unavailable, message: "an array on Linux lends no pointers to its elements: write array as! [AnyObject]")
public func CFArrayGetValues(
    _ theArray: CFArray!, _ range: CFRange, _ values: UnsafeMutablePointer<UnsafeRawPointer?>!
) {}
