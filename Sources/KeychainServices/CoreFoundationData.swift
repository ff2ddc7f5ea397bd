public import Foundation

/// Data with a copy of the bytes.
public func CFDataCreate(_ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex) -> CFData! {
    unsafe NSData(bytes: bytes, length: length)
}

/// Data with these bytes.
///
/// Where they stay with the caller (``kCFAllocatorNull``) they are copied, so that the data is
/// good for longer than the caller's pointer, which Apple's is not; else they are malloc(3)'s
/// and freed with the data.
public func CFDataCreateWithBytesNoCopy(
    _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex, _ bytesDeallocator: CFAllocator!
) -> CFData! {
    guard bytesDeallocator !== kCFAllocatorNull, let bytes = unsafe bytes else {
        return unsafe CFDataCreate(allocator, bytes, length)
    }
    return unsafe NSData(bytesNoCopy: UnsafeMutablePointer(mutating: bytes), length: length, freeWhenDone: true)
}

/// A copy.
public func CFDataCreateCopy(_ allocator: CFAllocator!, _ theData: CFData!) -> CFData! { NSData(data: theData as Data) }

/// Empty data that can change; `capacity` is ignored, also as a limit.
public func CFDataCreateMutable(_ allocator: CFAllocator!, _ capacity: CFIndex) -> CFMutableData! { NSMutableData() }

/// A copy that can change; `capacity` is ignored, also as a limit.
public func CFDataCreateMutableCopy(
    _ allocator: CFAllocator!, _ capacity: CFIndex, _ theData: CFData!
) -> CFMutableData! {
    NSMutableData(data: theData as Data)
}

/// How many bytes there are.
public func CFDataGetLength(_ theData: CFData!) -> CFIndex { theData.length }

/// The bytes, for as long as the object lives.
public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! {
    unsafe theData.bytes.assumingMemoryBound(to: UInt8.self)
}

/// The bytes, to be changed, until the length does.
public func CFDataGetMutableBytePtr(_ theData: CFMutableData!) -> UnsafeMutablePointer<UInt8>! {
    unsafe theData.mutableBytes.assumingMemoryBound(to: UInt8.self)
}

/// Copies bytes to memory. What of the range lies outside is passed over.
public func CFDataGetBytes(_ theData: CFData!, _ range: CFRange, _ buffer: UnsafeMutablePointer<UInt8>!) {
    let part = range.within(theData.length)
    guard let buffer = unsafe buffer, !part.isEmpty else { return }
    unsafe theData.getBytes(buffer, range: NSRange(part))
}

/// Puts bytes behind the last.
public func CFDataAppendBytes(_ theData: CFMutableData!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex) {
    guard let bytes = unsafe bytes, length > 0 else { return }
    unsafe theData.append(bytes, length: length)
}

/// Puts so many zeros behind the last byte; nothing for a number below 1.
public func CFDataIncreaseLength(_ theData: CFMutableData!, _ extraLength: CFIndex) {
    if extraLength > 0 { theData.increaseLength(by: extraLength) }
}

/// Cuts data, or puts zeros behind it; nothing for a length below 0.
public func CFDataSetLength(_ theData: CFMutableData!, _ length: CFIndex) {
    if length >= 0 { theData.length = length }
}
