internal import ArgumentParser

struct ExportCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the items of the command line, or of other programs, into one encrypted file.",
        discussion: """
            The file holds every generic and internet password of the group "latchkey", or of --group, or with \
            --all of every group, with all attributes, under a passphrase that is typed twice. `latchkey import` \
            reads it back, all into the group "latchkey". WITHOUT THE PASSPHRASE NOBODY OPENS IT, you included.

            With a passcode an export always needs a person who agrees, in the terminal; an \
            agreement counts for five minutes in the same terminal session, until the keychain is locked.

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

    @OptionGroup var place: ReachOptions

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
        try surroundings.requireKeychain(store.dataDirectory)
        return try surroundings.transfer.perform(
            ExportJob(
                target: file, reach: place.reach,
                protection: insecurePlaintext ? .insecurePlaintext(confirmed: yes) : .passphrase,
                passphraseDescriptor: passphraseDescriptor, replacesFile: replace, json: json,
                dataDirectory: store.dataDirectory),
            in: surroundings)
    }
}
