import KeychainProtocol

@testable import Enclave

/// A reader that says what a test has it say.
final class PlayedReader: BiometrySource {
    let state: BiometryState?

    init(_ state: BiometryState? = BiometryState(kind: .fingerprint, isEnrolled: true, enrolment: [])) {
        self.state = state
    }
}
