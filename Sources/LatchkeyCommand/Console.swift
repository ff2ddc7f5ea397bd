package import KeychainPlatform

/// Where a command reads and writes: the process's own streams, or a test's.
package protocol Console: Sendable {
    var inputIsTerminal: Bool { get }
    /// Whether standard input is a pipe, or a file with something left to read.
    var inputIsPiped: Bool { get }
    /// Whether something waits there to be read, or comes at once. Takes nothing of it.
    var inputHoldsBytes: Bool { get }
    var outputIsTerminal: Bool { get }
    var errorIsTerminal: Bool { get }
    /// Characters in a line of the terminal that standard output goes to; nil where it
    /// takes no commands (TERM is dumb).
    var screenColumns: Int? { get }

    /// Standard input up to its end; nil where it is longer than `limit`.
    func readSecret(atMost limit: Int) throws(SystemCallError) -> SecretBytes?
    /// One line typed without echo.
    func promptForSecret(_ prompt: String) throws(Terminal.Refusal) -> SecretBytes
    /// Several lines typed without echo, one after the other.
    func promptForSecretLines() -> any SecretLines
    /// One line typed; nil at end of file.
    func promptForLine(_ prompt: String) -> String?

    func write(_ text: String) throws(SystemCallError)
    func write(_ secret: borrowing SecretBytes) throws(SystemCallError)
    /// A line on standard error.
    func note(_ line: String)
    /// Puts `text` in place of what the last call drew on the terminal of standard
    /// error; an empty one takes it away.
    func draw(_ text: String)
}

/// The streams of this process.
struct SystemConsole: Console {
    var inputIsTerminal: Bool { StandardStream.input.isTerminal }
    var inputIsPiped: Bool { StandardStream.input.isPiped }
    var inputHoldsBytes: Bool { StandardStream.input.holdsBytes(within: 250) }
    var outputIsTerminal: Bool { StandardStream.output.isTerminal }
    var errorIsTerminal: Bool { StandardStream.error.isTerminal }
    var screenColumns: Int? {
        ProcessEnvironment.variable("TERM") == "dumb" ? nil : StandardStream.output.columns
    }

    func readSecret(atMost limit: Int) throws(SystemCallError) -> SecretBytes? {
        try StandardStream.input.readSecret(atMost: limit)
    }

    func promptForSecret(_ prompt: String) throws(Terminal.Refusal) -> SecretBytes {
        try Terminal.readSecret(prompt: prompt)
    }

    func promptForSecretLines() -> any SecretLines { HiddenLines() }

    func promptForLine(_ prompt: String) -> String? { Terminal.readLine(prompt: prompt) }

    func write(_ text: String) throws(SystemCallError) { try StandardStream.output.write(Array(text.utf8)) }

    func write(_ secret: borrowing SecretBytes) throws(SystemCallError) { try StandardStream.output.write(secret) }

    func draw(_ text: String) {
        // ECMA-48: carriage return, then erase to the end of the line.
        do throws(SystemCallError) { try StandardStream.error.write(Array("\r\u{1b}[K\(text)".utf8)) } catch { return }
    }

    func note(_ line: String) {
        // Nobody is left to be told that standard error cannot be written.
        do throws(SystemCallError) { try StandardStream.error.write(Array("\(line)\n".utf8)) } catch { return }
    }
}

/// Writes to standard output; a failure is one of this command.
package func printing<R: ~Copyable>(_ write: () throws(SystemCallError) -> R) throws(CommandFailure) -> R {
    do throws(SystemCallError) { return try write() } catch {
        throw CommandFailure(
            .unavailable, "the output could not be written (\(error))",
            "Check where standard output goes and try again.")
    }
}
