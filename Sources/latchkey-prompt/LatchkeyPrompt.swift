internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import PersonPrompt

/// The prompt: the one program that a person types a passcode into.
@main
struct LatchkeyPrompt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latchkey-prompt",
        abstract: "Asks a person on behalf of a program; started by latchkeyd.",
        discussion: """
            It asks in the login session of the process PID, else on its terminal, and nowhere else; \
            what is typed goes through the socket to the enclave alone.
            """,
        version: LatchkeyVersion.text)

    @Option(help: ArgumentHelp("The socket to the enclave.", valueName: "N"))
    var descriptor: Int32

    @Option(name: .customLong("for"), help: ArgumentHelp("The process that waits for the answer.", valueName: "PID"))
    var caller: Int32

    func validate() throws {
        guard descriptor > 2 else { throw ValidationError("--descriptor is none of the standard descriptors") }
        guard caller > 0 else { throw ValidationError("--for is the number of a process") }
    }

    func run() throws {
        do throws(KeychainError) {
            let end = try PromptProcess.prepare()
            guard let socket = Descriptor.inherited(descriptor) else {
                throw KeychainError(.param, reason: .startRefused(why: "descriptor \(descriptor) is not open"))
            }
            let door = try PersonDoors.open(descriptor: socket)
            _ = try PromptProcess(door: door, caller: caller, clock: SystemClock()).run(endedBy: end.descriptor)
        } catch {
            StandardError.write("latchkey-prompt: \(error)\n")
            throw ExitCode.failure
        }
    }
}
