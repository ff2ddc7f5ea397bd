internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct SetCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Store a secret, or replace the one that is there.",
        usage: """
            latchkey set <service> [<account>] [--label <label>] [--internet] [--raw] [--allow-empty] [--group <group>]
                   latchkey set <service> [<account>] --generate[=apple|words|<length>] [--show] [--label <label>]
            """,
        discussion: """
            The secret is typed at a prompt that does not show it or, where standard input is not a \
            terminal, read from there up to the end. One newline at the end is dropped, so that \
            `echo pw | latchkey set mail` and `printf pw | latchkey set mail` store the same; \
            --raw keeps every byte. Any bytes can be stored, up to 64 MiB. Empty input is refused, \
            because it mostly comes from a command before the pipe that failed; --allow-empty stores it.

            Without an account the account is empty. An item is one service and one account: \
            `set` again replaces its secret and leaves its other attributes alone; on a terminal it says \
            what it replaces.

            With --internet <service> is a server: example.com, example.com:8443, [::1]:8443 or \
            https://example.com:8443/path. Where nothing but its name is said, the one item of yours that there is \
            for that server and account is replaced, whatever its protocol, port and path; where there are several, \
            which one has to be said. What git or docker stored for themselves stays beside it.

            --generate stores a new random secret and shows it only with --show. "apple" (the usual): \
            three groups of six letters and digits, as Apple proposes them, 88 bits. "words": six \
            pronounceable words of five letters, 96 bits. A number from 8 to 1024: so many letters and \
            digits, 5.9 bits each; 22 hold 130 bits. The randomness is the kernel's.

            EXAMPLES
              latchkey set mail alice
              latchkey set mail alice --generate=24 --show
              latchkey set --internet https://git.example.com:8443 alice
              pwgen -s 32 1 | latchkey set mail alice --label "Mail at work"
              latchkey set --raw backup-key < key.bin

            \(GroupOption.help)

            --json writes {"service", "account", "kind", "replaced"}.
            """)

    @Argument(help: "What the secret is for: a name of your choice or, with --internet, a server.")
    var service: String

    @Argument(help: "Whose it is there; without one the account is empty.")
    var account: String?

    @Option(help: "A title for people.")
    var label: String?

    @OptionGroup var place: GroupOption

    @Flag(help: "Store an internet password; <service> is its server.")
    var internet = false

    @Flag(help: "Keep every byte of standard input, also a newline at the end.")
    var raw = false

    @Flag(name: .customLong("allow-empty"), help: "Store an empty secret.")
    var allowEmpty = false

    @Option(
        help: ArgumentHelp("Store a new random secret; a length is 8 to 1024.", valueName: "apple|words|length"))
    var generate: GeneratedSecret?

    @Flag(help: "Write what --generate made to standard output.")
    var show = false

    @Flag(help: "Write what was done as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    /// A third word is most likely a secret: it must not come back in a message.
    @Argument(help: .hidden)
    var surplus: [String] = []

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        guard surplus.isEmpty else { throw .secretAsArgument("latchkey set SERVICE [ACCOUNT]") }
        let console = surroundings.console
        try checkGeneration(console)
        let server = internet ? try InternetAddress.read(service) : nil
        let keychain = try CommandKeychain.open(store, reach: place.reach, in: surroundings)
        let storing = SecretStoring(
            kind: internet ? .internet : .generic, service: server?.host ?? service, account: account ?? "",
            attributes: label.map { [(.label, .string($0))] } ?? [], json: json, server: server)
        try storing.announce(in: keychain, console)
        let secret = SharedSecret(try secret(storing, console))
        try storing.store(secret, in: keychain, console)
        if show { try show(secret, console) }
        return .done
    }

    private func show(_ secret: SharedSecret, _ console: any Console) throws(CommandFailure) {
        do throws(SystemCallError) {
            try console.write(secret.bytes)
            if console.outputIsTerminal { try console.write("\n") }
        } catch {
            throw CommandFailure(
                .unavailable, "the new secret is stored and could not be written (\(error))",
                "It is no fault to be tried again, which would make another: `latchkey get` writes this one.")
        }
    }

    private func secret(_ storing: SecretStoring, _ console: any Console) throws(CommandFailure) -> SecretBytes {
        if let generate {
            var random = KernelRandom()
            return generate.make(using: &random)
        }
        let input = SecretInput(console: console, raw: raw, allowEmpty: allowEmpty, command: "latchkey set")
        return try input.line(prompt: "Secret for \(storing.displayName): ")
    }

    private func checkGeneration(_ console: any Console) throws(CommandFailure) {
        guard generate != nil else {
            guard !show else {
                throw CommandFailure(.usage, "--show shows only what --generate made", "Add --generate, or use `get`.")
            }
            return
        }
        guard !raw, !allowEmpty, !(show && json) else {
            throw CommandFailure(
                .usage, "--generate takes neither --raw nor --allow-empty, and --show writes no JSON",
                "Leave one of them out.")
        }
        // A pipe that nobody writes into is what ssh, docker and many a program hand to what they start.
        guard !console.inputHoldsBytes else {
            throw CommandFailure(
                .usage, "standard input has a secret and --generate makes another; nothing was stored",
                "Leave out --generate, or give it no input: latchkey set … --generate </dev/null")
        }
    }
}
