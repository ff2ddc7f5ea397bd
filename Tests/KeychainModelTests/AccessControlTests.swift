import KeychainModel
import Testing

@Suite struct AccessControlTests {
    static let flagSets: [AccessControlFlags] = [
        [], .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, [.devicePasscode, .biometryAny, .or],
        [.devicePasscode, .biometryAny, .and], .applicationPassword, .privateKeyUsage,
        [.privateKeyUsage, .userPresence], [.userPresence, .applicationPassword], [.devicePasscode, .companion],
    ]

    @Test(arguments: flagSets)
    func encodingIsCanonicalAndReadsBack(_ flags: AccessControlFlags) throws {
        for protection in ProtectionClass.allCases {
            let made = try #require(AccessControl(protection: protection.rawValue, flags: flags))
            #expect(AccessControl(encoded: made.encoded) == made)
            let again = try #require(AccessControl(protection: protection.rawValue, flags: flags))
            #expect(again.encoded == made.encoded)
        }
    }

    @Test(arguments: flagSets)
    func everyTruncationAndEveryTrailingByteIsRefused(_ flags: AccessControlFlags) throws {
        let encoded = try #require(AccessControl(protection: "ak", flags: flags)).encoded
        for count in 0..<encoded.count { #expect(AccessControl(encoded: Array(encoded[..<count])) == nil) }
        #expect(AccessControl(encoded: encoded + [0]) == nil)
    }

    /// Whatever bytes come: no trap, and nothing decodes that does not encode to the same.
    @Test func mutatedEncodingsNeverTrapAndNeverDecodeToOtherBytes() throws {
        var generator = SystemRandomNumberGenerator()
        for flags in Self.flagSets {
            let encoded = try #require(AccessControl(protection: "akpu", flags: flags)).encoded
            for _ in 0..<400 {
                var bytes = encoded
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
                if let decoded = AccessControl(encoded: bytes) { #expect(decoded.encoded == bytes) }
            }
        }
    }

    @Test(arguments: [
        ([.or, .and], "ak"), ([.biometryAny, .biometryCurrentSet], "ak"), ([.userPresence, .devicePasscode], "ak"),
        ([.userPresence, .or], "ak"), ([], "zz"), ([], ""),
    ] as [(AccessControlFlags, String)])
    func combinationsThatSayNothingAreRefused(_ flags: AccessControlFlags, _ protection: String) {
        #expect(AccessControl(protection: protection, flags: flags) == nil)
    }

    @Test func unknownConstraintDeniesAndCannotBeTakenForNone() throws {
        let unsupported = AccessControl(
            protection: "ak", constraints: ["od": .unsupported], requiresApplicationPassword: false)
        #expect(!unsupported.isUnconstrained)
        #expect(AccessControl(encoded: unsupported.encoded) == unsupported)
    }

    @Test func objectMadeWithoutFlagsIsNotABareProtection() throws {
        let made = try #require(AccessControl(protection: "ak", flags: []))
        #expect(made != AccessControl(unconstrained: .whenUnlocked))
        #expect(made.isUnconstrained)
    }
}
