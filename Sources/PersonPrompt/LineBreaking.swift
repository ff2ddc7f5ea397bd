/// Breaks text at spaces, and where there are none in the middle of a word.
enum LineBreaking {
    static func lines(of text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = String.UnicodeScalarView()
        for word in text.unicodeScalars.split(separator: " ") {
            let joint = line.isEmpty ? 0 : 1
            if columns(line) + joint + columns(word) > width, !line.isEmpty {
                lines.append(String(line))
                line = String.UnicodeScalarView()
            } else if joint == 1 {
                line.append(" ")
            }
            for scalar in word {
                if columns(line) + columns(of: scalar) > width {
                    lines.append(String(line))
                    line = String.UnicodeScalarView()
                }
                line.append(scalar)
            }
        }
        return line.isEmpty ? lines : lines + [String(line)]
    }

    private static func columns(_ text: some Sequence<Unicode.Scalar>) -> Int {
        text.reduce(0) { $0 + columns(of: $1) }
    }

    /// At the most: terminals do not agree on anything but ASCII.
    private static func columns(of scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return 1 }
        return scalar.properties.generalCategory == .nonspacingMark ? 0 : 2
    }
}
