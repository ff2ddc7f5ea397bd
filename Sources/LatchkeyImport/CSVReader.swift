internal import KeychainPlatform

/// Records of a text in CSV (RFC 4180), one after another.
///
/// Beyond the RFC: lines may end in LF alone, in a text without any in CR alone, and empty
/// lines count for nothing.
/// A record that breaks the rules is named by the number of its first line, and
/// reading goes on at the line after that one.
package struct CSVReader {
    package enum Record: Sendable {
        case fields([TextSlice], line: Int)
        case malformed(line: Int, Flaw)
    }

    package enum Flaw: String, Sendable {
        case openQuote = "a quote is not closed"
        case textAfterQuote = "text follows a closing quote"
        case quoteInside = "a quote stands inside a field that is not quoted"
        case notText = "bytes that are no text"
    }

    private let source: SourceText
    private var position = 0
    private var line = 1
    /// From here on no quote closes one that was opened before.
    private var noCloserFrom = Int.max

    /// What the last byte of each line is.
    private let lastOfLine: UInt8

    package init(_ source: SourceText) {
        self.source = source
        let feed = source.content.bytes.firstIndex(in: 0..<source.count) { $0 == UInt8(ascii: "\n") }
        lastOfLine = feed == nil ? UInt8(ascii: "\r") : UInt8(ascii: "\n")
    }

    package mutating func next() -> Record? {
        skipEmptyLines()
        guard position < source.count else { return nil }
        let (start, firstLine) = (position, line)
        var fields: [TextSlice] = []
        while true {
            switch field() {
            case .failure(let flaw): return malformed(start, firstLine, flaw)
            case .success(let slice): fields.append(slice)
            }
            guard position < source.count, byte == UInt8(ascii: ",") else { break }
            position += 1
        }
        let end = position
        endLine()
        guard source.content.bytes.isUTF8(start..<end) else { return .malformed(line: firstLine, .notText) }
        return .fields(fields, line: firstLine)
    }

    private var byte: UInt8 { source.content.bytes[position] }

    private mutating func skipEmptyLines() {
        while position < source.count, isLineEnd { endLine() }
    }

    /// At LF, CR LF (or CR, where that ends lines) or the end.
    private var isLineEnd: Bool {
        guard position < source.count else { return true }
        if byte == lastOfLine { return true }
        return byte == UInt8(ascii: "\r")
            && (position + 1 == source.count || source.content.bytes[position + 1] == UInt8(ascii: "\n"))
    }

    private mutating func endLine() {
        guard position < source.count else { return }
        if byte != lastOfLine { position += 1 }
        if position < source.count { position += 1 }
        line += 1
    }

    private mutating func malformed(_ start: Int, _ firstLine: Int, _ flaw: Flaw) -> Record {
        (position, line) = (start, firstLine)
        position = find { $0 == lastOfLine }
        endLine()
        return .malformed(line: firstLine, flaw)
    }

    // MARK: Fields

    private mutating func field() -> Result<TextSlice, Flaw> {
        if position < source.count, byte == UInt8(ascii: "\"") { return quotedField() }
        let start = position
        while true {
            position = find { $0 == 0x2c || $0 == 0x22 || $0 == 0x0a || $0 == 0x0d }
            if isLineEnd || byte == UInt8(ascii: ",") { break }
            if byte == UInt8(ascii: "\"") { return .failure(.quoteInside) }
            // A return that ends no line.
            position += 1
        }
        return .success(TextSlice(source.content, start..<position))
    }

    private mutating func quotedField() -> Result<TextSlice, Flaw> {
        position += 1
        let start = position
        guard findCloser() else { return .failure(.openQuote) }
        let end = position
        position += 1
        guard isLineEnd || byte == UInt8(ascii: ",") else { return .failure(.textAfterQuote) }
        return .success(TextSlice(source.content, start..<end, .quoted))
    }

    /// Goes to the quote that closes the field: the last of the next run of an odd
    /// number of quotes.
    private mutating func findCloser() -> Bool {
        let start = position
        while true {
            let quote = find { $0 == UInt8(ascii: "\"") }
            // One search to the end in vain is enough, however many lines open a quote.
            guard quote < source.count, quote == position || position < noCloserFrom else { break }
            line += source.content.bytes.count(of: lastOfLine, in: position..<quote)
            position = quote
            position = find { $0 != UInt8(ascii: "\"") }
            if !(position - quote).isMultiple(of: 2) {
                position -= 1
                return true
            }
        }
        noCloserFrom = min(noCloserFrom, start)
        return false
    }

    /// From here on, the first place of such a byte, or the end.
    private func find(_ isLookedFor: (UInt8) -> Bool) -> Int {
        source.content.bytes.firstIndex(in: position..<source.count, where: isLookedFor) ?? source.count
    }
}

extension CSVReader.Flaw: Error {}
