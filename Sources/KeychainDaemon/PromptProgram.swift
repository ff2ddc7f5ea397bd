package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
package import KeychainService

/// Has `latchkey-prompt` ask, in the session of the program that calls.
///
/// The prompt reaches the enclave by itself: nothing that is typed passes through
/// here, and neither end of its socket was ever ours.
package struct PromptProgram: PersonAsker {
    static let name = "latchkey-prompt"

    private let programDirectories: [String]
    private let dataDirectory: String
    private let clock: any KeychainClock
    /// Starts it for us; nil: we do.
    private let spawner: ProgramSpawner?

    /// - Parameters:
    ///   - programDirectories: where it is looked for, in this order.
    ///   - spawner: of a daemon that may not start programs itself.
    package init(
        programDirectories: [String], dataDirectory: String, clock: any KeychainClock, by spawner: ProgramSpawner? = nil
    ) {
        self.spawner = spawner
        self.programDirectories = programDirectories
        self.dataDirectory = dataDirectory
        self.clock = clock
    }

    /// After the question's own time the prompt has this long to end by itself.
    private static let grace: Duration = .seconds(5)

    package func ask(
        _ question: [UInt8], _ shown: PersonQuestion, of program: CallingProgram, until withdrawn: Descriptor?
    ) throws(KeychainError) {
        let prompt = programDirectories.map { "\($0)/\(Self.name)" }.first { TrustedPath.isExecutableOfOurs($0) }
        guard let prompt else { throw Self.nobody("\(Self.name) is not installed") }
        guard let enclave = EnclaveRendezvous.last(inData: dataDirectory) else {
            throw Self.nobody("there is no enclave")
        }
        let name = question.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        do throws(SystemCallError) {
            let record = program.record.map { _ in ["--record-descriptor", "3"] } ?? []
            let child = try start(
                prompt,
                ["--run", enclave.runDirectory, "--question", name, "--for", "\(shown.programProcess)"] + record,
                keeping: program.record)
            let end = Deadline(after: .seconds(shown.secondsLeft) + Self.grace, on: clock)
            guard let withdrawn else { return _ = try child.status(until: end) }
            try child.status(until: end, orCalledOffBy: withdrawn, grace: Self.grace)
        } catch {
            throw Self.nobody("\(error)")
        }
    }

    static let environment = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"]

    private func start(
        _ prompt: String, _ arguments: [String], keeping record: Descriptor?
    ) throws(SystemCallError) -> ChildProcess {
        if let spawner { return try spawner.startChild(prompt, arguments: arguments, keeping: record) }
        let unused = try EventSignal()
        return try ChildProcess.start(
            prompt, arguments: arguments, environment: Self.environment, third: record ?? unused.descriptor,
            fourth: unused.descriptor)
    }

    private static func nobody(_ why: String) -> KeychainError {
        KeychainError(.interactionNotAllowed, reason: .nobodyToAsk(why: why))
    }
}
