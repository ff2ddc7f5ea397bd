internal import KeychainPlatform

/// What stands between the fields of a line, where it is not the comma of RFC 4180.
enum CSVDelimiter {
    private static let others: [(mark: Character, name: String)] = [(";", "semicolons"), ("\t", "tabs")]
    /// No heading is longer.
    private static let longestHeading = 4096

    /// Whether a line only names the delimiter, as Excel has it, and the heading follows.
    static func isLine(_ fields: [String]) -> Bool { fields == ["sep=", ""] || fields == ["sep=,"] }

    /// - Throws: where the first line is a heading with another delimiter.
    static func check(_ source: SourceText) throws(ImportFailure) {
        for range in source.firstLines(2, within: longestHeading) {
            let line = SecretText(TextSlice(source.content, range)).text
            try check(line)
            // What follows is an entry with its password, but behind a line that names the delimiter.
            guard line.hasPrefix("sep=") else { return }
        }
    }

    private static func check(_ line: String) throws(ImportFailure) {
        for (mark, name) in others where line.contains(mark) {
            guard CSVLayout.isHeading(columns(line, mark)) else { continue }
            throw ImportFailure(
                .wrongSource, "its fields are separated by \(name), not by commas",
                "Give the file as the program exported it, or save it anew with commas between the fields.")
        }
    }

    private static func columns(_ line: String, _ mark: Character) -> [String] {
        line.split(separator: mark, omittingEmptySubsequences: false).map { field in
            String(field.filter { $0 != "\"" }).trimmed.lowercased()
        }
    }
}

extension SourceText {
    /// Where the first lines are, without their ends.
    fileprivate func firstLines(_ most: Int, within limit: Int) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var start = 0
        while start < min(count, limit), found.count < most {
            let end =
                content.bytes.firstIndex(in: start..<min(count, limit)) { $0 == UInt8(ascii: "\n") }
                ?? min(count, limit)
            found.append(start..<end)
            start = end + 1
        }
        return found
    }
}
