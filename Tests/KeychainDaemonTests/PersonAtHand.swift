import Enclave
import KeychainClient
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
        /// The prompt stays until that is signalled, or nobody waits any more.
        case hesitates(EventSignal)
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

    /// Unlocks what is locked, and waits until the daemon has heard, of the lock before and of
    /// this: this enclave, in the daemon's process, tells whoever locked or unlocked first.
    func unlock(_ daemon: DaemonUnderTest) throws {
        let (states, never) = (daemon.client().deviceStates(), try EventSignal())
        while try states.next(orUntil: never)?.lock == .unlocked {}
        try daemon.enclave.unlock(with: .passcode(Self.passcode))
        while try states.next(orUntil: never)?.lock != .unlocked {}
    }

    func ask(
        _ question: [UInt8], _ shown: PersonQuestion, of program: CallingProgram, until withdrawn: Descriptor?
    ) throws(KeychainError) {
        let (enclave, answer) = state.withLock { state in
            state.asked.append(shown)
            return (state.enclave, state.answer)
        }
        let away = KeychainError(.interactionNotAllowed, reason: .nobodyToAsk(why: "the person is away"))
        guard let enclave else { throw away }
        switch answer {
        case .isAway: throw away
        case .agrees: try enclave.agree(to: question, with: .passcode(Self.passcode))
        case .cancels: enclave.decline(question, .userCanceled)
        case .hesitates(let signal):
            do throws(SystemCallError) {
                _ = try waitForAny(of: [signal.descriptor] + [withdrawn].compactMap { $0 })
            } catch { throw away }
            enclave.decline(question, .userCanceled)
        }
    }
}
