internal import KeychainPlatform

/// One line to a program that speaks Assuan.
///
/// Percent signs and line ends are escaped; the line is cut, at a character, where
/// it would be longer than the protocol allows.
enum AssuanCommand {
    static func line(_ verb: String, _ text: String = "") -> [UInt8] {
        var line = Array(verb.utf8)
        if !text.isEmpty { line.append(UInt8(ascii: " ")) }
        for scalar in text.unicodeScalars {
            let bytes = escaped(scalar)
            guard line.count + bytes.count <= AssuanReader.longestLine else { break }
            line += bytes
        }
        return line + [UInt8(ascii: "\n")]
    }

    /// How long a text is on the wire.
    static func byteCount(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + escaped($1).count }
    }

    /// - Precondition: no zero byte: texts of others were cleaned (``ForeignText``).
    private static func escaped(_ scalar: Unicode.Scalar) -> [UInt8] {
        switch scalar {
        case "%": Array("%25".utf8)
        case "\n": Array("%0A".utf8)
        case "\r": Array("%0D".utf8)
        default: Array(String(scalar).utf8)
        }
    }
}
