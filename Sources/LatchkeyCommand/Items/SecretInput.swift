internal import KeychainPlatform
internal import KeychainProtocol

/// Where a new secret comes from: a prompt that shows nothing, or standard input.
struct SecretInput {
    let console: any Console
    /// Keep a newline at the end.
    var raw = false
    var allowEmpty = false
    /// The command line to pipe a secret into.
    let command: String

    /// One line from a person, or everything that is piped in.
    func line(prompt: String) throws(CommandFailure) -> SecretBytes {
        let secret = console.inputIsTerminal ? try typed(prompt) : try piped()
        return try checked(secret)
    }

    /// Lines up to the end of file, joined by newlines, or everything that is piped in.
    func lines(prompt: String) throws(CommandFailure) -> SecretBytes {
        let secret = console.inputIsTerminal ? try typedLines(prompt) : try piped()
        return try checked(secret)
    }

    private func checked(_ secret: consuming SecretBytes) throws(CommandFailure) -> SecretBytes {
        guard allowEmpty || secret.count > 0 else {
            throw CommandFailure(
                .usage, "the secret is empty; nothing was stored", "Give a secret, or add --allow-empty to store none.")
        }
        return secret
    }

    // MARK: Typed

    private func typed(_ prompt: String) throws(CommandFailure) -> SecretBytes {
        do throws(Terminal.Refusal) { return try console.promptForSecret(prompt) } catch { throw refusal(error) }
    }

    private func typedLines(_ prompt: String) throws(CommandFailure) -> SecretBytes {
        var whole = SecretBytes(count: 0)
        var next = prompt
        let lines = console.promptForSecretLines()
        while true {
            let line: SecretBytes
            do throws(Terminal.Refusal) { line = try lines.nextLine(next) } catch {
                guard error == .canceled else { throw refusal(error) }
                return whole
            }
            let isFirst = next == prompt
            next = "> "
            guard whole.count + line.count < WireLimit.value else { throw Self.tooLarge }
            var writer = SecretWriter(byteCount: whole.count + line.count + (isFirst ? 0 : 1))
            writer.append(whole)
            if !isFirst { writer.append(UInt8(ascii: "\n")) }
            writer.append(line)
            whole = writer.finish()
        }
    }

    private func refusal(_ error: Terminal.Refusal) -> CommandFailure {
        let again = "Try again, or pipe the secret into `\(command)`."
        return switch error {
        case .canceled: CommandFailure(.usage, "no secret was typed; nothing was stored", again)
        case .tooLong: CommandFailure(.usage, "a terminal takes no line that long; nothing was stored", again)
        case .system(let below): CommandFailure(.unavailable, "the terminal failed (\(below))", again)
        }
    }

    // MARK: Piped

    private func piped() throws(CommandFailure) -> SecretBytes {
        let read: SecretBytes?
        do throws(SystemCallError) { read = try console.readSecret(atMost: WireLimit.value + 1) } catch {
            throw CommandFailure(
                .usage, "standard input cannot be read (\(error))", "Pipe the secret into `\(command)`.")
        }
        guard var secret = read else { throw Self.tooLarge }
        if !raw { secret.dropOneNewline() }
        guard secret.count <= WireLimit.value else { throw Self.tooLarge }
        return secret
    }

    private static let tooLarge = CommandFailure(
        .usage, "the secret is longer than 64 MiB; nothing was stored",
        "Encrypt a file and keep only its key here.")
}

extension SecretBytes {
    /// Drops the newline that `echo` and editors put at the end.
    fileprivate mutating func dropOneNewline() {
        guard count > 0 else { return }
        let last = unsafe withUnsafeBytes { unsafe $0[$0.count - 1] }
        if last == UInt8(ascii: "\n") { truncate(to: count - 1) }
    }
}
