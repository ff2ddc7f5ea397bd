/// Dates as sources write them, as seconds since 2001-01-01T00:00:00Z.
enum SourceDate {
    /// Between 1970 and 2001.
    private static let secondsTo2001 = 978_307_200.0

    static func milliseconds(_ text: SecretText) -> Double? {
        guard text.longestCount <= 20, let number = Double(text.text), number.isFinite else { return nil }
        return number / 1000 - secondsTo2001
    }

    static func seconds(_ text: SecretText) -> Double? {
        guard text.longestCount <= 20, let number = Double(text.text), number.isFinite else { return nil }
        return number - secondsTo2001
    }

    /// Seconds since 1970; 0 is no date, as gnome-keyring has it.
    static func seconds(_ number: UInt64?) -> Double? {
        guard let number, number > 0, number < 1 << 40 else { return nil }
        return Double(number) - secondsTo2001
    }

    /// RFC 3339 in UTC (`2024-02-29T12:00:00.000Z`), fractions dropped.
    static func iso(_ text: SecretText) -> Double? {
        guard text.longestCount <= 40 else { return nil }
        let written = text.text
        let digits = Array(written.utf8)
        guard digits.count >= 20, digits.last == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int? { Int(String(decoding: digits[range], as: UTF8.self)) }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        let clock = hour * 3600 + minute * 60 + second
        return Double(days(year, month, day) * 86400 + clock) - secondsTo2001
    }

    /// Days since 1970 (H. Hinnant, "chrono-Compatible Low-Level Date
    /// Algorithms", days_from_civil).
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
