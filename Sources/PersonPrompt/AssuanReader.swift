package import KeychainPlatform

/// How a program that speaks Assuan closed a command.
package enum AssuanAnswer: Hashable, Sendable {
    case ok
    case refused(AssuanCode)
}

/// Why what a program says is not Assuan, or is too much of it.
package enum AssuanFault: Error, Hashable, Sendable {
    /// More than 1000 bytes without a line end.
    case lineTooLong
    /// Neither OK, ERR, D, S nor a comment.
    case unknownLine
    /// A percent sign without two hexadecimal digits.
    case badEscape
    /// An ERR without a decimal number.
    case badCode
    /// More lines to one command than any answer has.
    case tooManyLines
    /// It closed its side in the middle, or has ended.
    case ended
    /// It does not take what we say, or cannot be heard.
    case deaf
}

/// What a program says in Assuan, byte by byte, into memory that is wiped.
///
/// The protocol: libgpg-assuan's manual, "Client requests" and "Server responses".
/// The data of all D lines of one answer is the passcode that was typed.
package struct AssuanReader: ~Copyable {
    /// libgpg-assuan, ASSUAN_LINELENGTH, without the line end.
    package static let longestLine = 1000
    /// pinentry's manual: "strings that are up to 2048 characters long are supported".
    package static let longestData = 2048
    /// An honest answer has a handful: some status lines, two or three D lines.
    package static let mostLines = 256

    private var line = SecretBytes(count: longestLine)
    private var lineCount = 0
    private var data = SecretBytes(count: longestData)
    private var dataCount = 0
    private var lines = 0

    /// Whether the data was longer than is kept; what is kept is of no use then.
    package private(set) var isTooMuchData = false

    package init() {}

    /// Takes the next byte; an answer once a line closes the command.
    package mutating func take(_ byte: UInt8) throws(AssuanFault) -> AssuanAnswer? {
        guard byte == UInt8(ascii: "\n") else {
            guard lineCount < Self.longestLine else { throw .lineTooLong }
            let at = lineCount
            unsafe line.withUnsafeMutableBytes { unsafe $0[at] = byte }
            lineCount += 1
            return nil
        }
        if lineCount > 0, line[lineCount - 1] == UInt8(ascii: "\r") { lineCount -= 1 }
        defer { lineCount = 0 }
        lines += 1
        guard lines <= Self.mostLines else { throw .tooManyLines }
        return try takeLine()
    }

    /// The data since the last call, and a new start for the next command.
    package mutating func takeData() -> SecretBytes {
        let taken = data.copy(0..<dataCount)
        data = SecretBytes(count: Self.longestData)
        line = SecretBytes(count: Self.longestLine)
        (dataCount, lines, isTooMuchData) = (0, 0, false)
        return taken
    }

    private mutating func takeLine() throws(AssuanFault) -> AssuanAnswer? {
        if begins(with: "OK") { return .ok }
        if begins(with: "ERR") { return .refused(try code()) }
        if begins(with: "D") {
            try keepData()
            return nil
        }
        // A status is for whoever likes to know; comments are for nobody.
        if begins(with: "S") || lineCount == 0 || line[0] == UInt8(ascii: "#") { return nil }
        throw .unknownLine
    }

    private func begins(with word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard lineCount >= count else { return false }
        for index in 0..<count {
            guard unsafe word.utf8Start[index] == line[index] else { return false }
        }
        return lineCount == count || line[count] == UInt8(ascii: " ")
    }

    private func code() throws(AssuanFault) -> AssuanCode {
        var value: UInt32 = 0
        var index = 4
        while index < lineCount, let digit = Self.decimal(line[index]) {
            let (times, isLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = times.addingReportingOverflow(digit)
            guard !isLarge, !isLarger else { throw .badCode }
            value = sum
            index += 1
        }
        guard index > 4, index >= lineCount || line[index] == UInt8(ascii: " ") else { throw .badCode }
        return AssuanCode(rawValue: value)
    }

    private static func decimal(_ byte: UInt8) -> UInt32? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? UInt32(byte - UInt8(ascii: "0")) : nil
    }

    private mutating func keepData() throws(AssuanFault) {
        var index = 2
        while index < lineCount {
            var byte = line[index]
            index += 1
            if byte == UInt8(ascii: "%") {
                guard index + 2 <= lineCount, let high = Self.hexadecimal(line[index]),
                    let low = Self.hexadecimal(line[index + 1])
                else { throw .badEscape }
                byte = high << 4 | low
                index += 2
            }
            keep(byte)
        }
    }

    private mutating func keep(_ byte: UInt8) {
        guard dataCount < Self.longestData else {
            isTooMuchData = true
            return
        }
        let at = dataCount
        unsafe data.withUnsafeMutableBytes { unsafe $0[at] = byte }
        dataCount += 1
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
