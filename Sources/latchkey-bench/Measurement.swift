import KeychainPlatform

/// The times of one thing done many times.
struct Measurement {
    let name: String
    /// Microseconds, sorted.
    let samples: [Double]

    init(_ name: String, samples: [Double]) {
        self.name = name
        self.samples = samples.sorted()
    }

    func percentile(_ share: Double) -> Double {
        samples[min(samples.count - 1, Int(Double(samples.count) * share))]
    }

    var median: Double { percentile(0.5) }

    /// Runs `body` `count` times after a warm-up and takes each time.
    static func take(_ name: String, count: Int, _ body: (Int) throws -> Void) rethrows -> Measurement {
        let clock = SystemClock()
        for index in 0..<min(count / 10 + 1, 200) { try body(index) }
        var samples: [Double] = []
        samples.reserveCapacity(count)
        for index in 0..<count {
            let start = clock.monotonic
            try body(index)
            samples.append((clock.monotonic - start).seconds * 1e6)
        }
        return Measurement(name, samples: samples)
    }
}

/// One row of the report: a measurement beside the floor of the same run.
struct Comparison {
    let name: String
    let measured: Measurement
    let floor: Double
    let floorIs: String
    /// The largest ratio that does not fail the run (Benchmarks/thresholds.json).
    let threshold: Double?

    var ratio: Double { measured.median / floor }
    var isWithin: Bool { threshold.map { ratio <= $0 } ?? true }
}
