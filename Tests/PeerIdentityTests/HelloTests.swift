import KeychainModel
import Glibc
import KeychainPlatform
import KeychainTestSupport
import Puppets
import Testing

@testable import PeerIdentity

/// Everything but one nonce with one descriptor from one process is refused.
struct HelloTests {
    private let door: Doorway

    init() throws { door = try Doorway() }

    @Test(arguments: KernelFeatures.tried)
    func dataBeforeTheNonceIsRefused(_ features: KernelFeatures) throws {
        let client = try Puppet(["connect", door.path, "garbage", "say", "spoken", "hear"])
        try client.expect("spoken")
        #expect(try door.refusal(features) == .spokeFirst)
    }

    /// The puppet's frame buffer is zero before a nonce is received.
    @Test(arguments: KernelFeatures.tried)
    func aGuessedNonceIsRefused(_ features: KernelFeatures) throws {
        let client = try Puppet(["connect", door.path, "nonce", "answer-wrong", "hear"])
        #expect(try door.refusal(features) == .wrongNonce)
        withExtendedLifetime(client) {}
    }

    @Test(arguments: KernelFeatures.tried)
    func anAnswerWithoutADescriptorIsRefused(_ features: KernelFeatures) throws {
        let client = try Puppet(["connect", door.path, "nonce", "answer-bare", "hear"])
        #expect(try door.refusal(features) == .noDescriptor)
        withExtendedLifetime(client) {}
    }

    @Test(arguments: KernelFeatures.tried)
    func anAnswerWithTwoDescriptorsIsRefused(_ features: KernelFeatures) throws {
        let client = try Puppet(["connect", door.path, "nonce", "answer-two", "hear"])
        #expect(try door.refusal(features) == .tooManyDescriptors)
        withExtendedLifetime(client) {}
    }

    @Test(arguments: KernelFeatures.tried)
    func anAnswerThatIsNoFrameIsRefused(_ features: KernelFeatures) throws {
        let client = try Puppet(["connect", door.path, "nonce", "garbage", "hear"])
        #expect(try door.refusal(features) == .malformed)
        withExtendedLifetime(client) {}
    }

    @Test(arguments: KernelFeatures.tried)
    func closingInPlaceOfAnAnswerIsRefused(_ features: KernelFeatures) throws {
        let client = try Puppet(["connect", door.path, "nonce", "close", "hear"])
        #expect(try door.refusal(features) == .closedEarly)
        withExtendedLifetime(client) {}
    }

    @Test(arguments: KernelFeatures.tried)
    func silenceEndsAtTheDeadline(_ features: KernelFeatures) throws {
        let clock = ManualClock()
        let client = try Puppet(["connect", door.path, "hear"])
        #expect(
            try door.refusal(features, clock: clock, afterChallenge: { clock.advance(by: .seconds(50)) }) == .tooLate)
        withExtendedLifetime(client) {}
    }

    /// `cat` with the connection as input and output gives the nonce back, as
    /// the process that connected. Only the descriptor is missing.
    @Test(arguments: KernelFeatures.tried)
    func aTrustedProgramWithTheSocketAsItsOutputIsRefused(_ features: KernelFeatures) throws {
        let attacker = try Puppet(["connect", door.path, "stdio", "exec", "/usr/bin/cat"])
        try attacker.waitUntilItRuns("/usr/bin/cat")
        #expect(try door.refusal(features) == .noDescriptor)
    }
}
