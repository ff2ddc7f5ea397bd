/// One row of the report.
struct BenchRow {
    /// How the row is judged, against budget and limit.
    enum Judgement: String {
        /// Measured over floor, at the most.
        case ratio
        /// Measured over another figure of ours, at the least.
        case gain
        /// What is above the floor, at the most.
        case excess
        /// The figure itself, at the most.
        case figure
    }

    let name: String
    var items: Int?
    var pinning: Pinning?
    var unit = "µs"
    /// nil: not measured; `remark` says why.
    var measured: Double?
    var p99: Double?
    var floor: Double?
    /// What the floor is made of.
    var floorIs = ""
    var judgement = Judgement.ratio
    var remark = ""
    var threshold: Threshold?

    /// The number that budget and limit speak of.
    var judged: Double? {
        guard let measured else { return nil }
        switch judgement {
        case .ratio, .gain: return floor.map { measured / $0 }
        case .excess: return floor.map { measured - $0 }
        case .figure: return measured
        }
    }

    func meets(_ bound: Double?) -> Bool? {
        guard let judged, let bound else { return nil }
        return judgement == .gain ? judged >= bound : judged <= bound
    }

    /// What the contract allows (issue 3).
    var meetsBudget: Bool? { meets(budget) }
    /// What was reached once and must not be lost.
    var isWithinLimit: Bool { meets(limit) ?? true }
    var budget: Double? { threshold?.budget(items) }
    var limit: Double? { threshold?.limit(pinning) }

    init(
        _ name: String, items: Int? = nil, _ pinning: Pinning? = nil, _ measurement: Measurement, floor: Double,
        is floorIs: String
    ) {
        self.name = name
        self.items = items
        self.pinning = pinning
        measured = measurement.median
        p99 = measurement.percentile(0.99)
        self.floor = floor
        self.floorIs = floorIs
    }

    init(
        _ name: String, items: Int? = nil, _ pinning: Pinning? = nil, measured: Double?, unit: String,
        _ judgement: Judgement
    ) {
        self.name = name
        self.items = items
        self.pinning = pinning
        self.measured = measured
        self.unit = unit
        self.judgement = judgement
    }
}
