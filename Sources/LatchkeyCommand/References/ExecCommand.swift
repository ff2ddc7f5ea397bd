internal import ArgumentParser
internal import KeychainPlatform

struct ExecCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Run a command that gets secrets, and nobody else does.",
        usage: """
            latchkey exec [--env <name=reference>] [--fd <name=reference>] [--file <name=reference>] ... -- <command> [<argument> ...]
            """,
        discussion: """
            Looks up every secret first, and starts nothing where one is missing. Then it becomes the command: \
            its status and its signals are the command's own. No secret is ever an argument.

            --env puts the secret into the variable NAME. WHATEVER THE COMMAND STARTS HAS IT TOO, and every \
            process of yours can read it in /proc/PID/environ for as long as the command runs.

            --fd puts it into a sealed file in memory that has no name, and the descriptor's number into NAME: \
            the command reads it from there. --file puts the path of such a descriptor into NAME \
            (/proc/PID/fd/N, mode 0600), for a command that wants a file to open; it can be opened again and \
            again, by what the command starts as well, for as long as the command has it, but not in a process \
            namespace of its own (--fd works there). A command that closes what it inherits before it opens the \
            file (ssh) has to be started by a shell that waits: sh -c 'ssh -i "$KEY" box; exit'. Who inherits \
            the descriptor can read it, and every process of yours that looks into /proc/PID/fd.

            \(ReferenceHelp.text)

            EXAMPLES
              latchkey exec --env GITHUB_TOKEN=github.com/alice -- gh release list
              latchkey exec --env PGPASSWORD=db/app -- psql -h db app
              latchkey exec --file KEY=deploy-key -- \\
                sh -c 'openssl dgst -sign "$KEY" release.tar'
              latchkey exec --fd PW=mail/alice -- sh -c 'msmtp-login "$PW"'

            The status is the command's own, 127 where it was not found and 126 where it could not be started; \
            before that, those of `latchkey`. It leaves no core dump (RLIMIT_CORE is 0).

            \(GroupOption.help)
            """)

    @Option(name: .customLong("env"), help: ArgumentHelp("The secret as a variable.", valueName: "name=reference"))
    var variables: [String] = []

    @Option(
        name: .customLong("fd"),
        help: ArgumentHelp("The number of a descriptor to read it from.", valueName: "name=reference"))
    var descriptors: [String] = []

    @Option(name: .customLong("file"), help: ArgumentHelp("The path of a file to open.", valueName: "name=reference"))
    var files: [String] = []

    @OptionGroup var place: GroupOption

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    @OptionGroup var store: StoreOptions

    mutating func validate() throws {
        if command.isEmpty {
            throw ValidationError("Give the command after --: latchkey exec --env NAME=SERVICE/ACCOUNT -- COMMAND")
        }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let wishes = try SecretWish.all([(.variable, variables), (.descriptor, descriptors), (.file, files)])
        guard !wishes.isEmpty else {
            throw CommandFailure(
                .usage, "no secret is named for the command",
                "Add --env NAME=SERVICE/ACCOUNT, or run it without latchkey.")
        }
        try surroundings.requireKeychain(store.dataDirectory)
        let keychain = try CommandKeychain.open(store, reach: place.reach, in: surroundings)
        var bindings: [CommandWithSecrets.Binding] = []
        for wish in wishes { bindings.append(try wish.binding(in: keychain, surroundings)) }
        do throws(SystemCallError) { try CommandWithSecrets(bindings).become(command) } catch {
            throw .notStarted(command, error)
        }
    }
}

/// A secret that a command is to get, and how.
struct SecretWish {
    let name: String
    let way: CommandWithSecrets.Way
    let reference: SecretReference

    /// NAME=REFERENCE, of every option; no name is there twice.
    static func all(
        _ given: [(CommandWithSecrets.Way, [String])]
    ) throws(CommandFailure) -> [SecretWish] {
        var wishes: [SecretWish] = []
        for (way, texts) in given {
            for text in texts {
                let wish = try SecretWish(text, way)
                guard !wishes.contains(where: { $0.name == wish.name }) else {
                    throw CommandFailure(
                        .usage, "the variable \(wish.name) is named twice", "Give each secret a name of its own.")
                }
                wishes.append(wish)
            }
        }
        return wishes
    }

    private init(_ text: String, _ way: CommandWithSecrets.Way) throws(CommandFailure) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isName(parts[0]) else {
            throw CommandFailure(
                .usage, "\(PrintableText.escaped(text)) is no NAME=SERVICE/ACCOUNT",
                "A name has letters, digits and _, and begins with no digit.")
        }
        name = String(parts[0])
        self.way = way
        reference = try SecretReference.read(String(parts[1]))
    }

    /// IEEE Std 1003.1, section 8.1, and small letters.
    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, !(48...57).contains(first) else { return false }
        return text.utf8.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == UInt8(ascii: "_")
        }
    }

    func binding(
        in keychain: CommandKeychain, _ surroundings: Surroundings
    ) throws(CommandFailure) -> CommandWithSecrets.Binding {
        let secret = try reference.secret(in: keychain, surroundings)
        guard way != .variable || secret.bytes.count(of: 0, in: 0..<secret.bytes.count) == 0 else {
            throw CommandFailure(
                .usage, "the secret for \(name) has a byte 0, which no variable can have; nothing was started",
                "Use --fd or --file for it.")
        }
        return CommandWithSecrets.Binding(name: name, way: way, secret: secret)
    }
}
