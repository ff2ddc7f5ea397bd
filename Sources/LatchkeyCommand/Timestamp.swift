/// A moment, written as RFC 3339 in UTC.
package struct Timestamp: Sendable, Hashable {
    let secondsSince2001: Double

    /// nil outside the years 0 to 9999.
    var text: String? {
        guard secondsSince2001.isFinite, abs(secondsSince2001) < 4e11 else { return nil }
        let seconds = Int(secondsSince2001.rounded(.down))
        let day = Self.floorDivide(seconds, 86400)
        let (year, month, dayOfMonth) = Self.date(daysSince1970: day + 11_323)
        guard (0...9999).contains(year) else { return nil }
        let clock = seconds - day * 86400
        let time = [clock / 3600, clock / 60 % 60, clock % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(dayOfMonth, 2))T\(time)Z"
    }

    /// The Gregorian date (H. Hinnant, "chrono-Compatible Low-Level Date
    /// Algorithms", civil_from_days): years begin in March, eras have 400 years.
    private static func date(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func floorDivide(_ a: Int, _ b: Int) -> Int { a >= 0 ? a / b : -((-a + b - 1) / b) }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
