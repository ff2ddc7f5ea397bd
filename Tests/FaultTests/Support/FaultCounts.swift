import Foundation
import Synchronization

/// The figures of one fault.
struct FaultCounts: Hashable, Sendable {
    var bursts = 0
    var acknowledged = 0
    var refused = 0
    var inFlight = 0
    /// Of those in flight: what was made, and what was not.
    var inFlightPresent = 0
    var inFlightAbsent = 0
    var readBack = 0
    /// Acknowledged and not there as acknowledged.
    var lost = 0
    /// Neither old nor new, twice there, or there without having been written.
    var halfThere = 0
    /// A status or reason that says something else than what is.
    var wrongAnswers = 0

    var calls: Int { acknowledged + refused + inFlight }
    var isClean: Bool { lost == 0 && halfThere == 0 && wrongAnswers == 0 }

    static func + (a: FaultCounts, b: FaultCounts) -> FaultCounts {
        var sum = a
        for path in [
            \FaultCounts.bursts, \.acknowledged, \.refused, \.inFlight, \.inFlightPresent, \.inFlightAbsent, \.readBack,
            \.lost, \.halfThere, \.wrongAnswers,
        ] as [WritableKeyPath<FaultCounts, Int>] { sum[keyPath: path] += b[keyPath: path] }
        return sum
    }

    var line: String {
        "faults \(bursts), acknowledged \(acknowledged), lost \(lost), half there \(halfThere), "
            + "in flight \(inFlight): present \(inFlightPresent) / absent \(inFlightAbsent), refused \(refused), "
            + "read back \(readBack), wrong answers \(wrongAnswers)"
    }
}

/// One line for each fault as it is done, and the sum when the process ends.
enum FaultReport {
    private static let total = Mutex(FaultCounts())

    static func print(_ fault: String, _ counts: FaultCounts, _ remark: String = "") {
        registerTotal
        total.withLock { $0 = $0 + counts }
        say("FAULT \(fault): \(counts.line)\(remark.isEmpty ? "" : " (\(remark))")")
    }

    static func skip(_ fault: String, because reason: String) { say("FAULT \(fault): not mounted: \(reason)") }

    private static let registerTotal: Void = {
        atexit { FaultReport.say("FAULT TOTAL: \(FaultReport.total.withLock { $0 }.line)") }
        return ()
    }()

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}

/// LATCHKEY_LONG_FAULTS=1: every round and every system call.
enum FaultScale {
    static let isLong = ProcessInfo.processInfo.environment["LATCHKEY_LONG_FAULTS"] == "1"

    static func rounds(_ short: Int, long: Int) -> Int { isLong ? long : short }
}
