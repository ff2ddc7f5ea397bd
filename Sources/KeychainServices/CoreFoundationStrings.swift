public import Foundation

// Strings: compared, and as bytes of an encoding. What cannot be told in it, or read of it,
// is refused; nothing here replaces a character unasked.

/// How two strings are compared; Apple's numbers (CFString.h).
public struct CFStringCompareFlags: OptionSet, Sendable {
    /// The bits.
    public let rawValue: CFOptionFlags

    /// Those bits.
    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

    /// "a" is "A".
    public static let compareCaseInsensitive = Self(rawValue: 1)
    /// From the end. Of use in a search.
    public static let compareBackwards = Self(rawValue: 4)
    /// At the beginning, or at the end. Of use in a search.
    public static let compareAnchored = Self(rawValue: 8)
    /// One character is the same however it is composed.
    public static let compareNonliteral = Self(rawValue: 16)
    /// In the order of the person's language.
    public static let compareLocalized = Self(rawValue: 32)
    /// "a9" comes before "a10".
    public static let compareNumerically = Self(rawValue: 64)
    /// "e" is "é".
    public static let compareDiacriticInsensitive = Self(rawValue: 128)
    /// "a" is "ａ".
    public static let compareWidthInsensitive = Self(rawValue: 256)
    /// Strings that differ are never the same, whatever else is said.
    public static let compareForcedOrdering = Self(rawValue: 512)
}

/// Which of two strings comes first.
public func CFStringCompare(
    _ theString1: CFString!, _ theString2: CFString!, _ compareOptions: CFStringCompareFlags
) -> CFComparisonResult {
    let (one, other): (NSString, NSString) = (theString1, theString2)
    var options = NSString.CompareOptions(
        rawValue: compareOptions.subtracting([.compareNonliteral, .compareLocalized]).rawValue)
    if !compareOptions.contains(.compareNonliteral) { options.insert(.literal) }
    let locale: Locale? = compareOptions.contains(.compareLocalized) ? .current : nil
    let whole = NSRange(location: 0, length: one.length)
    return CFComparisonResult(one.compare("\(other)", options: options, range: whole, locale: locale))
}

/// Whether a string begins with another, unit by unit; never with an empty one.
public func CFStringHasPrefix(_ theString: CFString!, _ prefix: CFString!) -> Bool {
    let text: NSString = prefix
    return theString.range(of: "\(text)", options: [.anchored, .literal]).location != NSNotFound
}

/// Whether a string ends with another, unit by unit; never with an empty one.
public func CFStringHasSuffix(_ theString: CFString!, _ suffix: CFString!) -> Bool {
    let text: NSString = suffix
    return theString.range(of: "\(text)", options: [.anchored, .backwards, .literal]).location != NSNotFound
}

/// Writes a string to memory, and a zero behind it.
///
/// - Returns: False where it does not fit with its end, where the encoding cannot tell it or
///   is not known, and where there is no memory. What is there is then empty.
public func CFStringGetCString(
    _ theString: CFString!, _ buffer: UnsafeMutablePointer<CChar>!, _ bufferSize: CFIndex,
    _ encoding: CFStringEncoding
) -> Bool {
    guard let buffer = unsafe buffer, bufferSize > 0 else { return false }
    unsafe buffer.pointee = 0
    guard let encoding = CFStringBuiltInEncodings(rawValue: encoding),
        let bytes = theString.data(using: encoding.plain.rawValue, allowLossyConversion: false),
        bytes.count < bufferSize
    else { return false }
    unsafe bytes.copyBytes(to: UnsafeMutableRawBufferPointer(start: buffer, count: bytes.count))
    unsafe buffer[bytes.count] = 0
    return true
}

/// Nil: a string of Foundation on Linux lends no memory. Apple's may be nil at any time as
/// well; ``CFStringGetCString(_:_:_:_:)`` is what to call then.
public func CFStringGetCStringPtr(_ theString: CFString!, _ encoding: CFStringEncoding) -> UnsafePointer<CChar>! {
    nil
}

/// The string that memory holds up to its zero.
///
/// - Returns: Nil where the bytes are none of that encoding, and for one whose characters
///   are wider than a byte.
public func CFStringCreateWithCString(
    _ alloc: CFAllocator!, _ cStr: UnsafePointer<CChar>!, _ encoding: CFStringEncoding
) -> CFString! {
    guard let text = unsafe cStr, CFStringBuiltInEncodings(rawValue: encoding)?.isOfBytes == true else { return nil }
    var length = 0
    while unsafe text[length] != 0 { length += 1 }
    return unsafe NSString(bytes: text, length: length, from: encoding, isExternal: false)
}

/// The string of these bytes.
///
/// - Parameters:
///   - alloc: Ignored.
///   - bytes: The bytes.
///   - numBytes: How many.
///   - encoding: What they are written in.
///   - isExternalRepresentation: Whether UTF-16 may begin with a byte order mark, and is in
///     network order without one. That of UTF-8 and UTF-32 is taken off in any case.
/// - Returns: Nil where the bytes are none of that encoding. Half a surrogate pair becomes
///   U+FFFD here.
public func CFStringCreateWithBytes(
    _ alloc: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ numBytes: CFIndex, _ encoding: CFStringEncoding,
    _ isExternalRepresentation: Bool
) -> CFString! {
    unsafe NSString(bytes: bytes, length: numBytes, from: encoding, isExternal: isExternalRepresentation)
}

/// The string that data is, as a file has it: ``CFStringCreateWithBytes(_:_:_:_:_:)`` with
/// a byte order mark.
public func CFStringCreateFromExternalRepresentation(
    _ alloc: CFAllocator!, _ data: CFData!, _ encoding: CFStringEncoding
) -> CFString! {
    unsafe NSString(bytes: data.bytes, length: data.length, from: encoding, isExternal: true)
}

/// A string as a file has it: UTF-16 and UTF-32 with a byte order mark.
///
/// - Parameters:
///   - alloc: Ignored.
///   - theString: The string.
///   - encoding: What it is to be written in.
///   - lossByte: What to write for a character that the encoding cannot tell; 0 for none.
/// - Returns: Nil where the encoding is not known, or cannot tell the string and `lossByte`
///   is 0.
public func CFStringCreateExternalRepresentation(
    _ alloc: CFAllocator!, _ theString: CFString!, _ encoding: CFStringEncoding, _ lossByte: UInt8
) -> CFData! {
    guard let encoding = CFStringBuiltInEncodings(rawValue: encoding)?.external else { return nil }
    let text: NSString = theString
    if let whole = text.data(using: encoding.rawValue, allowLossyConversion: false) { return NSData(data: whole) }
    guard lossByte != 0 else { return nil }
    let bytes = "\(text)".unicodeScalars.flatMap { String($0).data(using: encoding) ?? Data([lossByte]) }
    return NSData(data: Data(bytes))
}

extension NSString {
    fileprivate convenience init?(
        bytes: UnsafeRawPointer?, length: Int, from encoding: CFStringEncoding, isExternal: Bool
    ) {
        guard let known = CFStringBuiltInEncodings(rawValue: encoding), length >= 0 else { return nil }
        guard length > 0 else {
            self.init()
            return
        }
        guard let bytes = unsafe bytes else { return nil }
        let reading = known == .unicode && !isExternal ? known.plain : known.external
        unsafe self.init(bytes: bytes, length: length, encoding: reading.rawValue)
    }
}
