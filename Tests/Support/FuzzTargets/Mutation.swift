/// Changes inputs at random, the same way in every run.
package struct Mutation {
    private var random: SeededGenerator
    private let pool: [[UInt8]]
    private let largest: Int

    /// - Parameter pool: inputs to start from; one that is empty counts as one empty input.
    package init(seed: UInt64, pool: [[UInt8]], largest: Int) {
        random = SeededGenerator(seed: seed)
        self.pool = pool.isEmpty ? [[]] : pool
        self.largest = largest
    }

    /// One of the pool, changed in one to six places.
    package mutating func next() -> [UInt8] {
        var bytes = pool[Int.random(in: 0..<pool.count, using: &random)]
        for _ in 0..<Int.random(in: 1...6, using: &random) { change(&bytes) }
        return bytes.count > largest ? Array(bytes[..<largest]) : bytes
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let at = bytes.isEmpty ? 0 : Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0 where !bytes.isEmpty: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1 where !bytes.isEmpty: bytes[at] = .random(in: 0...255, using: &random)
        case 2 where !bytes.isEmpty: bytes[at] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
        case 3 where !bytes.isEmpty: bytes.removeSubrange(at..<end(after: at, in: bytes))
        case 4 where !bytes.isEmpty: bytes.insert(contentsOf: bytes[at..<end(after: at, in: bytes)], at: at)
        case 5: splice(&bytes, at)
        case 6: bytes.removeSubrange(at...)
        default: bytes.insert(.random(in: 0...255, using: &random), at: at)
        }
    }

    private mutating func end(after start: Int, in bytes: [UInt8]) -> Int {
        min(bytes.count, start + Int.random(in: 1...32, using: &random))
    }

    /// Goes on as another input does.
    private mutating func splice(_ bytes: inout [UInt8], _ at: Int) {
        let other = pool[Int.random(in: 0..<pool.count, using: &random)]
        guard !other.isEmpty else { return }
        bytes.replaceSubrange(at..., with: other[Int.random(in: 0..<other.count, using: &random)...])
    }
}
