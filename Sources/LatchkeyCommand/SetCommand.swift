internal import ArgumentParser
internal import KeychainPlatform
internal import KeychainProtocol

struct SetCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store a secret, or replace the one that is there.",
        usage: "latchkey set <service> [<account>] [--label <label>] [--internet] [--raw] [--allow-empty]",
        discussion: """
            The secret is typed at a prompt that does not show it or, where standard input is not a \
            terminal, read from there up to the end. One newline at the end is dropped, so that \
            `echo pw | latchkey set mail` and `printf pw | latchkey set mail` store the same; \
            --raw keeps every byte. Any bytes can be stored, up to 64 MiB. Empty input is refused, \
            because it mostly comes from a command before the pipe that failed; --allow-empty stores it.

            Without an account the account is empty. An item is one service and one account: \
            `set` again replaces its secret and leaves its other attributes alone.

            EXAMPLES
              latchkey set mail alice
              pwgen -s 32 1 | latchkey set mail alice --label "Mail at work"
              latchkey set --raw backup-key < key.bin

            --json writes {"service", "account", "kind", "replaced"}.
            """)

    @Argument(help: "What the secret is for: a name of your choice or, with --internet, a server.")
    var service: String

    @Argument(help: "Whose it is there; without one the account is empty.")
    var account: String?

    @Option(help: "A title for people.")
    var label: String?

    @Flag(help: "Store an internet password with <service> as its server.")
    var internet = false

    @Flag(help: "Keep every byte of standard input, also a newline at the end.")
    var raw = false

    @Flag(name: .customLong("allow-empty"), help: "Store an empty secret.")
    var allowEmpty = false

    @Flag(help: "Write what was done as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    /// A third word is most likely a secret: it must not come back in a message.
    @Argument(help: .hidden)
    var surplus: [String] = []

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        guard surplus.isEmpty else {
            throw CommandFailure(
                .usage, "a secret is never given as an argument, where every process of the machine can read it",
                "Pipe it in, or leave it out and type it at the prompt: latchkey set SERVICE [ACCOUNT]")
        }
        let keychain = try CommandKeychain.open(store, in: surroundings)
        let secret = SharedSecret(try readSecret(from: surroundings.console))
        let outcome = try keychain.store(
            secret, kind: internet ? .internet : .generic, service: service, account: account ?? "", label: label)
        try report(outcome, keychain, surroundings.console)
        return .done
    }

    // MARK: The secret

    private func readSecret(from console: any Console) throws(CommandFailure) -> SecretBytes {
        let secret = console.inputIsTerminal ? try prompted(console) : try piped(console)
        guard allowEmpty || secret.count > 0 else {
            throw CommandFailure(
                .usage, "the secret is empty; nothing was stored", "Give a secret, or add --allow-empty to store none.")
        }
        return secret
    }

    private func prompted(_ console: any Console) throws(CommandFailure) -> SecretBytes {
        let name = account.map { "\(service)/\($0)" } ?? service
        do throws(Terminal.Refusal) {
            return try console.promptForSecret("Secret for \(PrintableText.escaped(name)): ")
        } catch {
            let again = "Try again, or pipe the secret into `latchkey set`."
            switch error {
            case .canceled: throw CommandFailure(.usage, "no secret was typed; nothing was stored", again)
            case .tooLong: throw CommandFailure(.usage, "a terminal takes no line that long; nothing was stored", again)
            case .system(let below): throw CommandFailure(.unavailable, "the terminal failed (\(below))", again)
            }
        }
    }

    private func piped(_ console: any Console) throws(CommandFailure) -> SecretBytes {
        let read: SecretBytes?
        do throws(SystemCallError) { read = try console.readSecret(atMost: WireLimit.value + 1) } catch {
            throw CommandFailure(
                .usage, "standard input cannot be read (\(error))", "Pipe the secret into `latchkey set`.")
        }
        guard var secret = read else { throw Self.tooLarge }
        if !raw { secret.dropOneNewline() }
        guard secret.count <= WireLimit.value else { throw Self.tooLarge }
        return secret
    }

    private static let tooLarge = CommandFailure(
        .usage, "the secret is longer than 64 MiB; nothing was stored",
        "Encrypt a file and keep only its key here.")

    // MARK: What is said

    private func report(
        _ outcome: CommandKeychain.StoreOutcome, _ keychain: CommandKeychain, _ console: any Console
    ) throws(CommandFailure) {
        if json {
            let kind: PasswordKind = internet ? .internet : .generic
            let line = JSONValue.object([
                ("service", .string(service)), ("account", .string(account ?? "")), ("kind", .string(kind.text)),
                ("replaced", .bool(outcome == .replaced)),
            ])
            try printing { () throws(SystemCallError) in try console.write("\(line.text)\n") }
        }
        guard console.errorIsTerminal else { return }
        switch outcome {
        case .replaced: console.note("Replaced the secret that was there.")
        case .added:
            console.note("Stored.")
            guard try keychain.list(service: nil).count == 1 else { return }
            console.note(try Protection(keychain.status(), keychain.session).sentence)
        }
    }
}

extension SecretBytes {
    /// Drops the newline that `echo` and editors put at the end.
    fileprivate mutating func dropOneNewline() {
        guard count > 0 else { return }
        let last = unsafe withUnsafeBytes { unsafe $0[$0.count - 1] }
        if last == UInt8(ascii: "\n") { truncate(to: count - 1) }
    }
}
