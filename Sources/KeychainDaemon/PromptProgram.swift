package import KeychainModel
package import KeychainPlatform
package import KeychainProtocol
internal import KeychainService

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
    private let starter: Starter?

    /// - Parameters:
    ///   - programDirectories: where it is looked for, in this order.
    ///   - starter: of a daemon that may not start programs itself.
    package init(
        programDirectories: [String], dataDirectory: String, clock: any KeychainClock, by starter: Starter? = nil
    ) {
        self.starter = starter
        self.programDirectories = programDirectories
        self.dataDirectory = dataDirectory
        self.clock = clock
    }

    /// After the question's own time the prompt has this long to end by itself.
    private static let grace: Duration = .seconds(5)

    package func ask(
        _ question: [UInt8], _ shown: PersonQuestion, until withdrawn: Descriptor?
    ) throws(KeychainError) {
        let program = programDirectories.map { "\($0)/\(Self.name)" }.first { TrustedPath.isExecutableOfOurs($0) }
        guard let program else { throw Self.nobody("\(Self.name) is not installed") }
        guard let enclave = EnclaveRendezvous.last(inData: dataDirectory) else {
            throw Self.nobody("there is no enclave")
        }
        let name = question.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        do throws(SystemCallError) {
            let child = try start(
                program, ["--run", enclave.runDirectory, "--question", name, "--for", "\(shown.programProcess)"])
            let end = Deadline(after: .seconds(shown.secondsLeft) + Self.grace, on: clock)
            guard let withdrawn else { return _ = try child.status(until: end) }
            try child.status(until: end, orCalledOffBy: withdrawn, grace: Self.grace)
        } catch {
            throw Self.nobody("\(error)")
        }
    }

    static let environment = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"]

    private func start(_ program: String, _ arguments: [String]) throws(SystemCallError) -> ChildProcess {
        if let starter { return try starter.startChild(program, arguments: arguments) }
        let unused = try EventSignal()
        return try ChildProcess.start(
            program, arguments: arguments, environment: Self.environment, third: unused.descriptor,
            fourth: unused.descriptor)
    }

    private static func nobody(_ why: String) -> KeychainError {
        KeychainError(.interactionNotAllowed, reason: .nobodyToAsk(why: why))
    }
}
