import KeychainModel
import KeychainProtocol
import KeychainTestSupport
import Testing

@testable import Enclave

/// What one connection of a person leaves to the next: nothing.
@Suite struct PersonConnectionTests {
    @Test func aRecoveryCodeGoesWithTheOneItWasShownTo() throws {
        let scene = try HonestScene()
        let forgotten = try scene.door().makeRecoveryCode(passcode: .text(HonestScene.passcode))
        expectRefusal(.authenticationFailed) { try scene.door().confirmRecoveryCode(forgotten) }
        #expect(try !scene.door().state().hasRecoveryCode)

        let door = try scene.door()
        let first = try door.makeRecoveryCode(passcode: .text(HonestScene.passcode))
        // The second one is pending now, and stays while the first one's connection ends.
        let another = try scene.door()
        let second = try another.makeRecoveryCode(passcode: .text(HonestScene.passcode))
        expectRefusal(.authenticationFailed) { try door.confirmRecoveryCode(first) }
        try another.confirmRecoveryCode(second)
        #expect(try scene.door().state().hasRecoveryCode)
    }
}
