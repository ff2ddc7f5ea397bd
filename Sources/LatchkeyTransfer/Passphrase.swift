internal import KeychainPlatform
internal import LatchkeyCommand

/// The words that open a file: typed without echo, or on a descriptor; never an
/// argument and never in the environment.
struct Passphrase {
    let descriptor: Int32?
    let console: any Console

    /// For something that exists.
    func existing(_ prompt: String) throws(CommandFailure) -> SecretBytes {
        if let descriptor { return try inherited(descriptor) }
        return try typed(prompt)
    }

    /// For something new: typed twice.
    func new(_ prompt: String) throws(CommandFailure) -> SecretBytes {
        let first = try existing(prompt)
        guard first.count > 0 else {
            throw CommandFailure(
                .usage, "the passphrase is empty; nothing was written", "Choose one that nobody guesses.")
        }
        if descriptor != nil { return first }
        guard try typed("Once more: ").isEqual(to: first) else {
            throw CommandFailure(.usage, "the two passphrases differ; nothing was written", "Try again.")
        }
        return first
    }

    private func inherited(_ descriptor: Int32) throws(CommandFailure) -> SecretBytes {
        let read: SecretBytes?
        do throws(SystemCallError) {
            read = try InheritedSecret.readLine(descriptor: descriptor, atMost: ToolRun.longestInput - 1)
        } catch {
            throw CommandFailure(
                .usage, "descriptor \(descriptor) cannot be read (\(error))",
                "Open it for us: latchkey … --passphrase-fd 3 3< FILE")
        }
        guard let secret = read else {
            throw CommandFailure(.usage, "the passphrase is longer than 4 KiB", "Choose a shorter one.")
        }
        return secret
    }

    private func typed(_ prompt: String) throws(CommandFailure) -> SecretBytes {
        guard console.inputIsTerminal else {
            throw CommandFailure(
                .locked, "a passphrase is needed and nobody can be asked",
                "Give it on a descriptor: latchkey … --passphrase-fd 3 3< FILE")
        }
        do throws(Terminal.Refusal) { return try console.promptForSecret(prompt) } catch {
            throw CommandFailure(.usage, "no passphrase was typed; nothing was done", "Try again.")
        }
    }
}
