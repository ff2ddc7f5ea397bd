internal import KeychainCrypto
package import KeychainPlatform

/// How much one attempt at a passcode costs on this machine.
///
/// At least 64 MiB and three passes (RFC 9106, section 4, second recommended
/// option, with one lane), and at least 80 ms (decisions.md): a faster machine
/// gets more memory, up to 256 MiB, then more passes.
package struct PasscodeCost: Sendable {
    /// Measures and derives; the production of one is ``calibrated``.
    private let choose: @Sendable () throws(SystemCallError) -> PassphraseCost

    static let floorKibibytes: UInt32 = 65_536
    static let ceilingKibibytes: UInt32 = 262_144
    static let floorPasses: UInt32 = 3
    static let least: Duration = .milliseconds(80)

    /// As this machine bears it, measured when a passcode is set.
    package static var calibrated: PasscodeCost { calibrated { AvailableMemory() } }

    /// The same for a process that opens no such files later.
    package static func calibrated(by memory: AvailableMemory) -> PasscodeCost { calibrated { memory } }

    private static func calibrated(_ memory: @escaping @Sendable () -> AvailableMemory) -> PasscodeCost {
        PasscodeCost { () throws(SystemCallError) in
            guard memory().allows(kibibytes: Int(floorKibibytes)) else { throw .noMemory }
            let clock = SystemClock()
            return try calibrate { cost throws(SystemCallError) in
                let began = clock.monotonic
                _ = try PassphraseKey.derive(
                    from: SecretBytes(count: 8), salt: [UInt8](repeating: 0, count: 16), cost: cost)
                return clock.monotonic - began
            }
        }
    }

    /// Always the same; for stores that do not outlive their process.
    ///
    /// nil beyond what a keybag may ask for.
    package static func fixed(passes: UInt32, kibibytes: UInt32) -> PasscodeCost? {
        guard let cost = PassphraseCost(passes: passes, kibibytes: kibibytes) else { return nil }
        return PasscodeCost { cost }
    }

    func chosen() throws(SystemCallError) -> PassphraseCost { try choose() }

    /// - Parameter measure: how long one attempt of that cost takes.
    static func calibrate(
        _ measure: (PassphraseCost) throws(SystemCallError) -> Duration
    ) throws(SystemCallError) -> PassphraseCost {
        var cost = try bounded(passes: floorPasses, kibibytes: floorKibibytes)
        while try measure(cost) < least {
            if cost.kibibytes < ceilingKibibytes {
                cost = try bounded(passes: cost.passes, kibibytes: min(cost.kibibytes * 2, ceilingKibibytes))
            } else if cost.passes < PassphraseCost.passesAllowed.upperBound {
                cost = try bounded(passes: cost.passes + 1, kibibytes: cost.kibibytes)
            } else {
                break
            }
        }
        return cost
    }

    private static func bounded(passes: UInt32, kibibytes: UInt32) throws(SystemCallError) -> PassphraseCost {
        guard let cost = PassphraseCost(passes: passes, kibibytes: kibibytes) else { throw .noMemory }
        return cost
    }
}
