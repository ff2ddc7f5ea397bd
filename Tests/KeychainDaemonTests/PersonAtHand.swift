import Enclave
import KeychainDaemon
import KeychainModel
import KeychainPlatform
import KeychainProtocol
import KeychainService
import KeychainTestSupport
import Synchronization

/// A person who is asked by the daemon under test, and answers at the enclave.
final class PersonAtHand: PersonAsker {
    enum Answer: Sendable {
        case agrees
        case cancels
        /// There is no way to ask anybody.
        case isAway
    }

    static let passcode = SharedSecret(SecretBytes(copying: Array("1234".utf8)))

    private struct State {
        var enclave: InProcessEnclave?
        var answer = Answer.agrees
        var asked: [PersonQuestion] = []
    }

    private let state = Mutex(State())

    var asked: [PersonQuestion.Purpose] { state.withLock { $0.asked.map(\.purpose) } }
    var programs: [String] { state.withLock { $0.asked.map(\.program) } }

    func answer(_ answer: Answer) { state.withLock { $0.answer = answer } }

    /// A daemon whose keychain has this person's passcode.
    func daemon() throws -> DaemonUnderTest {
        let daemon = try DaemonUnderTest { $0.asker = self }
        state.withLock { $0.enclave = daemon.enclave }
        try daemon.enclave.setPasscode(Self.passcode)
        return daemon
    }

    func ask(_ question: [UInt8], _ shown: PersonQuestion, until withdrawn: Descriptor?) throws(KeychainError) {
        let (enclave, answer) = state.withLock { state in
            state.asked.append(shown)
            return (state.enclave, state.answer)
        }
        guard let enclave, answer != .isAway else {
            throw KeychainError(.interactionNotAllowed, reason: .nobodyToAsk(why: "the person is away"))
        }
        guard answer == .agrees else { return enclave.decline(question, .userCanceled) }
        try enclave.agree(to: question, with: .passcode(Self.passcode))
    }
}
