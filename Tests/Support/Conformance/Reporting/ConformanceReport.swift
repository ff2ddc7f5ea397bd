/// What came of a run: for people, and to fail a build by.
package struct ConformanceReport: Sendable, CustomStringConvertible {
    /// What came of one case in one mode.
    package enum Outcome: Sendable {
        case passed
        case failed(String)
        case pending(Pending)
        case disputed(reason: String, difference: String)
    }

    private struct Count {
        var passed = 0
        var failed = 0
        var pending = 0
        var disputed = 0
    }

    private var counts: [String: [Mode: Count]] = [:]
    private var waiting: [Pending: Int] = [:]
    private var notes: [String] = []
    package private(set) var failures: [String]
    private let modes: [Mode]
    package private(set) var caseCount = 0

    package init(modes: [Mode], unreadable: [String]) {
        self.modes = modes
        failures = unreadable
    }

    package var isSuccess: Bool { failures.isEmpty && caseCount > 0 }

    package mutating func add(_ conformanceCase: ConformanceCase, _ outcomes: [Mode: Outcome]) {
        caseCount += 1
        for mode in modes { if let outcome = outcomes[mode] { add(conformanceCase, mode, outcome) } }
        if case .pending(let reason)? = outcomes.values.first { waiting[reason, default: 0] += 1 }
    }

    private mutating func add(_ conformanceCase: ConformanceCase, _ mode: Mode, _ outcome: Outcome) {
        var count = counts[conformanceCase.topic]?[mode] ?? Count()
        let name = "\(conformanceCase.id) (\(mode.rawValue))"
        switch outcome {
        case .passed where Disputed.reason(for: conformanceCase) != nil:
            count.failed += 1
            failures.append("\(name): passes; take it off the table of disputed cases")
        case .passed: count.passed += 1
        case .pending: count.pending += 1
        case .failed(let difference):
            count.failed += 1
            failures.append("\(name): \(difference)")
        case .disputed(let reason, let difference):
            count.disputed += 1
            notes.append("\(name): disputed (\(reason)): \(difference)")
        }
        counts[conformanceCase.topic, default: [:]][mode] = count
    }

    // MARK: Text

    package var description: String {
        (failures + notes + table + pendingLines + [totals]).joined(separator: "\n")
    }

    private var table: [String] {
        counts.keys.sorted().map { topic in line(Self.padded(topic, to: 22)) { counts[topic]?[$0] ?? Count() } }
    }

    private var totals: String {
        let line = line(Self.padded("total", to: 22)) { mode in
            counts.values.reduce(into: Count()) { sum, byMode in
                guard let one = byMode[mode] else { return }
                sum.passed += one.passed
                sum.failed += one.failed
                sum.pending += one.pending
                sum.disputed += one.disputed
            }
        }
        return line + "   \(caseCount) cases"
    }

    private func line(_ head: String, _ count: (Mode) -> Count) -> String {
        head
            + modes.map { mode in
                let one = count(mode)
                let disputed = one.disputed == 0 ? "" : ", \(one.disputed) disputed"
                return Self.padded(
                    "\(mode.rawValue): \(one.passed) passed, \(one.failed) failed, \(one.pending) pending\(disputed)",
                    to: 52)
            }.joined()
    }

    private var pendingLines: [String] {
        Pending.allCases.compactMap { reason in waiting[reason].map { "pending, \(reason.rawValue): \($0)" } }
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
