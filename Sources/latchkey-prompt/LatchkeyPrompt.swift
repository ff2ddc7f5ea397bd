internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol
internal import PersonPrompt

/// The prompt: the one program that a person types a passcode into.
@main
struct LatchkeyPrompt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey-prompt",
        abstract: "Asks a person on behalf of a program; started by latchkeyd and latchkey-secret-service.",
        discussion: """
            It asks in the login session of the process PID, else on its terminal, and nowhere else; \
            what is typed goes to the enclave alone.
            """,
        version: LatchkeyVersion.text)

    @Option(
        name: .customLong("run"), help: ArgumentHelp("The folder in which the enclave listens.", valueName: "FOLDER"))
    var runDirectory: String

    @Option(help: ArgumentHelp("What the question is called there.", valueName: "HEX"))
    var question: String?

    @Flag(help: "Ask for the passcode, and open the keychain with it.")
    var unlock = false

    @Option(name: .customLong("for"), help: ArgumentHelp("The process that waits for the answer.", valueName: "PID"))
    var caller: Int32

    @Option(help: ArgumentHelp("Its /proc/PID/stat, open.", valueName: "N"))
    var recordDescriptor: Int32?

    func validate() throws {
        guard runDirectory.hasPrefix("/") else { throw ValidationError("--run is an absolute path") }
        guard unlock == (question == nil) else { throw ValidationError("give --question or --unlock") }
        guard caller > 0 else { throw ValidationError("--for is the number of a process") }
        guard recordDescriptor ?? 3 > 2 else { throw ValidationError("--record-descriptor is above 2") }
    }

    static func main() { main(ProgramArguments.given(to: "latchkey-prompt")) }

    func run() throws {
        var isDeclined = false
        do throws(KeychainError) {
            let end = try PromptProcess.prepare()
            let (door, watch) = try doors()
            let process = PromptProcess(
                door: door, watch: watch, caller: caller, record: recordDescriptor.map { Descriptor(owning: $0) },
                clock: SystemClock())
            let outcome = try process.run(endedBy: end.descriptor)
            // Whoever starts it for an open keychain hears so whether that person wanted it.
            if unlock, case .declined = outcome { isDeclined = true }
        } catch {
            StandardError.write("latchkey-prompt: \(error)\n")
            throw ExitCode.failure
        }
        if isDeclined { throw ExitCode.failure }
    }

    private func doors() throws(KeychainError) -> (any QuestionDoor, (any QuestionWatch)?) {
        guard let question else {
            let door = try PersonDoors.open(runDirectory: runDirectory, clock: SystemClock())
            return (UnlockQuestion(door, for: caller), nil)
        }
        return (
            try PersonDoors.open(runDirectory: runDirectory, question: question, clock: SystemClock()),
            try PersonDoors.open(runDirectory: runDirectory, question: question, clock: SystemClock())
        )
    }
}
