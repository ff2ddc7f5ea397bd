internal import Enclave
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import Synchronization

/// A reader of fingers that belongs to a test.
final class TestFinger: BiometrySource {
    private let current = Mutex<BiometryState?>(nil)

    var state: BiometryState? { current.withLock { $0 } }

    /// Another set of fingers than before.
    func enrol() {
        current.withLock {
            $0 = BiometryState(kind: .fingerprint, isEnrolled: true, enrolment: Random.bytes(16))
        }
    }

    func remove() { current.withLock { $0 = nil } }

    /// A reader that knows nobody.
    func forget() {
        current.withLock { $0 = BiometryState(kind: .fingerprint, isEnrolled: false, enrolment: []) }
    }
}

/// What the person does when asked: what was said for the next times, then the same
/// ever after.
final class TestBehaviour: Sendable {
    private struct State {
        var next: [TestKeychain.Authentication] = []
        var ever = TestKeychain.Authentication.success
        var asked: [String] = []
    }

    private let state = Mutex(State())

    func set(_ ever: TestKeychain.Authentication) { state.withLock { $0.ever = ever } }
    func add(_ next: [TestKeychain.Authentication]) { state.withLock { $0.next += next } }
    var prompts: [String] { state.withLock { $0.asked } }

    func answer(_ question: PersonQuestion) -> TestKeychain.Authentication {
        state.withLock { state in
            state.asked.append(question.reason)
            return state.next.isEmpty ? state.ever : state.next.removeFirst()
        }
    }
}

/// Answers as a person would, with the passcode and the finger of the test.
struct TestPerson: PersonAsker {
    private let enclave: InProcessEnclave
    private let finger: TestFinger
    private let behaviour: TestBehaviour
    private let passcode: SharedSecret?

    init(_ enclave: InProcessEnclave, _ finger: TestFinger, _ behaviour: TestBehaviour, _ passcode: SharedSecret?) {
        self.enclave = enclave
        self.finger = finger
        self.behaviour = behaviour
        self.passcode = passcode
    }

    func ask(
        _ question: [UInt8], _ shown: PersonQuestion, of program: CallingProgram, until withdrawn: Descriptor?
    ) throws(KeychainError) {
        switch behaviour.answer(shown) {
        case .success: try agree(to: question)
        case .failure: enclave.decline(question, .authenticationFailed)
        case .cancel: enclave.decline(question, .userCanceled)
        case .timeout: enclave.decline(question, .promptTimedOut)
        case .nobodyThere:
            throw KeychainError(.interactionNotAllowed, reason: .nobodyToAsk(why: "the test has nobody there"))
        }
    }

    /// By whichever is enough: the finger, else the passcode.
    private func agree(to question: [UInt8]) throws(KeychainError) {
        if finger.state?.isEnrolled == true {
            do throws(KeychainError) { try enclave.agreeByBiometry(to: question) } catch {
                // A passcode is asked for.
            }
            // Nothing more is asked for.
            if enclave.question(question) == nil { return }
        }
        guard let passcode else { return enclave.decline(question, .passcodeNotSet) }
        do throws(KeychainError) { try enclave.agree(to: question, with: .passcode(passcode)) } catch {
            enclave.decline(question, error.reason)
        }
    }
}
