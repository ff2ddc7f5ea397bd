import Foundation
import FuzzTargets
import Testing

/// A short deterministic run of every target: what is checked in, then seeded
/// mutations of it. `make fuzz` looks further, guided by coverage.
@Suite struct FuzzTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    /// The inputs of a folder of the target, by name; none where there is no such folder.
    private static func inputs(_ kind: String, of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let path = folder.appendingPathComponent("\(kind)/\(target.name)")
        guard FileManager.default.fileExists(atPath: path.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path.path).sorted().map { name in
            (name, try Array(Data(contentsOf: path.appendingPathComponent(name))))
        }
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func whatWasFoundOnceStaysMended(_ name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        for input in try Self.inputs("Regressions", of: target) {
            _ = Self.holds(target, input.bytes, "regression \(input.name)")
        }
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func everyPropertyHoldsForSeededMutations(_ name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let known = try Self.inputs("Corpus", of: target).map(\.bytes) + target.seeds()
        for bytes in known where !Self.holds(target, bytes, "an input of the corpus") { return }
        var mutation = Mutation(seed: 0x4C41_5443_484B_4559, pool: known, largest: target.largestInput)
        for round in 0..<(3_000 / target.weight) {
            guard Self.holds(target, mutation.next(), "round \(round)") else { return }
        }
    }

    /// Records the first input that shows a fault.
    private static func holds(_ target: FuzzTarget, _ bytes: [UInt8], _ what: String) -> Bool {
        do throws(Finding) {
            try target.run(bytes)
            return true
        } catch {
            Issue.record("\(target.name), \(what): \(error); input \(Data(bytes).base64EncodedString())")
            return false
        }
    }
}
