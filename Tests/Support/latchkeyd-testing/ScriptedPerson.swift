internal import Conformance
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import KeychainService
internal import Synchronization

/// Answers at the enclave's door as a person would, by what the runner said.
final class ScriptedPerson: PersonAsker {
    private struct State {
        var passcode = ""
        var answer = "success"
    }

    private let runDirectory: String
    private let state = Mutex(State())

    init(runDirectory: String) { self.runDirectory = runDirectory }

    func remember(passcode: String) { state.withLock { $0.passcode = passcode } }
    func answer(_ answer: String) { state.withLock { $0.answer = answer } }

    func ask(
        _ question: [UInt8], _ shown: PersonQuestion, of program: CallingProgram, until withdrawn: Descriptor?
    ) throws(KeychainError) {
        let door = try RemotePersonDoor(
            runDirectory: runDirectory, process: nil, asked: question, clock: SystemClock())
        guard try door.question() != nil else {
            throw KeychainError(.internalComponent, reason: .internalFault(what: "no question at the door"))
        }
        let now = state.withLock { $0 }
        switch now.answer {
        case "success": try door.agree(with: .passcode(SharedSecret(SecretBytes(copying: Array(now.passcode.utf8)))))
        case "cancel": try door.decline(.userCanceled)
        default: try door.decline(.authenticationFailed)
        }
    }
}
