extension SecretBytes {
    /// Whether all of it is text in UTF-8.
    package var isUTF8: Bool { unsafe withUnsafeBytes { unsafe Self.isUTF8($0) } }

    /// Whether a part of it is text in UTF-8.
    package func isUTF8(_ range: Range<Int>) -> Bool {
        unsafe withUnsafeBytes { unsafe Self.isUTF8(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        unsafe bytes.withMemoryRebound(to: UInt8.self) { text in
            do {
                _ = try UTF8Span(validating: unsafe text.span)
                return true
            } catch {
                return false
            }
        }
    }

    /// The first place in a part whose byte is one that is looked for.
    package func firstIndex(in range: Range<Int>, where isLookedFor: (UInt8) -> Bool) -> Int? {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe withUnsafeBytes { bytes in
            for index in range where unsafe isLookedFor(bytes[index]) { return index }
            return nil
        }
    }

    /// How often a byte stands in a part.
    package func count(of byte: UInt8, in range: Range<Int>) -> Int {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe withUnsafeBytes { bytes in
            var found = 0
            for index in range where unsafe bytes[index] == byte { found += 1 }
            return found
        }
    }

    package subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count)
        return unsafe withUnsafeBytes { unsafe $0[index] }
    }
}
