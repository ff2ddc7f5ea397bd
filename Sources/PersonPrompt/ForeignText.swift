/// Words that somebody else chose, made fit to stand among ours.
///
/// What could end our line or our quotation, reach the terminal, turn the writing
/// direction, be invisible or be taken for markup is replaced; runs of white space
/// become one space. What is left has a bounded length, in characters and in bytes
/// on the wire, and one of our marks at its end where something was cut off.
package struct ForeignText: Hashable, Sendable {
    /// What the place where it is shown can show.
    package enum Repertoire: Sendable {
        case unicode
        case ascii

        var unknown: Unicode.Scalar { self == .unicode ? "\u{fffd}" : "?" }
        var cut: String { self == .unicode ? "…" : "..." }
        var opening: String { self == .unicode ? "“" : "\"" }
        var closing: String { self == .unicode ? "”" : "\"" }
    }

    package let text: String

    package init(_ words: String, characters: Int, bytes: Int, _ repertoire: Repertoire) {
        var cleaning = Cleaning(repertoire: repertoire, characters: characters, bytes: bytes)
        for scalar in words.unicodeScalars where !cleaning.isFull { cleaning.take(scalar) }
        text = cleaning.finish()
    }
}

private struct Cleaning {
    let repertoire: ForeignText.Repertoire
    let characters: Int
    let bytes: Int
    private var out = String.UnicodeScalarView()
    private var count = 0
    private var byteCount = 0
    private var marks = 0
    private var spaceIsDue = false
    private(set) var isFull = false

    init(repertoire: ForeignText.Repertoire, characters: Int, bytes: Int) {
        self.repertoire = repertoire
        self.characters = characters
        self.bytes = bytes
    }

    mutating func take(_ scalar: Unicode.Scalar) {
        switch Kind(scalar) {
        case .space: spaceIsDue = !out.isEmpty
        case .quotation: put("'")
        case .markup(let opens): put(repertoire == .ascii ? (opens ? "(" : ")") : (opens ? "‹" : "›"))
        case .unfit:
            // One for a run of them.
            if out.last != repertoire.unknown || spaceIsDue { put(repertoire.unknown) }
        case .mark: putMark(scalar)
        case .plain: put(repertoire == .ascii && !scalar.isASCII ? repertoire.unknown : scalar)
        }
    }

    consuming func finish() -> String { String(out) + (isFull ? repertoire.cut : "") }

    /// Marks are drawn over what stands before them: two at the most, and over
    /// nothing of ours.
    private mutating func putMark(_ scalar: Unicode.Scalar) {
        guard repertoire == .unicode, !out.isEmpty, !spaceIsDue, marks < 2 else { return }
        put(scalar)
        marks += isFull ? 0 : 1
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        // A percent sign takes three bytes in a line of Assuan.
        let needed = (spaceIsDue ? 1 : 0, scalar == "%" ? 3 : UTF8.width(scalar))
        guard count + needed.0 < characters, byteCount + needed.0 + needed.1 <= bytes else {
            isFull = true
            return
        }
        if spaceIsDue { out.append(" ") }
        out.append(scalar)
        count += needed.0 + 1
        byteCount += needed.0 + needed.1
        spaceIsDue = false
        if !Kind.isMark(scalar) { marks = 0 }
    }
}

/// What a character could do.
private enum Kind {
    case plain
    case space
    /// Looks like the end of what we quote.
    case quotation
    /// Some prompts take their text for HTML where it has a tag (Qt::mightBeRichText).
    case markup(opens: Bool)
    /// Cannot be seen, or moves what can.
    case unfit
    case mark

    init(_ scalar: Unicode.Scalar) {
        if scalar.properties.isWhitespace || Self.blanks.contains(scalar) {
            self = .space
        } else if Self.quotations.contains(scalar) {
            self = .quotation
        } else if scalar == "<" || scalar == ">" {
            self = .markup(opens: scalar == "<")
        } else if Self.isUnfit(scalar) {
            self = .unfit
        } else {
            self = Self.isMark(scalar) ? .mark : .plain
        }
    }

    static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark: true
        default: false
        }
    }

    private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.isDefaultIgnorableCodePoint || isOverWide(scalar) { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .enclosingMark, .lineSeparator,
            .paragraphSeparator:
            true
        default: false
        }
    }

    /// Dashes of two and three em, whole phrases in one sign, cuneiform: one alone may
    /// be wider than a window's line.
    private static func isOverWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2e3a...0x2e3b, 0xfdfa...0xfdfd, 0x12000...0x1254f: true
        default: false
        }
    }

    /// Letters and symbols that are drawn as nothing.
    private static let blanks: Set<Unicode.Scalar> = ["\u{115f}", "\u{1160}", "\u{2800}", "\u{3164}", "\u{ffa0}"]
    private static let quotations: Set<Unicode.Scalar> = [
        "\"", "“", "”", "„", "‟", "«", "»", "″", "‶", "‴", "ˮ", "ʺ", "〝", "〞", "〟", "＂", "❝", "❞", "🙶", "🙷", "🙸",
    ]
}
