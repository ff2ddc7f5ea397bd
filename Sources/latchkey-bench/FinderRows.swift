import LatchkeyCommand

/// What one key stroke costs in the finder of `latchkey`: finding what matches and
/// making the screen, without the terminal's own time.
struct FinderRows {
    private static let names = 10_000
    private static let rounds = 200

    /// Letters that match everything, then less; each is erased again, which begins anew.
    private static let keys: [FinderKey] =
        ["a", "c", "c", "o", "u", "n", "t", " ", "9"].map { .text($0) }
        + [.down, .pageDown, .up, .erase, .erase, .text("7"), .eraseAll, .text("z"), .erase]

    func rows() -> [BenchRow] {
        var finder = Finder((0..<Self.names).map { "service\($0 / 10)  account \($0)" })
        _ = finder.handle(.resized(columns: 120, rows: 50))
        var slowest: [Double] = []
        for _ in 0..<Self.rounds {
            slowest.append(Self.keys.map { key in Self.microseconds { press(key, &finder) } }.max() ?? 0)
            press(.eraseAll, &finder)
        }
        let row = BenchRow(
            "finder, the slowest key of a search", items: Self.names, measured: Measurement(samples: slowest).median,
            unit: "µs", .figure)
        return [row]
    }

    private func press(_ key: FinderKey, _ finder: inout Finder) {
        _ = finder.handle(.key(key))
        precondition(!finder.screen.isEmpty)
    }

    private static func microseconds(_ body: () -> Void) -> Double {
        let clock = ContinuousClock()
        let duration = clock.measure(body)
        return Double(duration.components.attoseconds) / 1e12 + Double(duration.components.seconds) * 1e6
    }
}
