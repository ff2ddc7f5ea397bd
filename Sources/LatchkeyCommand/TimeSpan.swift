/// A time as a person writes it: a whole number and s, m, h or d, as in 15m.
struct TimeSpan: Hashable, Sendable {
    let seconds: UInt64

    private static let units: [(letter: Character, name: String, seconds: UInt64)] = [
        ("d", "day", 86_400), ("h", "hour", 3600), ("m", "minute", 60), ("s", "second", 1),
    ]

    init(seconds: UInt64) { self.seconds = seconds }

    init?(_ text: String) {
        guard let unit = Self.units.first(where: { $0.letter == text.last }), let number = UInt32(text.dropLast())
        else { return nil }
        seconds = UInt64(number) * unit.seconds
    }

    /// In words, by the largest unit that tells it whole.
    var words: String {
        for unit in Self.units where seconds > 0 && seconds.isMultiple(of: unit.seconds) {
            let count = seconds / unit.seconds
            return "\(count) \(unit.name)\(count == 1 ? "" : "s")"
        }
        return "0 seconds"
    }
}
