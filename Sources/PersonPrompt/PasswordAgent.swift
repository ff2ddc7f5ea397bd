package import KeychainPlatform

/// systemd-ask-password: whoever watches over the machine's questions is asked (at
/// boot plymouth, else the console or another terminal of root's).
///
/// Only where we may put a question, which takes root before systemd 257, and where
/// an agent is seen to watch. (systemd.io, "Password Agents": agents watch
/// /run/systemd/ask-password by inotify, which nobody can see; without one a question
/// would lie there until its time is over.)
package final class PasswordAgent: PersonScreen {
    /// systemd-tty-ask-password-agent has no key that dismisses a question: Ctrl-D
    /// puts it again. An empty answer does.
    private static let prompt = "Passcode (none to cancel):"
    /// How soon it is noticed that nobody watches any more.
    private static let look = Duration.seconds(2)

    private let places: PromptPlaces
    private let program: String
    private let calledOffBy: [Descriptor]
    private let processTime: any KeychainClock

    /// Nil where nobody would answer, or that cannot be known.
    package init?(
        in places: PromptPlaces, calledOffBy: [Descriptor], processTime: any KeychainClock = SystemClock()
    ) {
        guard TrustedPath.isExecutableOfOurs(places.passwordAgentProgram), WatchingAgent.isSeen(in: places) else {
            return nil
        }
        self.places = places
        program = places.passwordAgentProgram
        self.calledOffBy = calledOffBy
        self.processTime = processTime
    }

    package var name: String { program }
    package var repertoire: ForeignText.Repertoire { .ascii }
    package var width: LineWidth { .columns(80) }

    package func ask(_ form: PromptForm, until deadline: Deadline) throws(PromptFailure) -> SecretBytes {
        // A question is one line of a file.
        let words = [form.error, form.description, Self.prompt].compactMap { $0 }.joined(separator: "\n")
        let text = words.split(separator: "\n").joined(separator: " - ")
        let seconds = max(1, Int(deadline.remaining.seconds.rounded(.up)))
        // --no-tty: never on a terminal that happens to be ours.
        let arguments = ["--no-tty", "--timeout=\(seconds)", "-n", "--", text]
        let tool = try start(arguments)
        do throws(PromptFailure) {
            return try everything(from: tool, until: deadline)
        } catch {
            tool.end(by: Deadline(after: .seconds(2), on: processTime))
            throw error
        }
    }

    package var waitsForReader: Bool { false }

    /// Agents take answers and show nothing else.
    package func tell(_ form: PromptForm, until deadline: Deadline) throws(PromptFailure) {}

    package func close() {}

    private func start(_ arguments: [String]) throws(PromptFailure) -> ConversingTool {
        do throws(SystemCallError) {
            return try ConversingTool(program, arguments, environment: ["PATH=/usr/bin:/bin"])
        } catch {
            throw .unable(why: "\(program) cannot be started (\(error))")
        }
    }

    /// - Throws: `unable` where the agent has ended: at two looks, since its answer may
    ///   still be on the way at the first.
    private func waitForWords(
        from tool: borrowing ConversingTool, until deadline: Deadline
    ) throws(PromptFailure) {
        var wasSeen = true
        while true {
            let next = Deadline(after: min(Self.look, deadline.remaining), on: deadline.clock)
            do throws(PromptFailure) {
                return try OutputWait.words(on: tool.output, orUntil: calledOffBy, until: next)
            } catch {
                guard error == .timedOut, !deadline.hasPassed else { throw error }
                let isSeen = WatchingAgent.isSeen(in: places)
                guard isSeen || wasSeen else { throw .unable(why: "nobody watches systemd's questions any more") }
                wasSeen = isSeen
            }
        }
    }

    private func everything(
        from tool: borrowing ConversingTool, until deadline: Deadline
    ) throws(PromptFailure) -> SecretBytes {
        var typed = SecretWriter(byteCount: AssuanReader.longestData)
        while true {
            try waitForWords(from: tool, until: deadline)
            var heard = SecretBytes(count: 512)
            let count: Int
            do throws(SystemCallError) { count = try tool.hear(into: &heard) } catch { throw .broken(.deaf) }
            // It closes its side when it was answered, or dismissed.
            if count == 0, typed.count == 0 { throw .canceled }
            if count == 0 { return typed.finish() }
            guard typed.count + count <= AssuanReader.longestData else { throw .tooLong }
            typed.append(heard.copy(0..<count))
        }
    }
}
