import Foundation

/// What Benchmarks/thresholds.json says of one row.
struct Threshold: Decodable {
    /// Of the contract. A row that misses it is marked, and does not fail the run.
    var budget: Double?
    /// By number of items, where the contract names several.
    var budgets: [String: Double]?
    /// The budget counts on machines with as many processors at least.
    var processors: Int?
    /// By pinning, or "any". A row beyond it fails the run.
    var limits: [String: Double]?

    func budget(_ items: Int?) -> Double? {
        guard Pinning.processorCount >= processors ?? 0 else { return nil }
        return items.flatMap { budgets?["\($0)"] } ?? budget
    }

    func limit(_ pinning: Pinning?) -> Double? {
        pinning.flatMap { limits?[$0.rawValue] } ?? limits?["any"]
    }

    static func all() throws -> [String: Threshold] {
        try JSONDecoder().decode(
            [String: Threshold].self, from: Data(contentsOf: URL(fileURLWithPath: BenchFolder.thresholds)))
    }
}
