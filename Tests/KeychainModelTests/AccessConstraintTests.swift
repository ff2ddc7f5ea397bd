import KeychainModel
import Testing

/// What has to be proved for each flag, alone and joined.
@Suite struct AccessConstraintTests {
    private static let now: [UInt8] = [1, 2, 3]
    private static let then: [UInt8] = [9]

    /// Nothing, the passcode, biometry as it is enrolled now or was then, and both.
    private static let proofs: [ProvedFactors] = [
        ProvedFactors(), ProvedFactors(passcode: true), ProvedFactors(biometry: now), ProvedFactors(biometry: then),
        ProvedFactors(passcode: true, biometry: now),
    ]

    private static let single: [(AccessControlFlags, met: [Bool])] = [
        (.userPresence, [false, true, true, true, true]),
        (.devicePasscode, [false, true, false, false, true]),
        (.biometryAny, [false, false, true, true, true]),
        (.biometryCurrentSet, [false, false, true, false, true]),
        (.companion, [false, false, false, false, false]),
    ]

    private static func met(_ flags: AccessControlFlags) throws -> [Bool] {
        let made = try #require(AccessControl(protection: "ak", flags: flags)).bound(to: now)
        let operation = flags.contains(.privateKeyUsage) ? "osgn" : "od"
        return proofs.map { made.constraint(for: operation).isMet(by: $0) }
    }

    @Test func eachFlagAsksForItsFactor() throws {
        for (flags, met) in Self.single {
            #expect(try Self.met(flags) == met, "\(flags)")
            #expect(try Self.met([flags, .privateKeyUsage]) == met, "\(flags)")
        }
    }

    /// Every set of two to four of them that an object may be made of.
    @Test func orTakesAnyAndTakesAll() throws {
        let flags = Self.single.dropFirst()
        var combinations = 0
        for mask in 1..<(1 << flags.count) where mask.nonzeroBitCount > 1 {
            let chosen = flags.enumerated().filter { mask >> $0.offset & 1 == 1 }.map(\.element)
            let joined = AccessControlFlags(chosen.map(\.0))
            guard AccessControl(protection: "ak", flags: [joined, .or]) != nil else { continue }
            combinations += 1
            let any = Self.proofs.indices.map { index in chosen.contains { $0.met[index] } }
            let all = Self.proofs.indices.map { index in chosen.allSatisfy { $0.met[index] } }
            #expect(try Self.met([joined, .or]) == any, "\(joined)")
            #expect(try Self.met([joined, .and]) == all, "\(joined)")
            #expect(try Self.met(joined) == all, "\(joined)")
        }
        #expect(combinations == 7)
    }

    @Test func whatNobodyCanProveIsNeverMet() {
        let never: [AccessConstraint] = [
            .denied, .unsupported, .watch, .biometry(currentSet: true), .atLeast(0, of: []),
            .atLeast(0, of: [.allowed]),
            .atLeast(-1, of: []), .atLeast(2, of: [.passcode]), .atLeast(1, of: [.denied, .unsupported]),
            .atLeast(1, of: [.atLeast(2, of: [.passcode, .watch])]),
        ]
        for constraint in never {
            for proof in Self.proofs { #expect(!constraint.isMet(by: proof), "\(constraint)") }
        }
        #expect(AccessConstraint.allowed.isMet(by: ProvedFactors()))
        #expect(!AccessConstraint.enrolledBiometry([]).isMet(by: ProvedFactors(passcode: true)))
    }

    @Test func whatIsNotNamedIsDenied() throws {
        let item = try #require(AccessControl(protection: "ak", flags: .userPresence))
        #expect(item.constraint(for: "od") == .deviceOwner)
        #expect(item.constraint(for: "osgn") == .denied)
        #expect(item.constraint(for: "odel") == .allowed)
        let key = try #require(AccessControl(protection: "ak", flags: [.userPresence, .privateKeyUsage]))
        #expect(key.constraint(for: "od") == .deviceOwner)
        #expect(key.constraint(for: "oe") == .denied)
    }

    @Test func boundBiometryReadsBack() throws {
        let sets: [AccessControlFlags] = [
            .biometryCurrentSet, [.biometryCurrentSet, .devicePasscode, .or], [.biometryCurrentSet, .privateKeyUsage],
        ]
        for flags in sets {
            let made = try #require(AccessControl(protection: "akpu", flags: flags))
            // A set that cannot be told apart: it stays unbound, which nobody meets.
            #expect(made.bound(to: []) == made)
            for count in [1, 32, 255] {
                let bound = made.bound(to: Array(repeating: 7, count: count))
                #expect(bound != made)
                #expect(AccessControl(encoded: bound.encoded) == bound)
                for end in 0..<bound.encoded.count {
                    #expect(AccessControl(encoded: Array(bound.encoded[..<end])) == nil)
                }
            }
        }
    }
}
