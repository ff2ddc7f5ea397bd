import Foundation
import KeychainServices
import Testing

/// Strings compared and as bytes. What is expected of each encoding is what the toolchain's
/// own CoreFoundation answers, which is Apple's source.
@Suite struct CoreFoundationStringTests {
    private static let utf8 = CFStringBuiltInEncodings.UTF8.rawValue
    private static let ascii = CFStringBuiltInEncodings.ASCII.rawValue
    private static let utf16 = CFStringBuiltInEncodings.UTF16.rawValue

    @Test(
        arguments: [
            ([], [1, 1, -1, 1, -1, -1, 1]),
            (.compareCaseInsensitive, [-1, 1, -1, 0, -1, -1, 1]),
            (.compareNonliteral, [1, 0, -1, 1, -1, -1, 1]),
            ([.compareCaseInsensitive, .compareNonliteral], [-1, 0, -1, 0, -1, -1, 1]),
            (.compareLocalized, [-1, 1, -1, 1, -1, -1, 1]),
            (.compareNumerically, [1, 1, 1, 1, -1, -1, 1]),
            (.compareDiacriticInsensitive, [1, 0, -1, 1, 0, -1, 1]),
            (.compareWidthInsensitive, [1, 1, -1, 1, -1, 0, 1]),
            ([.compareCaseInsensitive, .compareForcedOrdering], [-1, 1, -1, 1, -1, -1, 1]),
        ] as [(CFStringCompareFlags, [Int])])
    func stringsAreComparedAsTheFlagsSay(_ flags: CFStringCompareFlags, _ expected: [Int]) {
        let pairs: [(CFString, CFString)] = [
            ("a10", "A9"), ("é", "e\u{301}"), ("a10", "a9"), ("straße", "STRASSE"), ("e", "é"), ("a", "ａ"), ("ab", "a"),
        ]
        #expect(pairs.map { CFStringCompare($0, $1, flags).rawValue } == expected)
        #expect(CFStringCompare("same", "same", flags) == .compareEqualTo)
        #expect(CFStringCompare("a", "b", flags) == .compareLessThan)
        #expect(CFStringCompare("b", "a", flags) == .compareGreaterThan)
    }

    @Test func stringsBeginAndEnd() {
        #expect(CFStringHasPrefix("abc", "ab") && !CFStringHasPrefix("ab", "abc") && !CFStringHasPrefix("ABC", "a"))
        #expect(CFStringHasSuffix("abc", "bc") && !CFStringHasSuffix("abc", "ab") && !CFStringHasSuffix("abc", "C"))
        // Unit by unit, and never with nothing.
        #expect(CFStringHasPrefix("e\u{301}", "e") && !CFStringHasPrefix("é", "e\u{301}"))
        #expect(!CFStringHasPrefix("abc", "") && !CFStringHasSuffix("abc", ""))
    }

    /// The bytes with the zero behind them; nil where the call says no.
    private func cString(_ text: CFString, _ size: Int, _ encoding: CFStringEncoding) -> [UInt8]? {
        var buffer = [CChar](repeating: 0x55, count: max(size, 1))
        let isWritten = unsafe CFStringGetCString(text, &buffer, size, encoding)
        if !isWritten && size > 0 { #expect(buffer.first == 0) }
        if size <= 0 { #expect(buffer == [0x55]) }
        return isWritten ? buffer.map(UInt8.init(bitPattern:)) : nil
    }

    @Test func cStringsFitWithTheirEndOrAreRefused() {
        #expect(cString("ab", 4, Self.utf8) == [97, 98, 0, 0x55] && cString("ab", 3, Self.utf8) == [97, 98, 0])
        #expect(cString("ab", 2, Self.utf8) == nil && cString("", 1, Self.utf8) == [0])
        #expect(cString("ab", 0, Self.utf8) == nil && cString("ab", -1, Self.utf8) == nil)
        #expect(cString("日", 4, Self.utf8) == [230, 151, 165, 0] && cString("日", 3, Self.utf8) == nil)
        // An encoding that cannot tell it, and one that is not known.
        #expect(cString("é", 9, Self.ascii) == nil && cString("a", 9, 0x1234_5678) == nil)
        #expect(cString("a", 9, kCFStringEncodingInvalidId) == nil)
        #expect(cString("é", 2, CFStringBuiltInEncodings.isoLatin1.rawValue) == [0xe9, 0])
        #expect(cString("é", 3, Self.utf16) == [0xe9, 0, 0])
        #expect(CFStringGetCString("a", nil, 9, Self.utf8) == false)
        #expect(unsafe CFStringGetCStringPtr("a", Self.utf8) == nil)
    }

    @Test func cStringsAreRead() {
        func read(_ bytes: [UInt8], _ encoding: CFStringEncoding) -> String? {
            unsafe CFStringCreateWithCString(nil, bytes.map(CChar.init(bitPattern:)), encoding).map { $0 as String }
        }
        #expect(read([97, 0, 98, 0], Self.utf8) == "a" && read([0], Self.utf8) == "")
        #expect(read([0xc3, 0xa9, 0], Self.utf8) == "é" && read([0xff, 0], Self.utf8) == nil)
        #expect(read([0x8e, 0], CFStringBuiltInEncodings.macRoman.rawValue) == "é")
        #expect(read([97, 0], 0x1234_5678) == nil && read([97, 0, 0, 0], Self.utf16) == nil)
        #expect(CFStringCreateWithCString(nil, nil, Self.utf8) == nil)
    }

    private func text(_ bytes: [UInt8], _ encoding: CFStringBuiltInEncodings, external: Bool = false) -> String? {
        unsafe CFStringCreateWithBytes(nil, bytes, bytes.count, encoding.rawValue, external).map { $0 as String }
    }

    @Test func bytesAreReadOrRefused() {
        #expect(text([97, 0, 98], .UTF8) == "a\0b" && text([], .UTF8) == "" && text([0xed, 0xa0, 0x80], .UTF8) == nil)
        #expect(text([0x80], .ASCII) == "\u{80}" && text([0x81], .windowsLatin1) == nil)
        #expect(text([0xff], .nextStepLatin) == nil && text(Array("\\351".utf8), .nonLossyASCII) == "é")
        #expect(text([0, 0, 0x11, 0], .UTF32LE) == nil && text([97, 0, 0], .UTF32LE) == nil)
        #expect(CFStringCreateWithBytes(nil, nil, 3, Self.utf8, false) == nil)
        #expect(CFStringCreateWithBytes(nil, nil, 0, Self.utf8, false) == "")
        #expect(unsafe CFStringCreateWithBytes(nil, [97], -1, Self.utf8, false) == nil)
        #expect(unsafe CFStringCreateWithBytes(nil, [97], 1, 0x0400_0100, false) == nil)
    }

    @Test func byteOrderMarksAreReadWhereTheyBelong() {
        let (mark, swapped): ([UInt8], [UInt8]) = ([0xff, 0xfe, 97, 0], [0xfe, 0xff, 0, 97])
        #expect(text(mark, .UTF16, external: true) == "a" && text(swapped, .UTF16, external: true) == "a")
        #expect(text(mark, .UTF16) == "\u{feff}a" && text(swapped, .UTF16) == "\u{fffe}\u{6100}")
        #expect(text([97, 0], .UTF16) == "a" && text([97, 0], .UTF16, external: true) == "\u{6100}")
        #expect(text([0xef, 0xbb, 0xbf, 97], .UTF8) == "a" && text(mark, .UTF16LE, external: true) == "\u{feff}a")
    }

    @Test func filesHaveAMark() throws {
        func written(_ text: CFString, _ encoding: CFStringBuiltInEncodings, loss: UInt8 = 0) -> Data? {
            CFStringCreateExternalRepresentation(nil, text, encoding.rawValue, loss).map { $0 as Data }
        }
        #expect(written("a", .UTF16) == Data([0xff, 0xfe, 97, 0]) && written("a", .UTF16BE) == Data([0, 97]))
        #expect(written("aé日", .ASCII) == nil && written("aé日z", .ASCII, loss: 0x23) == Data("a##z".utf8))
        let phrase = try #require(written("seed phrase", .UTF8))
        let read: CFString = CFStringCreateFromExternalRepresentation(nil, phrase as CFData, Self.utf8)
        #expect(read as String == "seed phrase")
        #expect(CFStringCreateFromExternalRepresentation(nil, Data([0xff]) as CFData, Self.utf8) == nil)
        #expect(CFStringCreateFromExternalRepresentation(nil, Data() as CFData, Self.utf8) == "")
        #expect(CFStringCreateExternalRepresentation(nil, "a", 0x1234_5678, 0x23) == nil)
    }

    @Test func sizesSufficeOrAreNotFound() {
        let sizes: [(CFStringBuiltInEncodings, CFIndex)] = [
            (.UTF8, 30), (.ASCII, 10), (.UTF16, 20), (.UTF16BE, 20), (.UTF32LE, 40), (.nonLossyASCII, 60),
            (.macRoman, 10),
        ]
        for (encoding, size) in sizes {
            #expect(CFStringGetMaximumSizeForEncoding(10, encoding.rawValue) == size)
        }
        #expect(CFStringGetMaximumSizeForEncoding(CFIndex.max / 2, Self.utf8) == kCFNotFound)
        #expect(CFStringGetMaximumSizeForEncoding(10, kCFStringEncodingInvalidId) == 10)
    }
}
