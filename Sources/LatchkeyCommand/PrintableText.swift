/// Names as a terminal may show them: what would move its cursor, colour it or
/// turn its writing direction stands escaped.
package enum PrintableText {
    package static func escaped(_ text: String) -> String {
        var out = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isHarmless(scalar) {
                out.append(scalar)
            } else {
                out += "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars
            }
        }
        return String(out)
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        // The joiner of emoji draws nothing itself.
        if scalar == "\u{200d}" { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    static func hex(_ value: UInt32, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
