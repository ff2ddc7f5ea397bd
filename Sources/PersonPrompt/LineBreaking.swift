/// Breaks text at spaces, and where there are none in the middle of a word.
enum LineBreaking {
    /// - Parameter room: in the unit of `measure`.
    static func lines(of text: String, within room: Int, _ measure: LineWidth) -> [String] {
        var lines: [String] = []
        var line = String.UnicodeScalarView()
        func width(_ text: some Sequence<Unicode.Scalar>) -> Int { text.reduce(0) { $0 + measure.width(of: $1) } }
        for word in text.unicodeScalars.split(separator: " ") {
            let joint = line.isEmpty ? 0 : 1
            if width(line) + joint * measure.width(of: " ") + width(word) > room, !line.isEmpty {
                lines.append(String(line))
                line = String.UnicodeScalarView()
            } else if joint == 1 {
                line.append(" ")
            }
            for scalar in word {
                if width(line) + measure.width(of: scalar) > room {
                    lines.append(String(line))
                    line = String.UnicodeScalarView()
                }
                line.append(scalar)
            }
        }
        return line.isEmpty ? lines : lines + [String(line)]
    }
}
