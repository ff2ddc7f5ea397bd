/// Names as a terminal may show them: what would move its cursor, colour it, turn its
/// writing direction, draw over what is not its own or not be seen stands escaped.
package enum PrintableText {
    /// Marks over one letter; languages have four at the most, more reach other lines.
    private static let mostMarks = 8

    package static func escaped(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        var marks = 0
        var before: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            marks = isMark(scalar) ? marks + 1 : 0
            if isHarmless(scalar, after: before, marks: marks) {
                out.append(scalar)
                before = scalar
            } else {
                out += "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars
                before = nil
            }
        }
        return String(out)
    }

    /// - Parameter before: what stands before it as it is, if anything.
    private static func isHarmless(_ scalar: Unicode.Scalar, after before: Unicode.Scalar?, marks: Int) -> Bool {
        if scalar.isASCII { return (0x20..<0x7f).contains(scalar.value) }
        // The joiner of pictures draws nothing, and hides nowhere but between them.
        if scalar == "\u{200d}" { return before.map(isPicture) == true }
        if isMark(scalar) { return marks <= mostMarks && before.map { $0 != " " } == true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    /// With the selector and the colours that belong to them (Unicode, UTS #51).
    private static func isPicture(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.isASCII && (scalar.properties.isEmoji || scalar == "\u{fe0f}")
    }

    static func hex(_ value: UInt32, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
