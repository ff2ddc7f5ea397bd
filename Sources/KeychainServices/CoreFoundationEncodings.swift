import Foundation

/// How text is written as bytes: a number of ``CFStringBuiltInEncodings``. The functions here
/// know those and no others.
public typealias CFStringEncoding = UInt32

/// No encoding: Apple, CFString.h.
@_disfavoredOverload
public var kCFStringEncodingInvalidId: UInt32 { 0xffff_ffff }

/// The encodings that there are everywhere; Apple's numbers (CFString.h).
public enum CFStringBuiltInEncodings: CFStringEncoding, Sendable {
    /// Mac OS Roman.
    case macRoman = 0
    /// Windows code page 1252.
    case windowsLatin1 = 0x0500
    /// ISO 8859-1.
    case isoLatin1 = 0x0201
    /// That of NeXTSTEP.
    case nextStepLatin = 0x0b01
    /// Seven bits. Read, a byte above 127 is the character of that number.
    case ASCII = 0x0600
    /// UTF-16: the machine's order, or what a byte order mark says.
    case unicode = 0x0100
    /// UTF-8.
    case UTF8 = 0x0800_0100
    /// Seven bits, and an escape for each other character.
    case nonLossyASCII = 0x0bff
    /// UTF-16, the most significant byte first.
    case UTF16BE = 0x1000_0100
    /// UTF-16, the least significant byte first.
    case UTF16LE = 0x1400_0100
    /// UTF-32: the machine's order, or what a byte order mark says.
    case UTF32 = 0x0c00_0100
    /// UTF-32, the most significant byte first.
    case UTF32BE = 0x1800_0100
    /// UTF-32, the least significant byte first.
    case UTF32LE = 0x1c00_0100

    /// The other name of ``unicode``.
    public static var UTF16: CFStringBuiltInEncodings { .unicode }
}

extension CFStringBuiltInEncodings {
    /// Foundation's name of it; with a byte order mark where one belongs to it.
    var external: String.Encoding {
        switch self {
        case .macRoman: .macOSRoman
        case .windowsLatin1: .windowsCP1252
        case .isoLatin1: .isoLatin1
        case .nextStepLatin: .nextstep
        case .ASCII: .ascii
        case .unicode: .utf16
        case .UTF8: .utf8
        case .nonLossyASCII: .nonLossyASCII
        case .UTF16BE: .utf16BigEndian
        case .UTF16LE: .utf16LittleEndian
        case .UTF32: .utf32
        case .UTF32BE: .utf32BigEndian
        case .UTF32LE: .utf32LittleEndian
        }
    }

    /// Foundation's name of it, in the machine's order and without a mark.
    var plain: String.Encoding {
        switch self {
        case .unicode: 1.littleEndian == 1 ? .utf16LittleEndian : .utf16BigEndian
        case .UTF32: 1.littleEndian == 1 ? .utf32LittleEndian : .utf32BigEndian
        default: external
        }
    }

    /// Whether a byte of zero ends text in it, and is no part of another character.
    var isOfBytes: Bool {
        switch self {
        case .unicode, .UTF16BE, .UTF16LE, .UTF32, .UTF32BE, .UTF32LE: false
        default: true
        }
    }
}

/// How many bytes so many UTF-16 units take at the most, without an end; ``kCFNotFound``
/// where that is more than there can be.
@_disfavoredOverload
public func CFStringGetMaximumSizeForEncoding(_ length: CFIndex, _ encoding: CFStringEncoding) -> CFIndex {
    let each =
        switch CFStringBuiltInEncodings(rawValue: encoding) {
        case .UTF8: 3
        case .unicode, .UTF16BE, .UTF16LE: 2
        case .UTF32, .UTF32BE, .UTF32LE: 4
        case .nonLossyASCII: 6
        default: 1
        }
    let (size, overflows) = length.multipliedReportingOverflow(by: each)
    return overflows ? kCFNotFound : size
}
