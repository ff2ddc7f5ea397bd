internal import ArgumentParser

struct ReadCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Write the secret that a reference means.",
        discussion: """
            \(ReferenceHelp.text)

            As `latchkey get`: the secret is written byte by byte, and only on a terminal a newline follows, \
            which -n leaves out. Where several items match nothing is written.

            EXAMPLES
              latchkey read latchkey://mail/alice
              latchkey read 'latchkey://mail/alice?attribute=otp'
              latchkey read git%3Ahttps%3A%2F%2Fgit.example/alice

            \(ReachOptions.help)

            --json writes what `latchkey get --json` writes.
            """)

    @Argument(help: "latchkey://SERVICE/ACCOUNT")
    var reference: String

    @Flag(name: [.customShort("n"), .customLong("no-newline")], help: "Write no newline on a terminal.")
    var isBare = false

    @OptionGroup var place: ReachOptions

    @Flag(help: "Write the item with its attributes as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        let reference = try SecretReference.read(reference)
        let lookup = SecretLookup(
            name: reference.name, reach: place.reach, oneTime: reference.attribute == .otp, json: json, isBare: isBare,
            dataDirectory: store.dataDirectory, choosing: .reference)
        return try lookup.perform(in: surroundings)
    }
}

enum ReferenceHelp {
    static let text = """
        A reference is SERVICE/ACCOUNT, or SERVICE where there is one account, with or without latchkey:// in front. \
        In a name a slash is %2F, a percent sign %25, a question mark %3F and a number sign %23. \
        ?kind=internet or ?kind=generic says which kind of item; ?port=8443, path=…, protocol=https and label=… choose \
        among items of one name and account, with & between two; ?attribute=otp means the one-time code of the moment.
        """
}
