internal import ArgumentParser

struct ExportCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the items of the command line into one encrypted file.",
        discussion: """
            The file holds every generic and internet password of the group "latchkey", with all attributes, \
            under a passphrase that is typed twice. `latchkey import` reads it back. WITHOUT THE PASSPHRASE \
            NOBODY OPENS IT, you included.

            --insecure-plaintext writes the same without any encryption, mode 0600, after a question; --yes \
            stands for the answer where nobody can be asked. A terminal is refused as the target.

            FILE may be - for standard output.

            EXAMPLES
              latchkey export passwords.lkx
              latchkey export --passphrase-fd 3 passwords.lkx 3< <(pass show export)

            --json writes {"file", "items", "encrypted"}.
            """)

    @Argument(help: "Where to write.")
    var file: String

    @Flag(name: .customLong("insecure-plaintext"), help: "Write every secret in the clear.")
    var insecurePlaintext = false

    @Flag(help: "With --insecure-plaintext: write without asking.")
    var yes = false

    @Option(
        name: .customLong("passphrase-fd"),
        help: ArgumentHelp("Read the passphrase from this descriptor, its first line.", valueName: "n"))
    var passphraseDescriptor: Int32?

    @Flag(help: "Replace the file if it is there.")
    var replace = false

    @Flag(help: "Write what was done as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    mutating func validate() throws {
        if insecurePlaintext, passphraseDescriptor != nil {
            throw ValidationError("A file in the clear has no passphrase: leave out one of the two options.")
        }
        if yes, !insecurePlaintext { throw ValidationError("--yes goes with --insecure-plaintext.") }
        if json, file == "-" { throw ValidationError("--json and the export cannot both go to standard output.") }
    }

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        try surroundings.transfer.perform(
            ExportJob(
                target: file, protection: insecurePlaintext ? .insecurePlaintext(confirmed: yes) : .passphrase,
                passphraseDescriptor: passphraseDescriptor, replacesFile: replace, json: json,
                dataDirectory: store.dataDirectory),
            in: surroundings)
    }
}
