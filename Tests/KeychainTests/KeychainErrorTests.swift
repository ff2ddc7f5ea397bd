import Foundation
import Keychain
import Testing

/// What a program that knows `Error` alone shows and looks at.
@Suite struct KeychainErrorTests {
    private let error: any Error = KeychainError(
        .interactionNotAllowed, reason: .locked(class: "ak"), underlying: "below")

    @Test func itsTextSaysWhatHappened() throws {
        #expect(error.localizedDescription == "\(error)")
        #expect(error.localizedDescription.contains("errSecInteractionNotAllowed (-25308)"))
        #expect(error.localizedDescription.contains(Reason.locked(class: "ak").explanation))
        #expect(try #require(error as? any LocalizedError).failureReason == Reason.locked(class: "ak").explanation)
    }

    @Test func asAnObjectItHasTheStatusAsItsCode() {
        let object = error as NSError
        #expect(object.domain == NSOSStatusErrorDomain && object.code == -25308)
        #expect(object.localizedDescription == "\(error)")
        #expect(object.localizedFailureReason == Reason.locked(class: "ak").explanation)
    }
}
