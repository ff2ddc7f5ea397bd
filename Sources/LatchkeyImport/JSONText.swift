internal import KeychainPlatform

/// The text between the quotes of a JSON string (RFC 8259, section 7).
enum JSONText {
    /// - Precondition: ``JSONReader`` has accepted it.
    static func write(_ bytes: UnsafeRawBufferPointer, to writer: inout SecretWriter) {
        var index = 0
        while index < bytes.count {
            let byte = unsafe bytes[index]
            index += 1
            guard byte == UInt8(ascii: "\\"), index < bytes.count else {
                writer.append(byte)
                continue
            }
            let letter = unsafe bytes[index]
            index += 1
            if letter == UInt8(ascii: "u") {
                guard let scalar = unsafe escapedScalar(bytes, &index) else { return }
                for part in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { writer.append(part) }
            } else {
                writer.append(short(letter) ?? letter)
            }
        }
    }

    /// What follows a backslash, where it is one letter.
    static func short(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0c
        case UInt8(ascii: "n"): 0x0a
        case UInt8(ascii: "r"): 0x0d
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// The character after `\u`, with its second half where it has one; nil where
    /// digits are missing or a half stands alone.
    static func escapedScalar(_ bytes: UnsafeRawBufferPointer, _ index: inout Int) -> Unicode.Scalar? {
        guard let first = unsafe unit(bytes, &index) else { return nil }
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), index + 2 <= bytes.count, unsafe bytes[index] == UInt8(ascii: "\\"),
            unsafe bytes[index + 1] == UInt8(ascii: "u")
        else { return nil }
        index += 2
        guard let second = unsafe unit(bytes, &index), UTF16.isTrailSurrogate(second) else { return nil }
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private static func unit(_ bytes: UnsafeRawBufferPointer, _ index: inout Int) -> UInt16? {
        guard index + 4 <= bytes.count else { return nil }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = unsafe Character(Unicode.Scalar(bytes[index])).hexDigitValue,
                unsafe bytes[index] < 0x80
            else { return nil }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }
}
