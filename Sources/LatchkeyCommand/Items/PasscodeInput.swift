package import KeychainPlatform

/// A passcode as the command line takes one: typed without echo, or the first line
/// of what is piped in; never an argument and never in the environment.
package struct PasscodeInput {
    /// What every pinentry takes (its manual, "Protocol"), so that a passcode that is
    /// set here can be typed at a prompt.
    package static let mostBytes = 2048
    /// How often two that differ may be typed again.
    private static let tries = 3

    private let console: any Console

    package init(console: any Console) { self.console = console }

    /// One that exists.
    package func existing(_ prompt: String = "Passcode: ") throws(CommandFailure) -> SecretBytes {
        let passcode = console.inputIsTerminal ? try typed(prompt) : try piped()
        guard passcode.count > 0 else { throw Self.refusal("no passcode was given") }
        guard passcode.count <= Self.mostBytes else { throw Self.refusal("the passcode is longer than 2048 bytes") }
        return passcode
    }

    /// A new one: on a terminal typed twice, and again where the two differ.
    package func new(_ prompt: String = "New passcode: ") throws(CommandFailure) -> SecretBytes {
        for _ in 1..<Self.tries {
            let first = try existing(prompt)
            if try isRepeated(first) { return first }
            console.note("The two differ. Try again.")
        }
        let last = try existing(prompt)
        guard try isRepeated(last) else { throw Self.refusal("the two passcodes differ") }
        return last
    }

    private func isRepeated(_ first: borrowing SecretBytes) throws(CommandFailure) -> Bool {
        guard console.inputIsTerminal else { return true }
        return try typed("Once more: ").isEqual(to: first)
    }

    private func typed(_ prompt: String) throws(CommandFailure) -> SecretBytes {
        do throws(Terminal.Refusal) { return try console.promptForSecret(prompt) } catch {
            switch error {
            case .canceled: throw Self.refusal("no passcode was typed")
            case .tooLong: throw Self.refusal("the passcode is longer than a terminal takes")
            case .system(let below):
                throw CommandFailure(.unavailable, "the terminal failed (\(below))", "Try again; nothing was changed.")
            }
        }
    }

    private func piped() throws(CommandFailure) -> SecretBytes {
        guard console.inputIsPiped else {
            throw CommandFailure(
                .locked, "a passcode is needed and nobody can be asked",
                "Run it on a terminal, or pipe the passcode in.")
        }
        let read: SecretBytes?
        do throws(SystemCallError) { read = try console.readSecret(atMost: Self.mostBytes + 2) } catch {
            throw CommandFailure(.usage, "standard input cannot be read (\(error))", "Pipe the passcode in.")
        }
        guard var line = read else { throw Self.refusal("the passcode is longer than 2048 bytes") }
        let end = line.firstIndex(in: 0..<line.count) { $0 == UInt8(ascii: "\n") }
        if let end { line.truncate(to: end) }
        return line
    }

    private static func refusal(_ what: String) -> CommandFailure {
        CommandFailure(.usage, "\(what); nothing was changed", "Try again.")
    }
}
