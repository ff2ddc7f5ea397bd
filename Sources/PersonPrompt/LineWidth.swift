/// How wide a line may be where it is shown.
package enum LineWidth: Hashable, Sendable {
    /// Cells of a terminal.
    case columns(Int)
    /// A window, which has a font of its own and itself breaks what is too wide: the
    /// rest of a line would stand where our column does.
    ///
    /// pinentry-gtk-2 breaks at the width of 65 letters in words (GTK 2's
    /// get_label_wrap_width), measured as 33 em; 24 leave room for others.
    case window

    /// What is left behind a column of ours, in the unit of ``width(of:)``.
    func room(behind columns: Int) -> Int {
        switch self {
        // Four characters are the frame that pinentry-curses draws.
        case .columns(let count): max(16, min(count, 80) - 4 - columns)
        case .window: 240 - columns * 6
        }
    }

    /// At the most: neither terminals nor fonts agree on much.
    func width(of scalar: Unicode.Scalar) -> Int {
        if scalar.properties.generalCategory == .nonspacingMark { return 0 }
        switch self {
        case .columns: return scalar.isASCII ? 1 : 2
        case .window: return scalar.isASCII ? Self.tenthsOfEm(ascii: scalar) : Self.tenthsOfEm(scalar)
        }
    }

    /// DejaVu Sans, a wide one among the usual fonts, rounded up.
    private static func tenthsOfEm(ascii scalar: Unicode.Scalar) -> Int {
        switch scalar {
        case " ", "!", "'", "(", ")", ",", "-", ".", "/", ":", ";", "I", "J", "[", "]", "f", "i", "j", "l", "r", "t",
            "|":
            5
        case "m", "w": 10
        case "a"..."z", "0"..."9", "_": 7
        default: 10
        }
    }

    /// By blocks (Unicode, Blocks.txt); what few people read may be very wide.
    private static func tenthsOfEm(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case ..<0x530: scalar.properties.isLowercase ? 10 : 14  // Latin, Greek, Cyrillic
        case ..<0x2000: 16
        case 0x2010...0x2027, 0x2039...0x203a: 10  // dashes, quotation marks, the mark of a cut
        case ..<0x2e80: 20  // symbols
        case ..<0xa000, 0xac00...0xd7a3, 0xf900...0xfaff, 0xff00...0xffef, 0x20000...0x3ffff: 11  // East Asia
        case 0xfffd: 12
        case 0x1f000...0x1faff: 15  // pictures
        default: 30
        }
    }
}
