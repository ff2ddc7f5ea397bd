/// A moment in UTC, as people and file names have it.
package struct Timestamp: Sendable, Hashable {
    package let secondsSince2001: Double

    package init(secondsSince2001: Double) { self.secondsSince2001 = secondsSince2001 }

    /// As part of a file's name: 20260131T235959Z. A clock that was set before 2001
    /// or beyond the year 8338 names its limit.
    package var compactText: String {
        let seconds = secondsSince2001.isFinite ? max(0, min(secondsSince2001, 2e11)) : 0
        let text = Timestamp(secondsSince2001: seconds).text ?? ""
        return text.filter { $0 != "-" && $0 != ":" }
    }

    /// RFC 3339; nil outside the years 0 to 9999.
    package var text: String? {
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

    /// RFC 3339 in UTC and whole seconds, the form of ``text``; nil for any other.
    package init?(text: String) {
        let parts = text.split(omittingEmptySubsequences: false) { "-T:Z".contains($0) }
        guard parts.count == 7, parts[6].isEmpty, parts.allSatisfy({ $0.utf8.allSatisfy { $0 &- 48 < 10 } }) else {
            return nil
        }
        let numbers = parts.dropLast().compactMap { Int($0) }
        guard numbers.count == 6, (1...12).contains(numbers[1]) else { return nil }
        let days = Self.daysSince1970(year: numbers[0], month: numbers[1], day: numbers[2]) - 11_323
        let seconds = days * 86400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        self.init(secondsSince2001: Double(seconds))
        // A day, an hour or a minute that does not exist comes back as another.
        guard self.text == text else { return nil }
    }

    /// Hinnant's days_from_civil, the inverse of ``date(daysSince1970:)``.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func floorDivide(_ a: Int, _ b: Int) -> Int { a >= 0 ? a / b : -((-a + b - 1) / b) }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
