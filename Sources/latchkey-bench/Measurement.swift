import KeychainPlatform

/// The times of one thing done many times.
struct Measurement: Sendable {
    /// Microseconds, sorted.
    let samples: [Double]

    init(samples: [Double]) { self.samples = samples.sorted() }

    func percentile(_ share: Double) -> Double {
        guard !samples.isEmpty else { return .nan }
        return samples[min(samples.count - 1, Int(Double(samples.count) * share))]
    }

    var median: Double { percentile(0.5) }
}

/// A thing to be measured.
struct Work {
    let name: String
    /// How often it is done, over all rounds.
    let count: Int
    /// How many times between two looks at the clock: more than once where the
    /// thing is as short as the look.
    let batch: Int
    let body: (Int) throws -> Void

    init(_ name: String, count: Int, batch: Int = 1, _ body: @escaping (Int) throws -> Void) {
        self.name = name
        self.count = count
        self.batch = batch
        self.body = body
    }
}

/// What was measured together, by name.
struct Measurements {
    private let all: [String: Measurement]

    /// Does all of the work in turns, a part of each in every round, so that what
    /// disturbs the machine disturbs the floors as much as what stands on them.
    init(of work: [Work], rounds: Int = 10) throws {
        var samples: [String: [Double]] = [:]
        for each in work {
            for index in 0..<min(each.count / 10 + 1, 100) { try each.body(index) }
        }
        var done = 100
        for _ in 0..<rounds {
            for each in work {
                let count = max(1, each.count / rounds)
                samples[each.name, default: []] += try Self.times(of: each, from: done, count)
            }
            done += 100_003
        }
        all = samples.mapValues { Measurement(samples: $0) }
    }

    private static func times(of work: Work, from first: Int, _ count: Int) throws -> [Double] {
        let clock = SystemClock()
        var samples: [Double] = []
        samples.reserveCapacity(count / work.batch + 1)
        var index = first
        while index < first + count {
            let start = clock.monotonic
            for each in index..<index + work.batch { try work.body(each) }
            samples.append((clock.monotonic - start).seconds * 1e6 / Double(work.batch))
            index += work.batch
        }
        return samples
    }

    subscript(name: String) -> Measurement {
        guard let found = all[name] else { preconditionFailure("nothing was measured as \(name)") }
        return found
    }
}

struct BenchFailure: Error, CustomStringConvertible {
    let description: String
    init(_ what: String) { description = "benchmark: \(what) failed" }
}
