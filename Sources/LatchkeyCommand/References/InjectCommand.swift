internal import ArgumentParser
internal import KeychainPlatform
internal import KeychainProtocol

struct InjectCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "inject",
        abstract: "Fill the secrets into a template.",
        discussion: """
            Reads a text and writes it with each {{ latchkey://SERVICE/ACCOUNT }} replaced by the secret. Where one \
            is missing, or is no reference, its line is said and nothing is written. Other braces stay as they are; \
            {{ latchkey:{{ }} stands for two of them.

            \(ReferenceHelp.text)

            --out writes a file of mode 0600, which comes into being whole, in place of the one that is there. \
            WHAT IS WRITTEN HAS THE SECRETS IN THE CLEAR: better a pipe than a file, and better `latchkey exec` \
            than either.

            EXAMPLES
              latchkey inject --in app.conf.in | app --config /dev/stdin
              latchkey inject --in app.conf.in --out "$XDG_RUNTIME_DIR/app.conf"

            \(GroupOption.help)

            --json, with --out, writes {"file", "secrets"}.
            """)

    @Option(
        name: .customLong("in"), help: ArgumentHelp("Read this file in place of standard input.", valueName: "file"))
    var input: String?

    @Option(
        name: .customLong("out"), help: ArgumentHelp("Write this file in place of standard output.", valueName: "file"))
    var output: String?

    @OptionGroup var place: GroupOption

    @Flag(help: "Write what was done as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    /// A template is written by people.
    private static let longest = 16 << 20

    mutating func validate() throws {
        // As with `import` and `export`, a hyphen is the stream.
        if output == "-" { output = nil }
        if input == "-" { input = nil }
        if json, output == nil {
            throw ValidationError("--json and the text cannot both go to standard output: add --out.")
        }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let target = output.map(surroundings.absolute)
        if let target { try WriteTarget(target, store.dataDirectory, in: surroundings).check(.fileAlone) }
        let template = try template(surroundings)
        try surroundings.requireKeychain(store.dataDirectory)
        let keychain = try CommandKeychain.open(store, reach: place.reach, in: surroundings)
        // Each once, however often it is named: the file has one value of it. By its bytes, as the
        // keychain has names: texts that look alike are two items.
        var known: [[UInt8]: SharedSecret] = [:]
        var secrets: [SharedSecret] = []
        for reference in template.references {
            let secret: SharedSecret
            let name = Array(reference.text.utf8)
            if let read = known[name] { secret = read } else {
                secret = try reference.secret(in: keychain, surroundings)
                known[name] = secret
            }
            secrets.append(secret)
        }
        let whole = template.filled(with: secrets)
        guard let target else {
            try printing { () throws(SystemCallError) in try surroundings.console.write(whole) }
            return .done
        }
        try Self.write(whole, to: target)
        if json {
            let line = JSONValue.object([("file", .string(target)), ("secrets", .integer(Int64(secrets.count)))])
            try printing { () throws(SystemCallError) in try surroundings.console.write("\(line.text)\n") }
        }
        return .done
    }

    private func template(_ surroundings: Surroundings) throws(CommandFailure) -> SecretTemplate {
        let text = try text(surroundings)
        do throws(SecretTemplate.Flaw) { return try SecretTemplate(text) } catch {
            throw CommandFailure(
                .usage, "line \(error.line) of the template: \(error.explanation); nothing was written",
                "Write {{ latchkey://SERVICE/ACCOUNT }}, or {{ latchkey:{{ }} for two braces.")
        }
    }

    private func text(_ surroundings: Surroundings) throws(CommandFailure) -> SharedSecret {
        let named: NamedSource
        do throws(SystemCallError) {
            if let input {
                named = try NamedSource.read(surroundings.absolute(input), atMost: Self.longest)
            } else if let text = try surroundings.console.readSecret(atMost: Self.longest) {
                named = .file(text)
            } else {
                named = .folder
            }
        } catch {
            throw CommandFailure(
                .usage, "the template cannot be read (\(error)); nothing was written",
                "Name a file that you may read, or pipe it in.")
        }
        switch consume named {
        case .file(let content): return SharedSecret(content)
        case .folder:
            throw CommandFailure(
                .usage, "the template is a folder or longer than 16 MiB; nothing was written", "Name a file.")
        }
    }

    private static func write(_ whole: borrowing SecretBytes, to path: String) throws(CommandFailure) {
        do throws(SystemCallError) {
            let file = try UnnamedFile(path)
            defer { file.discard() }
            try file.write(whole)
            try file.publish(replacing: true)
        } catch {
            throw CommandFailure(
                .unavailable,
                "\(PrintableText.escaped(path)) cannot be written (\(error)); what was there is as it was",
                "Name a file in a folder that is yours.")
        }
    }
}
