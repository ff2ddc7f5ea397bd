/// How many columns of a terminal text takes, at the most.
///
/// Terminals disagree on sequences of pictures: some show one of two columns, others
/// each part by itself. What is counted too wide is cut early; what is counted too
/// narrow would lie over the edge. Control characters are none of this: see
/// ``PrintableText``.
package enum TextColumns {
    package static func count(_ text: String) -> Int { text.reduce(0) { $0 + count($1) } }

    package static func count(_ character: Character) -> Int {
        var columns = 0
        var before: Unicode.Scalar?
        for scalar in character.unicodeScalars {
            columns += count(scalar, after: before)
            before = scalar
        }
        return columns
    }

    /// As much of the beginning as fits; no character is cut.
    package static func beginning(of text: String, columns: Int) -> String {
        var left = columns
        return String(
            text.prefix { character in
                left -= count(character)
                return left >= 0
            })
    }

    /// As much of the end as fits; no character is cut.
    package static func end(of text: String, columns: Int) -> String {
        String(beginning(of: String(text.reversed()), columns: columns).reversed())
    }

    private static func count(_ scalar: Unicode.Scalar, after before: Unicode.Scalar?) -> Int {
        if scalar.isASCII { return 1 }
        // The selector of pictures (Unicode, emoji-variation-sequences.txt) widens what is
        // text by itself.
        if scalar == "\u{fe0f}" {
            return before.map { $0.properties.isEmoji && count($0, after: nil) == 1 } == true ? 1 : 0
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch scalar.value {
        // Vowels and finals of Hangul stand in the square of the letter before them.
        case 0x1160...0x11ff, 0xd7b0...0xd7ff: return 0
        // Two of them make a flag.
        case 0x1f1e6...0x1f1ff: return 1
        default: break
        }
        return scalar.properties.isEmojiPresentation || isWide(scalar.value) ? 2 : 1
    }

    /// Unicode 15.0, EastAsianWidth.txt: W and F but for pictures, with what between them
    /// is not assigned.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x3247, 0x3250...0x4dbf, 0x4e00...0xa4c6,
        0xa960...0xa97c, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6b, 0xff01...0xff60,
        0xffe0...0xffe6, 0x16fe0...0x18d08, 0x1aff0...0x1b2fb, 0x1f200...0x1f265, 0x20000...0x3fffd,
    ]

    private static func isWide(_ value: UInt32) -> Bool {
        value >= 0x1100 && wide.contains { $0.contains(value) }
    }
}
