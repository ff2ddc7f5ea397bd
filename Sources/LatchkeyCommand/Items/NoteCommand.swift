internal import ArgumentParser
internal import KeychainModel
internal import KeychainPlatform
internal import KeychainProtocol

struct NoteCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "note",
        abstract: "Store a secret text of several lines, or replace the one that is there.",
        usage: "latchkey note <name> [--account <account>] [--label <label>] [--raw] [--allow-empty] [--group <group>]",
        discussion: """
            The text is read from standard input or, on a terminal, typed line by line, without being \
            shown, up to Ctrl-D at the beginning of a line. No editor is started and no file is made. \
            One newline at the end is dropped; --raw keeps it. `latchkey get NAME` reads the note, \
            `latchkey rm NAME` removes it.

            A note is a generic password whose kSecAttrType is "note". An item of that name that is no \
            note is not replaced.

            EXAMPLES
              latchkey note recovery-codes < codes.txt
              latchkey get recovery-codes

            \(GroupOption.help)

            --json writes {"service", "account", "kind", "replaced"}.
            """)

    @Argument(help: "What the note is called.")
    var name: String

    @Option(help: "Keep it beside the login of this account.")
    var account: String?

    @Option(help: "A title for people.")
    var label: String?

    @OptionGroup var place: GroupOption

    @Flag(help: "Keep every byte of standard input, also a newline at the end.")
    var raw = false

    @Flag(name: .customLong("allow-empty"), help: "Store an empty note.")
    var allowEmpty = false

    @Flag(help: "Write what was done as JSON.")
    var json = false

    @OptionGroup var store: StoreOptions

    /// A second word is most likely the text: it must not come back in a message.
    @Argument(help: .hidden)
    var surplus: [String] = []

    func perform(in surroundings: Surroundings) throws(CommandFailure) -> ExitStatus {
        guard surplus.isEmpty else { throw .secretAsArgument("latchkey note NAME") }
        let console = surroundings.console
        let keychain = try CommandKeychain.open(store, reach: place.reach, in: surroundings)
        let storing = SecretStoring(
            kind: .generic, service: name, account: account ?? "",
            attributes: [(.type, .integer(Self.type))] + (label.map { [(.label, .string($0))] } ?? []), json: json)
        if let before = try storing.existing(in: keychain), before[.type] != .integer(Self.type) {
            throw CommandFailure(
                .usage, "an item of that name is there and is no note; nothing was stored",
                "Choose another name, or replace its secret with `latchkey set`.")
        }
        try storing.announce(in: keychain, console)
        let input = SecretInput(console: console, raw: raw, allowEmpty: allowEmpty, command: "latchkey note")
        let text = try input.lines(
            prompt: "Note \(storing.displayName); what you type is not shown, Ctrl-D ends:\n> ")
        try storing.store(SharedSecret(text), in: keychain, console)
        return .done
    }

    /// 'note' as a four-character code (decisions.md, "Command line").
    private static let type = Int64(("note" as AttributeCode).rawValue)
}
