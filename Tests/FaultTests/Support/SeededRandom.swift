import Foundation
import KeychainPlatform

/// Random numbers that can be had again: a run that failed says its seed, and
/// LATCHKEY_FAULT_SEED repeats it.
///
/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// The seed of this run: the one that was asked for, else a new one.
    static let runSeed: UInt64 =
        ProcessEnvironment.variable("LATCHKEY_FAULT_SEED").flatMap { UInt64($0) }
        ?? UInt64.random(in: 0...0xFFFF_FFFF)
}
