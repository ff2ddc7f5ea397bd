package import KeychainPlatform

/// A pinentry at work: the program that other keepers of secrets ask people with,
/// so that it fits into each desktop and terminal.
///
/// Spoken with as pinentry's manual says ("Protocol"). What is typed travels through
/// a pipe into ``SecretBytes`` and is nowhere else. An external cache of passwords is
/// never allowed (option allow-external-password-cache is not sent).
package final class Pinentry: PersonScreen {
    /// What to start, and how.
    package struct Program: Sendable {
        package var path: String
        package var environment: [String]
        /// Name and value of options, in order. One that it does not know is no harm.
        package var options: [(name: String, value: String?)]
        package var repertoire: ForeignText.Repertoire
        package var width: LineWidth

        package init(
            path: String, environment: [String], options: [(name: String, value: String?)],
            repertoire: ForeignText.Repertoire, width: LineWidth
        ) {
            self.path = path
            self.environment = environment
            self.options = options
            self.repertoire = repertoire
            self.width = width
        }
    }

    private let program: Program
    private let terminal: TerminalDevice?
    private let calledOffBy: [Descriptor]
    private let processTime: any KeychainClock
    private var tool: ConversingTool?
    /// Two prompts at once would share what is typed.
    private var claim: TerminalClaim?
    private var reader = AssuanReader()
    private var heard = SecretBytes(count: 512)
    private var unread = 0..<0

    /// - Parameters:
    ///   - terminal: what it asks on; put back as it was where the program cannot.
    ///   - calledOffBy: each readable once there is nobody to ask for any more.
    ///   - processTime: what the end of a real program is waited for by.
    package init(
        _ program: Program, on terminal: TerminalDevice? = nil, calledOffBy: [Descriptor],
        processTime: any KeychainClock = SystemClock()
    ) {
        self.program = program
        self.terminal = terminal
        self.calledOffBy = calledOffBy
        self.processTime = processTime
    }

    deinit {
        if tool != nil { claim?.restore(droppingInput: true) }
    }

    package var name: String { program.path }
    package var repertoire: ForeignText.Repertoire { program.repertoire }
    package var width: LineWidth { program.width }

    package func ask(_ form: PromptForm, until deadline: Deadline) throws(PromptFailure) -> SecretBytes {
        try closingOnFailure { () throws(PromptFailure) in
            try show(form, until: deadline)
            try command("SETPROMPT", "Passcode:", until: deadline)
            try settle("GETPIN", until: deadline)
            let isTooLong = reader.isTooMuchData
            let typed = reader.takeData()
            guard !isTooLong else { throw .tooLong }
            return typed
        }
    }

    package func tell(_ form: PromptForm, until deadline: Deadline) throws(PromptFailure) {
        try closingOnFailure { () throws(PromptFailure) in
            try show(form, until: deadline)
            try settle("MESSAGE", until: deadline)
        }
    }

    /// What is typed ahead for the shell once the prompt has its answer stays.
    package func close() { end(droppingInput: false) }

    private func end(droppingInput: Bool) {
        guard let running = tool.take() else { return }
        unread = 0..<0
        // A terminal that is left in the middle is put in order by the program, which
        // knows its screen; its settings also by us.
        running.end(by: Deadline(after: .seconds(2), on: processTime))
        claim?.restore(droppingInput: droppingInput)
        claim = nil
    }

    /// After a time-out or nonsense nobody knows what the next answer would be to.
    private func closingOnFailure<R: ~Copyable>(
        _ body: () throws(PromptFailure) -> R
    ) throws(PromptFailure) -> R {
        do throws(PromptFailure) { return try body() } catch {
            if error != .tooLong { end(droppingInput: error != .canceled) }
            throw error
        }
    }

    // MARK: Commands

    private func show(_ form: PromptForm, until deadline: Deadline) throws(PromptFailure) {
        if tool == nil { try start(until: deadline) }
        // Whole seconds, rounded up: ours ends first only where it does not keep to it.
        let seconds = max(1, Int(deadline.remaining.seconds.rounded(.up)))
        try command("SETTIMEOUT", "\(seconds)", until: deadline)
        try command("SETTITLE", form.title, until: deadline)
        try command("SETOK", form.okay, until: deadline)
        try command("SETCANCEL", "Cancel", until: deadline)
        if let error = form.error { try command("SETERROR", error, until: deadline) }
        try settle("SETDESC", form.description, until: deadline)
    }

    private func start(until deadline: Deadline) throws(PromptFailure) {
        if let terminal { claim = try claimed(terminal, until: deadline) }
        do throws(SystemCallError) {
            tool = try ConversingTool(program.path, [], environment: program.environment)
        } catch {
            throw .unable(why: "\(program.path) cannot be started (\(error))")
        }
        reader = AssuanReader()
        guard try answer(until: deadline) == .ok else { throw .broken(.unknownLine) }
        for option in program.options {
            try command("OPTION", option.name + (option.value.map { "=\($0)" } ?? ""), until: deadline)
        }
    }

    private func claimed(_ terminal: TerminalDevice, until deadline: Deadline) throws(PromptFailure) -> TerminalClaim {
        let claim: TerminalClaim?
        do throws(SystemCallError) { claim = try terminal.claim(until: deadline) } catch {
            throw .unable(why: "the terminal cannot be claimed (\(error))")
        }
        guard let claim else { throw .timedOut }
        return claim
    }

    /// A command that may be refused: an older program knows fewer of them.
    private func command(_ verb: String, _ text: String = "", until deadline: Deadline) throws(PromptFailure) {
        try say(verb, text, until: deadline)
        _ = try answer(until: deadline)
    }

    /// A command without which the rest has no sense.
    private func settle(_ verb: String, _ text: String = "", until deadline: Deadline) throws(PromptFailure) {
        try say(verb, text, until: deadline)
        guard case .refused(let code) = try answer(until: deadline) else { return }
        switch code.meaning {
        case .canceled: throw .canceled
        case .timedOut: throw .timedOut
        case .other(let code): throw .unable(why: "\(program.path) cannot ask here (GnuPG's error \(code))")
        }
    }

    // MARK: Lines

    private func say(_ verb: String, _ text: String, until deadline: Deadline) throws(PromptFailure) {
        // What came before the command is no answer to it.
        guard unread.isEmpty else { throw .broken(.unknownLine) }
        _ = reader.takeData()
        guard tool != nil else { throw .broken(.ended) }
        do throws(SystemCallError) {
            try tool?.say(AssuanCommand.line(verb, text), until: deadline)
        } catch {
            throw .broken(error.isBrokenConnection ? .ended : .deaf)
        }
    }

    private func answer(until deadline: Deadline) throws(PromptFailure) -> AssuanAnswer {
        while true {
            while let index = unread.first {
                unread.removeFirst()
                let byte = heard[index]
                if let answer = try taken(byte) { return answer }
            }
            try hear(until: deadline)
        }
    }

    private func taken(_ byte: UInt8) throws(PromptFailure) -> AssuanAnswer? {
        do throws(AssuanFault) { return try reader.take(byte) } catch { throw .broken(error) }
    }

    private func hear(until deadline: Deadline) throws(PromptFailure) {
        guard let output = tool?.output else { throw .broken(.ended) }
        try OutputWait.words(on: output, orUntil: calledOffBy, until: deadline)
        // What was typed stands in it.
        heard = SecretBytes(count: 512)
        do throws(SystemCallError) {
            unread = 0..<(try tool?.hear(into: &heard) ?? 0)
        } catch { throw .broken(.deaf) }
        if unread.isEmpty { throw .broken(.ended) }
    }
}
